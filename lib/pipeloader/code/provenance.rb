# frozen_string_literal: true

module Pipeloader
  # True if a method is a host's (ActiveRecord's; graphql-ruby's, once that is loaded) or Ruby's own, and not somebody's whose
  # code we can't see through: told by the file that defines it, as anyone may open their modules.
  module Provenance
    # What an association that leads to several records is asked as.
    ASSOCIATIONS = [ActiveRecord::AssociationRelation, ActiveRecord::Associations::CollectionProxy].freeze
    RUBY = [Class, Module, Object, Kernel, BasicObject, Enumerable].freeze

    PATCHES = "#{File.expand_path("../patches", __dir__)}/".freeze

    # Where Ruby's own methods are, those that aren't written in C.
    CORE = ["<internal:", "#{RbConfig::CONFIG["rubylibdir"]}/"].freeze
    LIBRARIES = [RbConfig::CONFIG["rubylibdir"], RbConfig::CONFIG["rubyarchdir"]].map { |folder| "#{folder}/" }.freeze
    # Gems that write clauses of a relation's own into its SQL, and look at nothing else.
    SPELLING = %w[clickhouse-activerecord active_record_extended].freeze
    # Gems that were Ruby's own libraries, or are these in a newer version.
    FORMER = %w[cgi base64 uri].freeze
    private_constant :ASSOCIATIONS, :RUBY, :PATCHES, :CORE, :LIBRARIES, :SPELLING, :FORMER

    @folders = {} # {ActiveRecord => ["…/lib/active_record/", "…/lib/active_record.rb"]}

    class << self
      # Takes note of a host, which has its VERSION in a file of its own folder, beside which is one of the folder's name.
      #
      #: (Module) -> void
      def know(gem)
        folder = File.dirname(gem.const_source_location(:VERSION).first)
        @folders = { **@folders, gem => ["#{folder}/", "#{folder}.rb"] }.freeze
      end

      # True if it is defined by Object, or the like: by Ruby, and seldom by others.
      #
      #: (Method | UnboundMethod) -> bool
      def ruby?(method) = RUBY.include?(method.owner)

      # True if the file at +path+ is one of the +gem+'s: GraphQL, ActiveRecord …
      #
      #: (Module, String) -> bool
      def file_of?(gem, path) = path.start_with?(*@folders.fetch(gem))

      # True if a class's instances are made by no code but Ruby's, and what `initialize` does.
      #
      #: (Class) -> bool
      def ruby_makes?(type) = %i[new allocate].all? { |name| type.method(name).owner.equal?(Class) }

      #: (Method | UnboundMethod) -> bool
      def active_record?(method) = ruby?(method) || in?(method, ActiveRecord) || in?(method, ActiveModel)

      # True if the constant +name+ of a module is defined by one of these gems, in a module of its own.
      def frameworks?(home, name)
        file, = Module.instance_method(:const_source_location).bind_call(home, name, false)
        !home.equal?(Object) && @folders.each_value.any? { |places| file.to_s.start_with?(*places) }
      end

      # True if ActiveRecord has generated the method for an attribute of the +model+'s.
      #
      #: (singleton(ActiveRecord::Base), Symbol) -> bool
      def attributes?(model, name) = model.public_method_defined?(name) && generated?(model.instance_method(name))

      # True if ActiveRecord has generated a method for an attribute of its model's.
      #
      #: (UnboundMethod?) -> bool
      def generated?(method)
        method&.owner.is_a?(ActiveRecord::AttributeMethods::GeneratedAttributeMethods) && active_record?(method)
      end

      # True if a method of that name may have been generated for another attribute: beside a column `price`, `price_was` isn't
      # what the column of that name has.
      #
      #: (singleton(ActiveRecord::Base), String) -> bool
      def of_another_attribute?(model, name)
        others = model.attribute_method_patterns.filter_map { |pattern| pattern.match(name)&.attr_name } - [name]
        others.any? { |other| model.attribute_types.key?(other) || model.attribute_aliases.key?(other) }
      end

      # @param model [Class] of records
      # @return [Array<Class>] of the relations and proxies that an association to it gives
      def association_types(model) = ASSOCIATIONS.map { |host| model.relation_delegate_class(host) }

      # @return [Array<Class>] the same, and those of the model's own
      def relation_types(model) = [model.relation_delegate_class(ActiveRecord::Relation), *association_types(model)]

      # True if ActiveRecord's methods of these +names+ run as they are, of each of the +types+.
      def active_record_alone_in?(types, names)
        types.product(names).all? { |type, name| active_record_alone?(type.instance_method(name)) }
      end

      # True if a public method of a +model+'s is the one of all of its heirs.
      def heirs_have?(model, name)
        model.public_method_defined?(name) &&
          [model, *model.descendants].map { |it| it.instance_method(name).owner if it.method_defined?(name) }.uniq.size == 1
      end

      # True if ActiveRecord's method runs as it is: nothing but it, and our patches, is run by calling +method+.
      #
      #: (Method | UnboundMethod) -> bool
      def active_record_alone?(method) = alone?(method) { |it| active_record?(it) }

      # True if a method makes SQL of what a relation says, and of nothing else.
      #
      #: (Method | UnboundMethod) -> bool
      def spells?(method)
        alone?(method) { |it| active_record?(it) || of_gems?(SPELLING, it) }
      end

      # The same of ActiveSupport's.
      #
      #: (Method | UnboundMethod) -> bool
      def active_support_alone?(method) = alone?(method) { |it| ruby?(it) || in?(it, ActiveSupport) }

      # The same of the gem's that has the locale.
      #
      #: (Method | UnboundMethod) -> bool
      def i18n_alone?(method) = alone?(method) { |it| in?(it, I18n) }

      # True if a gem that may not be there is, by the name of its module.
      #
      #: (Symbol) -> bool
      def rubygem?(name) = folder(name) != nil

      # True if such a gem defines it.
      #
      #: (Symbol, Method | UnboundMethod) -> bool
      def of_gem?(name, method) = (folder = folder(name)) ? method.source_location&.first.to_s.start_with?(*folder) : false

      # The same as of ActiveRecord's.
      #
      #: (Symbol, Method | UnboundMethod) -> bool
      def gem_alone?(name, method) = alone?(method) { |it| ruby?(it) || of_gem?(name, it) }

      # True if a method of a class of Ruby's is as Ruby has it, or ActiveSupport.
      #
      #: (UnboundMethod) -> bool
      def core_alone?(method)
        alone?(method) { |it| it.source_location.nil? || it.source_location.first.start_with?(*CORE) || in?(it, ActiveSupport) }
      end

      # The same of one in a library of Ruby's that may be a gem by now.
      #
      #: (Method | UnboundMethod) -> bool
      def library_alone?(method)
        alone?(method) { |it| it.source_location.nil? || it.source_location.first.start_with?(*CORE) || of_gems?(FORMER, it) }
      end

      # True if a +block+ is in the code of a library that comes with Ruby, or of a host's: these call nothing of others'.
      #
      #: (Proc?) -> bool
      def of_library?(block) = block&.source_location&.first.to_s.start_with?(*LIBRARIES, *@folders.values.flatten)

      # Ruby's own top-level constant of that name, if this Ruby has it loaded. An application's is no answer.
      #
      #: (Symbol) -> Module?
      def rubys(name)
        return if Object.autoload?(name) || !Object.const_defined?(name, false)

        file, = Object.const_source_location(name) # nothing, if it's written in C
        Object.const_get(name, false) if file.nil? || file.start_with?(*LIBRARIES)
      end

      private

      def alone?(method)
        while method
          return false unless yield(method) || method.source_location&.first.to_s.start_with?(PATCHES)

          method = method.super_method
        end
        true
      end

      # True if one of these gems defines it, by their names.
      def of_gems?(names, method)
        folders = Gem.loaded_specs.values_at(*names).compact.map { |it| "#{it.full_gem_path}/" }
        method.source_location&.first.to_s.start_with?(*folders)
      end

      # @return [Array<String>, nil] as those of hosts, of one that may be loaded later
      def folder(name)
        host = name.to_s.split("::").inject(Object) do |outer, part|
          next nil if outer.nil? || outer.autoload?(part) || !outer.const_defined?(part, false)

          outer.const_get(part, false)
        end
        file, = host.const_source_location(:VERSION, false) if host.instance_of?(Module)
        return unless file

        folder = File.dirname(file)
        ["#{folder}/", "#{folder}.rb", "#{File.dirname(folder)}/.rbnext/"] # what ruby-next has rewritten for older Rubies
      end

      def in?(method, gem) = file_of?(gem, method.source_location&.first.to_s)
    end

    [ActiveRecord, ActiveModel, ActiveSupport, I18n].each { |gem| know(gem) }
  end
end

# frozen_string_literal: true

module Pipeloader
  # A method that does nothing but to work something out from columns: a resolver method, or one of the model's.
  #
  #     def heading = "#{object.title.strip} (#{object.year})"
  #     def signature = object.author&.name || "nobody"
  #
  # It reads no more than these, changes nothing, and what it returns depends on nothing else: so it may be given an object that
  # has just these columns, at any time, and again. Told by the instructions that Ruby has compiled it to: besides readers of
  # the record it calls only KnownMethods.
  class Formula
    # Behind these an association may not be asked for, and what doesn't ask isn't read in vain.
    BRANCHES = %i[branchif branchunless opt_case_dispatch].freeze
    # Asked of an associated record where it is tested whether there is one.
    TESTED = :!
    NOTHING = {}.freeze
    private_constant :NOTHING, :BRANCHES

    class << self
      # @param type [Class] object type
      # @param name [Symbol] of a resolver method of its own
      # @yield [Symbol] a method of the record's
      # @yieldreturn [Symbol, nil] as PlainModel#leads: whether that is an association of which it may ask something
      # @return [Formula, nil] nil if it is none
      def of_type(type, name, &association)
        return unless type.public_method_defined?(name) && Provenance.graphql?(type.instance_method(:object))

        method = type.instance_method(name)
        found = (calls = OwnCalls.new(type)).of(method) or return
        made = make(OfType, type, method, [*found.values, *calls.bodies.values], Bytecode.of(method).keywords, association)
        made&.calling(found.keys, calls)
      end

      # @param type [Class] object type that has an `authorized?` of its own
      # @param model [Class, nil] of the records that its objects stand for
      # @return [Formula, nil] as #of_type: what that returns of a record
      def of_guard(type, model = nil)
        guard = Guard.new(type, model)
        bodies = guard.bodies&.map { |steps| ContextValue.fold(steps, type) } or return
        formula = make(OfGuard, type, type.method(:authorized?), bodies)&.resting_on(guard)
        formula unless formula&.further&.any? && bodies.any? { |steps| steps.any? { |name, _| BRANCHES.include?(name) } }
      end

      # @param type [Class] scalar or enum that has a `coerce_result` of its own
      # @return [Formula, nil] as #of_type: what that makes of a value
      def of_scalar(type)
        host, method = type.singleton_class, type.method(:coerce_result)
        own = host.instance_method(:coerce_result)
        return unless host.public_method_defined?(:coerce_result) && method.arity == 2 && Bytecode.of(own, %i[req])&.leaves?(1)

        found = (calls = OwnCalls.new(host, type)).of(own, %i[req]) or return
        formula = make(OfScalar, host, method, [*found.values, *calls.bodies.values])&.calling(found.keys, calls)
        formula if formula && formula.asked.empty? && formula.contexts.empty?
      end

      # @param bodies [Array<Array>] of FieldGuard
      # @return [Array<ContextValue>, nil] what they ask of the context; nil where they do anything else than to compute
      def contexts_of(bodies)
        bodies = bodies.map { |steps| ContextValue.fold(steps, GraphQL::Schema::Object) }
        formula = make(OfType, nil, nil, bodies)
        formula.contexts if formula&.asked&.empty?
      end

      # @param model [Class] of records
      # @param name [Symbol] of a method of theirs
      # @param association [Proc] as the block of #of_type
      # @yield [Symbol] a reader of theirs
      # @yieldreturn [String, nil] the column that it reads
      # @return [Formula, nil] as #of_type
      def of_model(model, name, association, &column)
        return unless Provenance.heirs_have?(model, name) && Provenance.active_record?(model.method(:allocate))
        return unless Provenance.active_record_alone_in?([model, *model.descendants], %i[respond_to?])

        method = model.instance_method(name)
        found = (calls = OwnCalls.new(model)).of(method) or return
        formula = make(OfModel, model, method, [*found.values, *calls.bodies.values], Bytecode.of(method).keywords, association)
        formula = formula&.calling(found.keys, calls) or return
        columns = formula.readers.map(&column)
        formula.of_columns(columns.uniq) unless columns.include?(nil)
      end

      private

      # @param bodies [Array<Array>] the steps of the +method+, and of others that it runs
      # @return [Formula, nil] of that +kind+
      def make(kind, host, method, bodies, parameters = NOTHING, association = nil)
        contexts = bodies.flat_map { |steps| ContextValue.all(steps) }
        asked = AskedOfRecord.new(context: kind.of_context?, association: association)
        return unless bodies.all? { |steps| asked.take(steps) }

        return if asked.record_itself?
        names = [*asked.names, *contexts.flat_map(&:calls).map(&:name)]
        return if names.any? { |name| KnownMethods.refined?(name) } || !bodies.all? { |steps| KnownMethods.alone_in?(steps) }

        kind.new(host, method, asked.paths, parameters, contexts, asked.chains, asked.tested)
      end
    end

    # True if its code has `object` and `context`.
    def self.of_context? = true

    # @return [Array<Symbol, String>] what it calls of the record, where that is all, or the columns that it reads
    attr_reader :readers

    # @return [Hash{Symbol => Hash}] what it calls of associated records: {author: {name: {}, boss: {name: {}}}}
    attr_reader :further

    # @return [Hash{Symbol => Object}] as Chain's
    attr_reader :parameters

    # @return [Array<ContextValue>] what it asks of the context
    attr_reader :contexts

    # @return [Hash{Symbol => Array<Chain>}] what it asks of associations
    attr_reader :chains

    alias inspect to_s

    # @param paths [Array<Array<Symbol>>] the reader, and what is called of what that returns
    # @param tested [Array<Symbol>] associations of which it asks whether there is a record
    def initialize(host, method, paths, parameters, contexts, chains = [], tested = [])
      @host = host
      @method = method
      @readers, @further = AskedOfRecord.split(paths, tested.to_h { |name| [name, { TESTED => {} }] })
      @parameters = parameters
      @contexts = contexts
      @chains = chains.group_by(&:reader)
      @methods = @rests_on = @bodies = []
    end

    # @param methods [Array<UnboundMethod>] its own, and those that this calls
    # @param calls [OwnCalls] of these
    # @return [Formula, nil] itself; nil where somebody refines one
    def calling(methods, calls)
      @methods = methods
      @rests_on = calls.captured + calls.rests_on
      @bodies = calls.bodies.values
      self unless methods.any? { |method| KnownMethods.refined?(method.name) }
    end

    # True if its code makes Hashes.
    def makes_hashes?
      steps = @methods.flat_map { |it| Bytecode.of(it, %i[key keyreq req])&.steps.to_a } + @bodies.flatten(1)
      steps.any? { |name, _| %i[newhash duphash].include?(name) }
    end

    # True if its method calls others.
    def helped? = @methods.many? || @rests_on.any?

    # True if one of its methods isn't as it was, what is around it, or what it calls of others.
    def over?
      @rests_on.any?(&:over?) || @methods.any? { |method| @host.instance_method(method.name) != method }
    rescue NameError # there is none
      true
    end

    # @return [Array<Symbol>] what it calls of the record
    def asked = [*@readers, *@further.keys, *@chains.keys]

    # True if it asks nothing but columns of the record.
    def alone? = @further.empty? && @chains.empty?

    # @param values [Array] what the readers would return, for each association that leads to one record a Struct of that, or nil,
    #   and for each other one a Told
    # @param context [GraphQL::Query::Context, nil] that was checked
    # @param arguments [Hash{Symbol => Object}] of the method
    # @return what the method returns
    # @raise [DoesNotFit] if it raises anything
    def call(values, context = nil, arguments = NOTHING)
      work_out(values, arguments, context)
    rescue StandardError => e
      raise DoesNotFit.verdict(e) { work_out(values, arguments, context) }
    end

    private

    def work_out(values, arguments, context) = @method.bind_call(receiver(values, context), **arguments)

    # A resolver method.
    class OfType < Formula
      def initialize(*)
        super
        @record = Struct.new(*asked) if asked.any?
      end

      private

      def receiver(values, context)
        object = @host.allocate
        object.instance_variable_set(:@object, @record&.new(*values))
        object.instance_variable_set(:@context, context)
        object
      end
    end

    # A type's `authorized?`.
    class OfGuard < OfType
      # @param guard [Guard] that has found its policies, which may be others by now, or work otherwise
      # @return [OfGuard] itself
      def resting_on(guard)
        @rests_on = guard.rests_on
        @record = guard.pundit.record(asked) if guard.pundit
        self
      end

      private

      def work_out(values, _arguments, context) = @method.call(@record&.new(*values), context)
    end

    # A scalar's `coerce_result`.
    class OfScalar < Formula
      private

      def work_out(value, _arguments, context) = @method.call(value, context)
    end

    # No more than a reader of the record's.
    class OfReader < Formula
      private

      def work_out(values, _arguments, _context) = values.first
    end

    # The `id` of a record whose key has several columns.
    class OfKey < Formula
      private

      def work_out(values, _arguments, _context) = values
    end

    # One of the record's own: of an empty record, with values in place of ActiveRecord's attributes and associations. What
    # ActiveRecord's readers, aliases and predicates ask there is a column, also where the model has a method of that name.
    class OfModel < Formula
      def self.of_context? = false

      # Asked by ActiveRecord's readers, and by an enum's predicates: {"title" => "…"}
      Attributes = Struct.new(:all, :types) do
        def fetch_value(name) = all.fetch(name)
        def [](name) = Value.new(types.fetch(name).serialize(all.fetch(name)))
      end
      Value = Struct.new(:value_for_database)
      Loaded = Struct.new(:reader, :reflection)
      private_constant :Attributes, :Value, :Loaded

      # @param columns [Array<String>] that its readers read
      # @return [OfModel] itself
      def of_columns(columns)
        @columns = @readers = columns
        @reflections = (asked - @readers).to_h { |name| [name, @host.reflect_on_association(name)] }
        self
      end

      private

      def receiver(values, _context)
        record = @host.allocate
        record.instance_variable_set(:@primary_key, @host.primary_key)
        record.instance_variable_set(:@attributes, Attributes.new(@columns.zip(values).to_h, @host.attribute_types))
        read_from(record, values.drop(@columns.size)) if @reflections.any?
        record
      end

      # What isn't an association is an Attachment.
      def read_from(record, values)
        attached, read = @reflections.zip(values).partition { |(_, reflection), _| reflection.nil? }
        associations = read.to_h { |(name, reflection), value| [name, Loaded.new(value, reflection)] }
        record.instance_variable_set(:@association_cache, associations)
        record.instance_variable_set(:@active_storage_attached, attached.to_h { |(name, _), it| [name, it] }) if attached.any?
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Looks at a resolver's return value without calling any method of the application's.
  module ReturnedValue
    CLASS = Kernel.instance_method(:class)
    # Methods that graphql-ruby calls on any thing.
    OWN = %i[class respond_to? public_send].freeze
    NO_THINGS = [NilClass, Module, GraphQL::Error, GraphQL::Execution::Interpreter::RawValue].freeze
    NAME = Module.instance_method(:name)
    # What a module may run when something is extended with it.
    HOOKS = %i[extended extend_object].freeze
    # By what a relation's method finds out whether its records are loaded.
    LOADED = %i[loaded? scheduled? @loaded @records @future_result].freeze
    KAMINARI = :"Kaminari::Activerecord"
    MODULES = 1000
    private_constant :CLASS, :OWN, :NO_THINGS, :NAME, :HOOKS, :LOADED, :KAMINARI, :MODULES

    CONNECTION = GraphQL::Pagination::ActiveRecordRelationConnection

    # A list that can't be loaded, which says so when graphql-ruby comes to it.
    Unloaded = Struct.new(:error) do
      def each = raise(error)
    end

    @telling = Bounded.new(MODULES).compare_by_identity # {module => [its methods, those that may look at LOADED]}

    class << self
      # @return [Class, nil] the model of the records that +value+ is, or brings; nil where it isn't the root of any plan
      def model(value)
        case value
        when ActiveRecord::Relation then value.klass
        when ActiveRecord::Base then record_class(value)
        when CONNECTION then value.items.klass if connection?(value)
        when Array then record_class(value.first) if ActiveRecord::Base === value.first # Module#=== doesn't wake a lazy proxy
        end
      end

      # A proxy for what isn't loaded yet would load it when asked.
      #
      # @return [Class, nil] of the things in an Array, if they are what graphql-ruby goes on with
      def things(value, schema)
        return unless Array === value && value.instance_of?(Array)

        first = value.first
        return if !(Kernel === first) || NO_THINGS.any? { |it| it === first }

        type = CLASS.bind_call(first)
        type if named?(type) && OWN.all? { |name| kernels?(type, name) } && !schema.lazy?(first)
      end

      # @param value what an object of +type+ stands for
      # @return [Class, nil] as #model, of a record, or of a connection where the type says that it is one
      def model_of_object(value, type)
        if ConnectionSelection.connection?(type) then value.items.klass if connection?(value)
        elsif ActiveRecord::Base === value then record_class(value)
        end
      end

      # True if it is of that class, and has no methods of its own. Asked of thousands: without allocating, and without asking
      # the object, which may be a proxy.
      def just?(object, type) = ObjectSpace.internal_class_of(object).equal?(type)

      # True if it is a record.
      def record?(value) = ActiveRecord::Base === value && !record_class(value).nil?

      # A decorator may say that it is a record, too.
      def record_class(value)
        type = value.class
        type if type <= ActiveRecord::Base
      end

      # True if it is graphql-ruby's own, of a relation.
      def connection?(value)
        just?(value, CONNECTION) && ActiveRecord::Relation === value.items && edge?(value.edge_class)
      end

      # True if edges of that class are as graphql-ruby's own: it adds methods at most.
      def edge?(type)
        return true if type.equal?(CONNECTION::Edge)
        return false unless Class === type && type < CONNECTION::Edge && Provenance.ruby_makes?(type)

        own = type.ancestors.take_while { |it| !it.equal?(CONNECTION::Edge) }
        own.all? { |it| methods(it).none? { |name| has?(CONNECTION::Edge, name) } }
      end

      # @param value what a field's resolver has returned, of which #model knows
      # @return [Array<ActiveRecord::Base>, Unloaded, nil] its records, which may have to be read first; nil where it's not to be
      #   known what they are
      def list(value)
        return (value if value.instance_of?(Array)) unless ActiveRecord::Relation === value
        return unless plain?(value)

        value.load
        value.records
      rescue StandardError => e # graphql-ruby is to see it, and not to read once more
        Unloaded.new(e)
      end

      # @return [Array] what is in a list that needn't be read
      def records(value)
        return value if Array === value && value.instance_of?(Array)

        ActiveRecord::Relation === value && plain?(value) && value.loaded? ? value.records : []
      end

      # An association's records as they are now: a later field may add to them.
      #
      # @return [ActiveRecord::Relation, Array]
      def loaded(relation)
        return relation unless plain_association?(relation)

        relation.proxy_association.target.dup
      end

      # True if its records are those in the database, found by its scope, and nobody can tell when they are read.
      def readable_association?(association)
        owner = association.owner
        reflection = association.reflection
        !association.loaded? && association.target.empty? && owner.persisted? && !strict?(owner) &&
          !reflection.strict_loading? && only_added_to?(reflection) && !reflection.options[:disable_joins] &&
          !PlainModel.counted?(reflection) && keyed?(owner, reflection)
      end

      # True if it is strict-loading, or makes records of its associations so (`mode: :n_plus_one_only`).
      def strict?(record) = record.strict_loading? || record.strict_loading_n_plus_one_only?

      # True if nothing of an association's is in memory, though somebody may have asked it something.
      def unread?(record, name)
        return true unless record.association_cached?(name)

        association = record.association(name)
        !association.loaded? && (association.reflection.collection? ? association.target.empty? : association.target.nil?) &&
          forgets?(association)
      end

      # True if it would say the same anew.
      def forgets?(association)
        proxy, scope, ids = %i[@proxy @association_scope @association_ids].map { |it| association.instance_variable_get(it) }
        just?(association, association.class) && (proxy.nil? || plain?(proxy)) && ids.nil? &&
          (scope.nil? || steady?(association.reflection))
      end

      # True if its scope depends on nothing but its owner's own key.
      def steady?(reflection)
        reflection.scope.nil? && !reflection.through_reflection? && reflection.klass.default_scopes.empty? &&
          reflection.join_foreign_key == reflection.active_record.primary_key
      end

      # True if ActiveRecord's methods are its own: modules that it is extended with add others at most, as Kaminari's do.
      def plain?(relation)
        return true if just?(relation, relation.class)

        own_modules(relation).all? { |it| methods(it).all? { |name| adds?(relation.class.superclass, name) } }
      end

      # True if methods that it is extended with can't tell whether its records are loaded: somebody else may ask them. Kaminari's
      # `total_count` takes its number from a loaded page that isn't full, which is COUNT's where pages begin at multiples of the
      # limit.
      def alike_unloaded?(relation)
        return true if just?(relation, relation.class)

        telling = own_modules(relation).flat_map { |it| telling(it) }
        telling.empty? || (whole_page?(relation) && telling.all? { |method| Provenance.of_gem?(KAMINARI, method) })
      end

      # True if the modules that an association's relations are extended with only add methods, which nothing of ActiveRecord's
      # calls: of names that neither they nor the model have.
      def only_added_to?(reflection)
        modules = reflection.extensions
        modules.empty? || modules.flat_map(&:ancestors).uniq.all? { |it| adds_to?(reflection.klass, it) }
      end

      # A relation that reads the same. To make it runs no code of the modules: copies of +relation+ would call `reset`.
      def unextended(relation)
        return relation if just?(relation, relation.class)

        made = ActiveRecord::Relation.create(relation.klass, table: relation.table, predicate_builder: relation.predicate_builder,
                                                             values: relation.values.except(:extending))
        relation.null_relation? ? made.none : made
      end

      # True if it is what ActiveRecord returns for a `has_many`.
      def plain_association?(value) = ActiveRecord::Associations::CollectionProxy === value && plain?(value)

      private

      # Some are made for each request.
      def named?(type) = !NAME.bind_call(type).nil?

      # True if no part of the owner's key is nil, or blank: ActiveRecord may not find then what its scope says.
      def keyed?(owner, reflection) = reflection.chain.last.join_id_for(owner).none?(&:blank?)

      # Of that module alone.
      def methods(owner) = owner.instance_methods(false) + owner.private_instance_methods(false)

      # @return [Array<Module>] that it is extended with, and its singleton class
      def own_modules(relation)
        type = relation.class
        ObjectSpace.internal_class_of(relation).ancestors.take_while { |it| !it.equal?(type) }
      end

      # @return [Array<UnboundMethod>] of that module, which may look at whether records are loaded
      def telling(owner)
        all = methods(owner).map { |name| owner.instance_method(name) }
        return all if all.empty? # each relation's singleton class is another

        known, telling = @telling[owner]
        return telling if known == all

        all.select { |method| Bytecode.mentions?(method, LOADED) }.tap { |found| @telling[owner] = [all, found] }
      end

      def whole_page?(relation)
        limit, offset = relation.limit_value, relation.offset_value.to_i
        limit.is_a?(Integer) && limit.positive? && (offset % limit).zero? && !relation.instance_variable_get(:@_padding)
      end

      # @param extension [Module]
      def adds_to?(model, extension)
        hooks = HOOKS.map { |name| extension.singleton_class.instance_method(name) }
        types = [*Provenance.association_types(model), model.singleton_class]
        hooks.all? { |hook| hook.owner.equal?(Module) } &&
          types.product(methods(extension)).none? { |type, name| has?(type, name) }
      end

      def has?(type, name) = type.method_defined?(name) || type.private_method_defined?(name)

      # A relation forgets what it has read by `reset`; nobody reads by it.
      def adds?(type, name)
        name == :reset || !has?(type, name)
      end

      def kernels?(type, name) = type.method_defined?(name) && type.instance_method(name).owner.equal?(Kernel)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # As Lookup, for some of an association's records, which a resolver method asks for: `object.comments.where(…).limit(3)`, or
  # `object.comments.first`.
  class ChainLookup < Lookup
    # Methods that may be called on an association before anything is read, besides those that a model declares by `scope`.
    QUERIES = %i[where rewhere not order reorder limit offset distinct joins left_joins left_outer_joins
                 merge unscope].freeze
    # Others that may be called before records are read. With groups, a calculation has several results.
    GROUPING = %i[group having].freeze
    # Of a model's, and what merges them.
    MERGED = [*QUERIES, :all].freeze
    MERGING = %i[merge merge! spawn].freeze
    CHANGING = [*QueriedModel::JOINS, :merge].freeze
    # Clauses that come of them. Others change what becomes of the rows, or when they are asked for.
    CLAUSES = %i[where order reordering limit offset distinct unscope references joins left_outer_joins].freeze

    # Methods that bring it then.
    INSIDE = %i[records load exec_queries exec_main_query instantiate_records find_nth find_nth_with_limit find_take].freeze
    SCOPES = ActiveRecord::Scoping::Named::ClassMethods.instance_method(:scope).source_location.first
    # Sets of arguments that are kept, and their classes. Equal values of others may differ: Hashes by order, times by zone.
    MOST_ARGUMENTS = 100
    KEPT = [NilClass, TrueClass, FalseClass, Integer, Float, String, Symbol].freeze
    private_constant :QUERIES, :MERGED, :GROUPING, :MERGING, :CHANGING, :CLAUSES, :INSIDE, :SCOPES, :MOST_ARGUMENTS, :KEPT

    # @param chain [Chain] whose reader is the association's
    # @param arguments [FieldArguments, nil] that it is given; nil if it has them
    def initialize(reflection, projection, chain, arguments)
      super(reflection, projection)
      @chain = chain.parameters.empty? ? chain.with({}) : chain
      @arguments = arguments
      @queries = @chain.calls.drop(1)
      @last = @queries.pop if ends?
      @bound = Bounded.new(MOST_ARGUMENTS) # {arguments => ChainLookup}
    end

    # The lookup with the arguments that the query gives.
    def for(context)
      return self if @chain.parameters.empty?

      given = Chain.frozen(@arguments.of(context))
      return with(given) unless given.values.flatten.all? { |value| KEPT.include?(value.class) }

      @bound[given] ||= with(given)
    end

    # True if it can be asked for, as far as that can be known without arguments.
    def narrows?
      return false unless known?
      return fits?(relation_with(substitutes)) unless @chain.parameters.empty?

      @model.with_connection { |connection| !statement(connection).nil? }
    end

    def many? = @last.nil? || @chain.few?
    def whole? = false
    def finds? = @last&.name == :find
    def picks? = @queries.empty? && Chain::PICKING.include?(@last&.name)

    def contexts = @chain.contexts

    private

    def with(given) = self.class.new(@reflection, @projection, @chain.with(given), @arguments)
    def ends? = @chain.takes?

    # True if all that is called is ActiveRecord's, or asked for by its like.
    def known?
      called = [*@queries, @last].compact.map(&:name) - [:not]
      types = queried? ? @reflection.relation_types : Provenance.association_types(@model)
      (!queried? || models_own?(called.first)) && @queries.all? { |call| query?(call.name) } && merged_known?(@queries) &&
        types.product(called).all? { |type, name| type.method_defined?(name) } &&
        Provenance.active_record_alone_in?(types, called + inside) && AssociationQuery.spelled_alone?(types) &&
        Provenance.active_record_alone_in?([ActiveRecord::QueryMethods::WhereChain], %i[not])
    end

    # True if the model itself answers as its relations do.
    def models_own?(name)
      [name, *QueriedModel::METHODS].all? { |it| Provenance.active_record_alone?(@model.method(it)) }
    end

    def query?(name) = queries.include?(name) || scope?(name)
    def queries = QUERIES + GROUPING
    def clauses = CLAUSES + GROUPING
    def inside = @last ? INSIDE : []

    # One that is declared by `scope`.
    def scope?(name, model = @model) = model.respond_to?(name) && model.method(name).source_location&.first == SCOPES

    def merged_known?(calls) = calls.flat_map(&:arguments).grep(Chain::Scope).all? { |scope| scope_known?(scope) }

    # As #known?, of what is to be merged: it is asked of a model, and then of relations.
    def scope_known?(scope)
      names, relation = scope.calls.map(&:name), scope.model.relation_delegate_class(ActiveRecord::Relation)
      called = names - %i[not all]
      called.any? && merged_known?(scope.calls) && names.all? { |name| MERGED.include?(name) || scope?(name, scope.model) } &&
        called.all? { |name| relation.method_defined?(name) } &&
        Provenance.active_record_alone_in?([relation], called + MERGING) &&
        [*called, :all].all? { |name| Provenance.active_record_alone?(scope.model.method(name)) }
    end

    # True if what it calls may say something else the next time: scopes do, and those of what is joined.
    def changing?
      return @changing if defined?(@changing)

      @changing = @queries.any? { |call| !queries.include?(call.name) || CHANGING.include?(call.name) }
    end

    # A scope may look at the relation that it is called on, so this is the one that the statement is made of.
    def said(connection)
      @reflection.verify if queried?
      said = super
      changing? ? [said, Wording.new(connection.visitor).relation(asked_of(base(said).spawn)).all] : said
    end

    # @param said [Array] by all that isn't called
    # @return [ActiveRecord::Relation] the association's, kept for the next time
    def base(said)
      known, base = @base
      return base if known.eql?(said)

      base = relation_with(substitutes)
      @base = [said, base].freeze
      base
    end

    def by_key?(_said) = false

    # With other arguments the text may differ.
    def prepares?(sql) = @arguments.nil? && super

    def arel_of(relation)
      relation = asked_of(relation)
      return unless relation.is_a?(ActiveRecord::Relation) && fits?(relation)
      raise DoesNotFit if queried? && needs_key? && !@reflection.complete?(relation) # by a scope

      ask(relation)
    end

    # There is no owner, though a scope may ask for it, or for its records.
    #
    # @return [Object, nil] what all that is called returns; nil if something is read for that
    def asked_of(relation)
      relation.proxy_association.owner = Unknown.new unless queried?
      asked = nil
      asked unless DryRun.of { asked = @queries.inject(relation) { |it, call| call.on(it) } }
    end

    # Stands for the owner.
    class Unknown < BasicObject
      %i[! != == equal?].each { |name| undef_method name }
      def method_missing(*) = ::Kernel.raise(DoesNotFit)
    end
    private_constant :Unknown

    # @return [Arel::SelectManager, nil]
    def ask(relation)
      return narrowed(relation).arel unless @last
      return if @last.name == :last && (relation.limit_value || relation.offset_value) # loads all that

      DryRun.of { @last.on(narrowed(relation)) }
    end

    def fits?(relation)
      simple?(relation) && @projection.narrows?(relation.except(*GROUPING)) && (ungrouped?(relation) || keyed?)
    end

    def ungrouped?(relation) = relation.group_values.empty? && relation.having_clause.empty?

    # True if the model's key is the table's primary key: rows grouped by that may be read with any of the table's columns.
    def keyed? = @model.primary_key && @model.schema_cache.primary_keys(@model.table_name) == @model.primary_key

    # The relation with the projection's columns, grouped as it was.
    def narrowed(relation)
      return @projection.narrow(relation) if ungrouped?(relation)

      narrow = @projection.narrow(relation.except(*GROUPING)).group(*relation.group_values)
      narrow.tap { |it| it.having_clause = relation.having_clause }
    end

    def simple?(relation)
      relation.klass.equal?(@model) && !relation.null_relation? && !relation.eager_loading? &&
        relation.values.none? { |name, value| !clauses.include?(name) && value != [] }
    end

    def compile(arel, connection)
      super.tap { |sql, _| raise DoesNotFit unless Read.pure_text?(sql) }
    end
  end
end

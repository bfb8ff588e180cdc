# frozen_string_literal: true

module Pipeloader
  # As Lookup, for what ActiveRecord calculates of an association's rows, or of some of them:
  #
  #     SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_1
  #     FROM unnest($1::bigint[]) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_n),
  #     LATERAL (SELECT * FROM (SELECT COUNT(*) FROM "comments" WHERE "comments"."post_id" = pipeloader_keys.pipeloader_1) …
  class CalculationLookup < Lookup
    # {what is asked in the end => how many arguments it may have}
    KNOWN = { count: 0..1, size: 0..0, exists?: 0..1, any?: 0..0, empty?: 0..0, none?: 0..0,
              sum: 1..1, maximum: 1..1, minimum: 1..1 }.freeze
    TYPED = %i[sum maximum minimum].freeze

    # What may come before.
    QUERIES = %i[where rewhere not order reorder limit offset distinct joins left_joins left_outer_joins].freeze
    CLAUSES = %i[where order reordering limit offset distinct unscope references joins left_outer_joins].freeze
    HOSTS = [ActiveRecord::AssociationRelation, ActiveRecord::Associations::CollectionProxy].freeze
    SCOPES = ActiveRecord::Scoping::Named::ClassMethods.instance_method(:scope).source_location.first
    NAME = /\A\w+(?:\.\w+)?\z/
    private_constant :KNOWN, :TYPED, :QUERIES, :CLAUSES, :HOSTS, :SCOPES, :NAME

    # @param call [Delegation::Call]
    def self.knows?(call)
      KNOWN.key?(call.name) && KNOWN[call.name].cover?(call.arguments.size) && (call.name == :exists? || call.keywords.empty?)
    end

    # @param calls [Array<Delegation::Call>] of the association
    def initialize(reflection, calls)
      super(reflection, Projection.of(reflection.klass, []))
      *@queries, @last = calls
    end

    # By which the statement's value is made what ActiveRecord returns.
    #
    #: () -> ActiveModel::Type::Value
    def value_type
      type = @model.type_for_attribute(column) if TYPED.include?(@last.name) && @model.columns_hash.key?(column)
      type = type.subtype if type.is_a?(ActiveRecord::Enum::EnumType)
      type || ActiveModel::Type.default_value
    end

    # @param rows [Array<Array>] of one owner
    # @return what ActiveRecord makes of them, before #value_type
    def answer(rows)
      case @last.name
      when :exists?, :any? then rows.any?
      when :empty?, :none? then rows.empty?
      when :count, :size then rows.empty? ? 0 : rows.first.first.to_i
      when :sum then rows.first&.first || 0
      else rows.first&.first
      end
    end

    # Whether the server can be asked for it.
    def narrows? = known? && @model.with_connection { |connection| !statement(connection).nil? }

    private

    # Whether all that is called is ActiveRecord's, and each tells what its values are.
    def known?
      types = HOSTS.map { |host| @model.relation_delegate_class(host) }
      [*@queries, @last].all? { |call| call.name == :not || types.all? { |type| host?(type, call.name) } } &&
        @queries.all? { |call| QUERIES.include?(call.name) || scope?(call.name) } && column_known?
    end

    def host?(type, name) = type.method_defined?(name) && Host.active_record?(type.instance_method(name))

    # One that is declared by `scope`.
    def scope?(name) = @model.respond_to?(name) && @model.method(name).source_location&.first == SCOPES

    def column_known? = !TYPED.include?(@last.name) || @model.columns_hash.key?(column) || !NAME.match?(column)

    def column = (name = @last.arguments.first.to_s) && (@model.attribute_aliases[name] || name)

    # A scope may say something else the next time.
    def scopes = (super if @queries.all? { |call| QUERIES.include?(call.name) })

    def by_key?(_scopes) = false

    # @return [Hash{Object => Array<Array>}] by the owner's key
    def by_key(result, index)
      super(ActiveRecord::Result.new(result.columns, result.cast_values), index)
    end

    def arel_of(relation)
      relation = @queries.inject(relation) { |it, call| call.on(it) }
      return unless relation.is_a?(ActiveRecord::Relation) && fits?(relation)

      Sketch.of { @last.on(relation) }
    end

    def fits?(relation)
      relation.klass.equal?(@model) && !relation.null_relation? && !relation.eager_loading? &&
        relation.values.none? { |name, value| !CLAUSES.include?(name) && value != [] }
    end

    def compile(arel, connection)
      super.tap { |sql, _| raise Unfit unless Read.pure_text?(sql) }
    end
  end
end

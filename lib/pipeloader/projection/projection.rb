# frozen_string_literal: true

module Pipeloader
  # Some columns of a model's table, to be read in place of whole rows. The only code that touches a SELECT list:
  #
  #     Post.where(…).order(:id)
  #     # SELECT "posts"."id", "posts"."title", "posts"."author_id" FROM "posts" WHERE … ORDER BY "posts"."id"
  #
  # Limits: what can't be narrowed without changing what it means, or brings (see #narrows?), is read as it is.
  class Projection
    LIMIT = 1000

    @known = Bounded.new(LIMIT) # {[Post, ["id", "title"]] => Projection}

    class << self
      # One object for each set of columns, so that its statements are built once, whichever documents ask for them.
      #
      # @param columns [Enumerable<String>] keys included
      #: (singleton(ActiveRecord::Base), Enumerable[String]) -> Projection
      def of(model, columns)
        columns = model.column_names & columns.to_a
        known = @known[[model, columns]]
        known&.all_columns.equal?(model.column_names) ? known : @known[[model, columns]] = new(model, columns)
      end
    end

    attr_reader :model

    # @return [Array<String>] in the table's order
    attr_reader :columns

    # @return [Array<String>] those left out, and all of the table
    attr_reader :omitted, :all_columns

    alias inspect to_s

    def initialize(model, columns)
      @model = model
      @columns = columns.freeze
      @all_columns = model.column_names
      @omitted = (@all_columns - columns).freeze
      @omits = @omitted.to_h { |name| [name, true] }
    end

    def omits?(name) = @omits.key?(name)

    # The Projection for a relation: with the keys that its preloads, or the association that it is of, need besides; nil
    # where it is to be left alone.
    #
    #: (ActiveRecord::Relation) -> Projection?
    def for(relation)
      return unless narrows?(relation)

      preloads = preloaded(relation)
      return unless preloads.all? { |reflection| PlainModel.independent?(reflection) }

      wide = with(preloads.flat_map { |reflection| PlainModel.keys(reflection) })
      relation.is_a?(ActiveRecord::AssociationRelation) ? wide.for_association(relation.proxy_association.reflection) : wide
    end

    # With the keys by which ActiveRecord tells, of a record that an association has brought, whose it is.
    #
    #: (ActiveRecord::Reflection::AbstractReflection) -> Projection
    def for_association(reflection)
      return with(sources_key(reflection)) if reflection.through_reflection?
      return with(Array(reflection.association_primary_key(@model))) if reflection.belongs_to?

      with([*reflection.foreign_key, *reflection.type])
    end

    # A relation of its own that reads these columns alone.
    #
    #: (ActiveRecord::Relation) -> ActiveRecord::Relation
    def narrow(relation) = relation.select(*@columns)

    # @param result [ActiveRecord::Result, Array] an empty Array is ActiveRecord's answer where there is nothing to ask
    # @return what Model._load_from_sql takes for a result
    def narrowed(result)
      result.is_a?(ActiveRecord::Result) ? PartialRows.new(self, result) : result
    end

    # Yields, a narrowed read. Where the server refuses it, which may be for its columns (this process knew one that is gone), the
    # plain read is the answer: nil is returned for it to be made. Not inside a transaction, which has ended.
    def try
      yield
    rescue ActiveRecord::StatementInvalid => e
      raise unless e.instance_of?(ActiveRecord::StatementInvalid) && @model.with_connection(&:open_transactions).zero?
    end

    # True if whole rows of the table are what +relation+ reads, each by itself.
    #
    #: (ActiveRecord::Relation) -> bool
    def narrows?(relation)
      values = relation.values
      relation.klass.equal?(@model) && (values.keys - HARMLESS).empty? && !relation.eager_loading? && !by_output?(relation) &&
        !NeededPreloads.among?(@model, values.values_at(:preload, :includes).compact)
    end

    private

    # It looks for that key in the one record, whosever it is, where there may be several records it doesn't.
    def sources_key(reflection) = reflection.collection? ? [] : Array(reflection.foreign_key).map(&:to_s) & @all_columns

    # ORDER BY 2 means the second column of those that are read, and ORDER BY name, of joined tables, the one that is called so.
    def by_output?(relation)
      joins = relation.joins_values.any? || relation.left_outer_joins_values.any?
      relation.order_values.any? do |value|
        next if value.is_a?(Arel::Nodes::Ordering) && value.expr.is_a?(Arel::Attributes::Attribute)

        sql(value).scan(OUTPUT).any? { |(name)| name.match?(/\A\d/) || (joins && omits?(name)) }
      end
    end

    # Names and numbers of the SELECT list that an ORDER BY may use.
    OUTPUT = /(?:\A|[,(])\s*"?(\w+)"?\s*(?=[,)]|\z|asc\b|desc\b|nulls\b|using\b)/i
    private_constant :OUTPUT

    def sql(value) = value.respond_to?(:to_sql) ? value.to_sql(@model) : value.to_s

    def with(names)
      names = names.map(&:to_s)
      (names - @columns).empty? ? self : Projection.of(@model, @columns + names)
    end

    # Clauses with which a relation's rows are still whole rows of its table, each by itself.
    HARMLESS = %i[where order unscope limit offset joins left_outer_joins references preload includes readonly reordering
                  reverse_order strict_loading skip_query_cache skip_preloading annotate optimizer_hints create_with].freeze
    private_constant :HARMLESS

    def preloaded(relation)
      (relation.preload_values + relation.includes_values).flat_map { |name| name.is_a?(Hash) ? name.keys : name }.flatten
        .map { |name| @model.reflect_on_association(name) }
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # As ChainLookup, for what ActiveRecord calculates of an association's rows, or of some of them:
  #
  #     SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_1
  #     FROM unnest($1::bigint[]) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_n),
  #     LATERAL (SELECT * FROM (SELECT COUNT(*) FROM "comments" WHERE "comments"."post_id" = pipeloader_keys.pipeloader_1) …
  class CalculationLookup < ChainLookup
    # These look at a counter of the record's, if there is one.
    COUNTERS = %i[size any? empty? none?].freeze
    TYPED = %i[sum average maximum minimum].freeze
    # Types of columns whose mean is a BigDecimal.
    EXACT = %i[integer decimal].freeze
    NAME = /\A\w+(?:\.\w+){0,2}\z/
    # Methods that they come to.
    INSIDE = %i[calculate perform_calculation execute_simple_calculation type_cast_calculated_value count empty? exists?].freeze
    # What is counted: `select(:author_id).distinct.count`.
    QUERIES = [*QUERIES, :select].freeze
    CLAUSES = [*CLAUSES, :select].freeze
    private_constant :COUNTERS, :TYPED, :EXACT, :NAME, :INSIDE, :QUERIES, :CLAUSES

    # By which the statement's value is made what ActiveRecord returns.
    #
    #: () -> ActiveModel::Type::Value
    def value_type = (column_type unless exact_mean?) || ActiveModel::Type.default_value

    # @param rows [Array<Array>] of one owner
    # @return what ActiveRecord makes of them, before #value_type
    def answer(rows)
      case @last.name
      when :exists?, :any? then rows.any?
      when :empty?, :none? then rows.empty?
      when :count, :size then value(rows).to_i
      when :sum then value(rows) || 0
      when :average then exact_mean? ? value(rows)&.to_d : value(rows)
      else value(rows)
      end
    end

    private

    # SQL may name several values: `sum("likes), max(likes")`. The last column is the owner's key.
    def value(rows)
      rows.empty? || rows.first.size == 2 ? rows.first&.first : raise(DoesNotFit)
    end

    # @return [ActiveModel::Type::Value, nil] of the column that is asked for
    def column_type
      return unless typed? && @model.columns_hash.key?(column)

      type = Cast.type_of(@model, column)
      type.is_a?(ActiveRecord::Enum::EnumType) ? type.subtype : type
    end

    def exact_mean? = @last.name == :average && EXACT.include?(column_type&.type)

    def ends?
      call = @queries.last
      Chain::CALCULATIONS[call.name]&.cover?(call.arguments.size) && (call.name == :exists? || call.keywords.empty?)
    end

    def known?
      @last && super && !(@queries.empty? && COUNTERS.include?(@last.name) && @reflection.has_cached_counter?) && column_known?
    end

    def inside = INSIDE
    def queries = QUERIES
    def clauses = CLAUSES
    def typed? = TYPED.include?(@last.name)

    # With the table's own name before it, it's the same one.
    def column
      table, name = @last.arguments.first.to_s.split(".", 2)
      return @model.attribute_aliases.fetch(table, table) unless name

      own_table?(table) ? name : "#{table}.#{name}"
    end

    # ActiveRecord looks for an association of that name first.
    def own_table?(table)
      table == @model.table_name && [table, table.singularize].none? { |name| @model.reflect_on_association(name) }
    end

    # True if it can be told what type it has.
    def column_known?
      return true unless typed?
      return false if @last.arguments.any? { |it| Chain::Parameter === it || located?(it) }

      @model.columns_hash.key?(column) || !NAME.match?(column)
    end

    # True of `Arel.sql("comments.score")`, whose type ActiveRecord doesn't take from the column.
    def located?(given) = given.is_a?(Arel::Nodes::SqlLiteral) && given.include?(".") && NAME.match?(given)

    # @return [Hash{Object => Array<Array>}] by the owner's key
    def by_key(result, index)
      super(ActiveRecord::Result.new(result.columns, result.cast_values), index)
    end

    def fits?(relation) = simple?(relation)
    def ask(relation) = DryRun.of { @last.on(relation) }
  end
end

# frozen_string_literal: true

module Pipeloader
  # One SQL text and the types of its parameters, as the server inferred them: what many reads of it can be asked for with.
  #
  #   SELECT "posts".* FROM "posts" WHERE "posts"."author_id" = $1 LIMIT $2        -- [[3, 10], [7, 10], …] becomes
  #
  #   SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_n
  #     FROM unnest($1) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_n),
  #     LATERAL (SELECT * FROM (
  #       SELECT "posts".* FROM "posts" WHERE "posts"."author_id" = pipeloader_keys.pipeloader_1 LIMIT $2
  #     ) AS pipeloader_read OFFSET 0) AS pipeloader_rows                            -- ["{3,7,…}", 10]
  #
  # OFFSET 0 keeps the planner from merging the two: each read is planned, and its rows come in their order, as by itself.
  # Where SQL leaves the order open the plan decides it. So parameters may differ only where they are compared by `=` or IN:
  # there the plan hardly depends on the value. It does for `>`, where the planner guesses that a third of the table will do.
  #
  # Limits: SQL that locks rows, or quotes with backslashes or dollars; parameters that differ and are compared otherwise, or are
  # arrays, or long.
  class Shape
    # {OID of a type => OID of its array}: PostgreSQL's own, fixed for good (pg_type.dat).
    ARRAYS = {
      16 => 1000, 18 => 1002, 19 => 1003, 20 => 1016, 21 => 1005, 23 => 1007, 25 => 1009, 26 => 1028, 114 => 199,
      142 => 143, 650 => 651, 700 => 1021, 701 => 1022, 790 => 791, 829 => 1040, 869 => 1041, 1042 => 1014, 1043 => 1015,
      1082 => 1182, 1083 => 1183, 1114 => 1115, 1184 => 1185, 1186 => 1187, 1266 => 1270, 1560 => 1561, 1562 => 1563,
      1700 => 1231, 2950 => 2951, 3802 => 3807
    }.freeze

    ALONE = /\bfor\s+(?:no\s+key\s+update|update|share|key\s+share)\b|\\|\$(?!\d)|;\s*\z/i
    # Where a parameter may differ, in SQL that reads from a table.
    KEYS = /(?:(?<![<>!~])=\s*|\b(?:limit|offset)\s+)\$(\d+)\b|(?<!not )\bin\s*\(((?:\$\d+(?:\s*,\s*)?)+)\)/i
    WORD = /\A[[:alpha:]_][[:alnum:]_]*\z/
    # What one read's values are called; and where it is for many keys itself.
    KEYS_NAME = "pipeloader_keys"
    OUTER_KEYS_NAME = "pipeloader_reads"
    private_constant :ARRAYS, :ALONE, :KEYS, :WORD, :KEYS_NAME, :OUTER_KEYS_NAME

    attr_reader :sql, :name, :description, :types

    # @param name [String, nil] under which +sql+ is prepared: its types stay what they are as long as the server knows it
    # @param description [Statement::Description]
    # @param arrays [Hash] as ARRAYS, of other types; what isn't known yet, may be added
    def initialize(sql, name, description, arrays)
      @sql = sql
      @name = name
      @description = description
      @types = description.types
      @arrays = arrays
      @sqls = {} # {[0] => "SELECT …"}
    end

    class << self
      # True if +sql+ can't be a part of another statement, or may not say what it seems to.
      def alone?(sql) = ALONE.match?(sql)

      # +sql+ for each of many keys, whose parts come as arrays: the first parameters, the others behind them. Each row's last
      # column is the key; where it has several parts, how many keys were up to this one.
      #
      # @param at [Array<Integer>] which parameters are the key's, by index
      # @param arrays [String] SQL of the values: "$1::bigint[]"
      def for_each_key(sql, at, arrays)
        names = (1..at.size).map { |number| "pipeloader_#{number}" }
        alone = renumber(sql) do |index|
          key = at.index(index)
          key ? "pipeloader_keys.#{names[key]}" : "$#{index + 1 + at.count { |it| it > index }}"
        end
        at.one? ? for_each(alone, arrays, names, told_by: names.first) : for_each(alone, arrays, names)
      end

      # @param arrays [String] SQL of the values, an array for each of +names+
      # @param told_by [String] what comes with each row: by default, how many values were before
      # @param keys [String] by which +sql+ refers to the values
      def for_each(sql, arrays, names, told_by: "pipeloader_n", keys: KEYS_NAME)
        <<~SQL
          SELECT pipeloader_rows.*, #{keys}.#{told_by}
          FROM unnest(#{arrays}) WITH ORDINALITY AS #{keys}(#{names.join(", ")}, pipeloader_n),
          LATERAL (SELECT * FROM (
          #{sql}
          ) AS pipeloader_read OFFSET 0) AS pipeloader_rows
        SQL
      end

      # The last rows of +sql+, in its order, with the place of each among all, and how many these are.
      #
      # @param at [Integer] which parameter says how many, by index
      def last_rows(sql, at)
        <<~SQL
          SELECT * FROM (SELECT *, row_number() OVER () AS pipeloader_place, count(*) OVER () AS pipeloader_all FROM (
          #{sql}
          ) AS pipeloader_read) AS pipeloader_numbered
          WHERE pipeloader_place > pipeloader_all - $#{at + 1}::bigint ORDER BY pipeloader_place
        SQL
      end

      # @return [Array<Integer>] which parameters of +sql+ may differ where many are asked for, by index
      def keys(sql)
        text = sql.gsub(SQLText::TOKEN) { |token| Regexp.last_match(1) || token.match?(WORD) ? token : "''" }
        all = text.scan(/\$(\d+)/).flatten.tally
        keys = text.match?(/\bfrom\b/i) ? text.scan(KEYS).flat_map { |number, list| number || list.scan(/\d+/) }.tally : all
        keys.select { |number, times| all[number] == times }.keys.map { |number| number.to_i - 1 }
      end

      # Yields the index of each parameter; what the block returns comes in its place.
      def renumber(sql)
        sql.gsub(SQLText::TOKEN) { |token| (number = Regexp.last_match(1)&.to_i) ? yield(number - 1) : token }
      end
    end

    # OIDs of types of which we don't know whether there are arrays of them.
    def unknown_types = @types.reject { |type| ARRAYS.key?(type) || @arrays.key?(type) }

    # True if it can be wrapped at all.
    def wraps?
      @wraps = @types.any? && !Shape.alone?(@sql) if @wraps.nil?
      @wraps
    end

    # Their names.
    def columns = @description.columns

    # It turned out that the server won't have it.
    def give_up = @wraps = false

    # @param rows [Array<Array>] the parameters of each read
    # @return [Wrapped, nil] one statement for all of them; nil if there is no array of what differs
    def wrap(rows)
      varying = varying_in(rows)
      return unless varying.all? { |index| keys.include?(index) && array_type(index).positive? }

      order = varying + ((0...@types.size).to_a - varying)
      Wrapped.new(@sqls[varying] ||= sql_for(varying, order),
                  order.map { |index| varying.include?(index) ? array_of(rows, index) : rows.first[index] },
                  order.map { |index| varying.include?(index) ? array_type(index) : @types[index] })
    end

    # Of one statement for many: +types+ are the OIDs of its parameters.
    Wrapped = Struct.new(:sql, :params, :types) do
      # The same with what is around the single ones' text, if anything is.
      def on(tags) = tags ? Wrapped.new(tags.on(sql), params, types) : self
    end

    private

    ENCODER = PG::TextEncoder::Array.new
    private_constant :ENCODER

    # @return [Array<Integer>] which parameters may differ
    def keys = @keys ||= Shape.keys(@sql)

    def array_type(index) = ARRAYS[@types[index]] || @arrays.fetch(@types[index], 0)

    # @return [Array<Integer>] which parameters differ from read to read, by index
    def varying_in(rows)
      first = rows.first
      (0...first.size).select { |index| rows.any? { |params| !params[index].eql?(first[index]) } }
    end

    def array_of(rows, index) = ENCODER.encode(rows.map { |params| written(params[index]) }, Encoding::UTF_8)

    # As ActiveRecord's connections write it, and arrays don't.
    def written(value)
      case value
      when true then "t"
      when false then "f"
      else value
      end
    end

    # @param order [Array<Integer>] of its parameters: those that differ come first, as arrays
    def sql_for(varying, order)
      keys = @sql.include?(KEYS_NAME) ? OUTER_KEYS_NAME : KEYS_NAME
      single = Shape.renumber(@sql) do |index|
        varying.include?(index) ? "#{keys}.pipeloader_#{index + 1}" : "$#{order.index(index) + 1}"
      end
      arrays = varying.each_index.map { |at| "$#{at + 1}" }.join(", ")
      Shape.for_each(single, arrays, varying.map { |index| "pipeloader_#{index + 1}" }, keys: keys)
    end
  end
end

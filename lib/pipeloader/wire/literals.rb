# frozen_string_literal: true

module Pipeloader
  # SQL with the values that are written into it as parameters, where a Shape lets them differ: so that reads become one statement
  # though their texts differ, as ActiveRecord's do without prepared statements, and `where("post_id = ?", id)` does with them.
  #
  #   SELECT "posts".* FROM "posts" WHERE "posts"."author_id" = 3 LIMIT 10         -- becomes
  #   SELECT "posts".* FROM "posts" WHERE "posts"."author_id" = $1 LIMIT $2        -- [3, 10]
  #
  # A quoted value has no type but what the server infers, just as a parameter. A whole number has one: the parameter must be
  # inferred to be a number that holds it exactly (a `real` compared with 16777217 isn't what it is compared with $1).
  class Literals
    # What a backslash means depends on a setting. '1'::interval hour is no '1'::interval.
    VALUE = /'(?:[^'\\]|'')*+'(?!\s*::\s*interval\b)|\d{1,18}(?![\w.])/i
    # Where they may be (as far as they differ, Shape decides); or what isn't one though it may look like it.
    PLACE = /(?<before>=\s*|\b(?:limit|offset)\s+)(?<value>#{VALUE})
            |(?<list>\bin\s*\()(?<values>#{VALUE}(?:\s*,\s*#{VALUE})*)(?=\))|#{SQLText::TOKEN}/xmi
    # Most texts have none, and this tells so sooner than PLACE.
    ANY = /(?:=\s*|\b(?:limit|offset)\s+|\bin\s*\()['\d]/i
    # OIDs of bigint, smallint, integer, oid, numeric.
    NUMBERS = [20, 21, 23, 26, 1700].freeze
    # Longer texts aren't looked through.
    LONGEST = 5000
    private_constant :VALUE, :PLACE, :ANY, :NUMBERS, :LONGEST

    # @return [Literals, nil] nil if there are none
    def self.of(sql, params)
      return unless sql.size <= LONGEST && ANY.match?(sql)

      literals = new(sql, params)
      literals if literals.any?
    end

    # @return [String] with a parameter for each
    attr_reader :sql

    # @return [Array] the values, behind those that it had
    attr_reader :params

    def initialize(sql, params)
      @before = params.size
      @params = params.dup
      @sql = sql.gsub(PLACE) { |text| put_into(Regexp.last_match, text) }
    end

    def any? = @params.size > @before

    # The key that others must have in common with it.
    def key = @key ||= [@sql, @params.drop(@before).map { |value| value.is_a?(Integer) }]

    # True if the server would take each of them for what it is in the text.
    #
    # @param types [Array<Integer>] OIDs of the parameters
    def fit?(types)
      @params.each_index.all? { |at| at < @before || @params[at].is_a?(String) || NUMBERS.include?(types[at]) }
    end

    private

    def put_into(match, text)
      if match[:before] then match[:before] + parameter(match[:value])
      elsif match[:list] then match[:list] + match[:values].gsub(VALUE) { |value| parameter(value) }
      else text
      end
    end

    def parameter(value)
      @params << (value.start_with?("'") ? value[1...-1].gsub("''", "'") : value.to_i)
      "$#{@params.size}"
    end
  end
end

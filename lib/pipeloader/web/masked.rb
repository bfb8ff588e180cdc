# frozen_string_literal: true

module Pipeloader
  # Texts without the values that are written into them, which may be somebody's.
  #
  #     SELECT * FROM "users" WHERE "email" = 'a@b.c' LIMIT 10    -- becomes
  #     SELECT * FROM "users" WHERE "email" = '…' LIMIT …
  module Masked
    SQL_VALUE = %r{
      "(?:[^"]|"")*+"                                        # a name, which stays
      |(?<comment>(?<nested>/\*(?:[^*/]|\*(?!/)|/(?!\*)|\g<nested>)*+(?:\*/|\z))|--[^\r\n]*)
      |(?<string>\b[eE]'(?:[^'\\]|''|\\(?:.|\z)|'\s+')*+(?:'|\z)|'(?:[^']|'')*+(?:'|\z)
        |(?<![[:word:]$])\$(?<tag>(?:[a-zA-Z_]|[^\x00-\x7f])(?:\w|[^\x00-\x7f])*|)\$.*?(?:\$\k<tag>\$|\z))
      |(?<![[:word:]$.])(?<number>\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    }mx
    GRAPHQL_VALUE = /
      (?<string>"""(?:\\"""|.)*?(?:"""|\z)|"(?:\\(?:.|\z)|[^"\\\n])*+(?:"|$))
      |(?<comment>\#[^\n]*)
      |(?<![\w$])(?<number>-?\d[\w.]*(?:(?<=[eE])[+-]\d+)?)
    /mx
    # What EXPLAIN says in numbers of its own.
    PLAN_VALUE = /(?<figure>\(cost=[\d.]+ rows=\d+ width=\d+\)|\b(?:InitPlan|SubPlan|Planned:) \d+)|#{SQL_VALUE}/m
    private_constant :SQL_VALUE, :GRAPHQL_VALUE, :PLAN_VALUE

    class << self
      def sql(text) = mask(text, SQL_VALUE, "'…'", "/* … */")

      # @param text [String] as EXPLAIN tells it
      def plan(text) = mask(text, PLAN_VALUE, "'…'", "/* … */")

      # @param text [String] in which quotes may be around values as well as around names
      def message(text) = sql(text).gsub(/"[^"]*+(?:"|\z)/, '"…"')

      def graphql(text) = mask(text, GRAPHQL_VALUE, '"…"', "# …")

      # @return [String] that JSON takes
      def utf8(text)
        text = text.to_s
        text = text.dup.force_encoding(Encoding::UTF_8) if text.encoding == Encoding::BINARY
        text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
      end

      private

      def mask(text, pattern, string, comment)
        utf8(text).gsub(pattern) do |token|
          found = Regexp.last_match
          if found[:string] then string
          elsif found[:comment] then comment
          else found[:number] ? "…" : token
          end
        end
      end
    end
  end
end

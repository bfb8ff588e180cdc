# frozen_string_literal: true

module Pipeloader
  # SQL by which a statement leaves its rows' keys for those that follow it in the same transaction, as settings of that:
  #
  #     WITH pipeloader_level AS MATERIALIZED (
  #     SELECT "posts"."id", "posts"."author_id" FROM "posts" ORDER BY "posts"."id" LIMIT 3
  #     ) SELECT * FROM pipeloader_level WHERE
  #     (SELECT set_config('pipeloader.keys_1', …(array_agg(DISTINCT "author_id"::bigint)…)::text…, true) IS NOT NULL AND …
  #     FROM pipeloader_level)
  #
  # It runs once. So what follows has the keys of just these rows, whatever others write meanwhile, and whichever rows a LIMIT
  # without an order has chosen.
  module KeySettings
    class << self
      # @param sql [String] that brings the rows
      # @param columns [Hash{Array(String, String, String) => Integer}] which to leave: its quoted name and SQL type, and of which
      #   rows; and the setting's number
      # @param most [Integer] how many keys to leave at most: if there are more, whoever asks for them fails
      # @return [String] SQL that brings the same rows
      def leave(sql, columns, most)
        all = columns.map { |(column, type, only), number| setting(number, column, type, only, most) }
        "WITH pipeloader_level AS MATERIALIZED (\n#{sql}\n) SELECT * FROM pipeloader_level WHERE\n" \
          "(SELECT #{all.join(" AND\n")}\nFROM pipeloader_level)"
      end

      # The sub-select is evaluated once; the cast by itself would be evaluated for each row.
      #
      # @param type [String] SQL type of the keys
      # @return [String] +sql+, whose first parameter is the setting that has the keys, instead of these: so it is prepared once
      #   for all settings, and planned for any number of keys
      def read(sql, type)
        Shape.renumber(sql) { |index| index.zero? ? "(SELECT current_setting($1)::#{type}[])" : "$#{index + 1}" }
      end

      # @param number [Integer] of a setting
      def name(number) = "pipeloader.keys_#{number}"

      private

      # The server evaluates it before it brings the first row, and also where there is none.
      def setting(number, column, type, only, most)
        key = "#{column}::#{type}#{" COLLATE \"C\"" if type == "text"}"
        keys = "(array_agg(DISTINCT #{key}) FILTER (WHERE #{column} IS NOT NULL#{only}))"
        value = "CASE WHEN array_length(#{keys}, 1) > #{most} THEN 'too many' ELSE COALESCE(#{keys}::text, '{}') END"
        "set_config('#{name(number)}', #{value}, true) IS NOT NULL"
      end
    end
  end
end

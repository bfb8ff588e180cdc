# frozen_string_literal: true

module Pipeloader
  # SQL by which a statement leaves its rows' keys for those that follow it in the same transaction, as settings of that:
  #
  #     WITH pipeloader_level AS MATERIALIZED (
  #     SELECT "posts"."id", "posts"."author_id" FROM "posts" ORDER BY "posts"."id" LIMIT 3
  #     ) SELECT * FROM pipeloader_level WHERE
  #     (SELECT set_config('pipeloader.keys_1', …, true) IS NOT NULL FROM (SELECT DISTINCT "author_id" … FROM pipeloader_level) …)
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
        "WITH pipeloader_level AS MATERIALIZED (\n#{sql}\n) SELECT * FROM pipeloader_level WHERE #{all.join(" AND ")}"
      end

      # @return [String] +sql+, for the keys in a setting in place of its first parameter: without any, it is planned once
      def read(sql, number)
        Shape.renumber(sql) { |index| index.zero? ? "current_setting('#{name(number)}')" : "$#{index}" }
      end

      private

      # The server reckons it before it brings the first row, and where there is none, too.
      def setting(number, column, type, only, most)
        <<~SQL.chomp
          (SELECT set_config('#{name(number)}', pipeloader_keys, true) IS NOT NULL FROM
          (SELECT CASE WHEN count(*) > #{most} THEN 'too many' ELSE COALESCE(array_agg(pipeloader_key)::text, '{}') END
          AS pipeloader_keys FROM
          (SELECT DISTINCT #{column}::#{type}#{" COLLATE \"C\"" if type == "text"} AS pipeloader_key FROM pipeloader_level
          WHERE #{column} IS NOT NULL#{only} LIMIT #{most + 1}) AS pipeloader_each) AS pipeloader_all)
        SQL
      end

      def name(number) = "pipeloader.keys_#{number}"
    end
  end
end

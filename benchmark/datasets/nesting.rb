# frozen_string_literal: true

module Bench
  module Datasets
    # Items in items in items, each with a value that is read from another table.
    class Nesting < Dataset
      def models_module = ::Nesting
      def roots = { "items" => "FROM items WHERE parent_id IS NULL ORDER BY id LIMIT %<limit>d" }

      # 1,000 at the root, ten in each of the first 100 of these, ten in each of those in the first ten.
      def seed(connection)
        connection.execute(<<~SQL)
          CREATE TABLE readings (id bigserial PRIMARY KEY, value integer NOT NULL);
          CREATE TABLE items (id bigserial PRIMARY KEY, parent_id bigint, reading_id bigint NOT NULL);
          INSERT INTO readings (value) SELECT n * 10 FROM generate_series(1, 3000) n;
          INSERT INTO items (id, parent_id, reading_id)
          SELECT n, CASE WHEN n > 2000 THEN 1001 + (n - 2001) / 10 WHEN n > 1000 THEN 1 + (n - 1001) / 10 END, n
          FROM generate_series(1, 3000) n;
          CREATE INDEX ON items (parent_id);
          CREATE INDEX ON items (reading_id);
          ANALYZE readings, items;
        SQL
      end
    end
  end
end

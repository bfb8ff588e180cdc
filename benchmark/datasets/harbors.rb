# frozen_string_literal: true

module Bench
  module Datasets
    # Ferry connections between harbors, run by operators.
    class Harbors < Dataset
      def models_module = ::Harbors

      def roots = { "connections" => "FROM connections WHERE is_enabled ORDER BY name LIMIT %<limit>d" }

      # 400 connections, of which one in ten is disabled and one in 25 has no operator.
      def seed(connection)
        connection.execute(<<~SQL)
          CREATE TABLE harbors (id bigserial PRIMARY KEY, name text NOT NULL);
          CREATE TABLE operators (id bigserial PRIMARY KEY, brand_name text NOT NULL);
          CREATE TABLE connections (
            id bigserial PRIMARY KEY, name text NOT NULL, description text, is_enabled boolean NOT NULL, created_at timestamp NOT NULL,
            origin_id bigint REFERENCES harbors, destination_id bigint REFERENCES harbors, operator_id bigint REFERENCES operators);
          CREATE INDEX ON connections (name);
          INSERT INTO harbors (name) SELECT 'Harbor ' || n FROM generate_series(1, 120) n;
          INSERT INTO operators (brand_name) SELECT 'Line ' || n FROM generate_series(1, 15) n;
          INSERT INTO connections (name, description, is_enabled, created_at, origin_id, destination_id, operator_id)
          SELECT 'Connection ' || lpad((n * 7919 % 400)::text, 3, '0'), 'From here to there, ' || repeat('calm sea ', 5) || n, n % 10 <> 0,
                 timestamp '2026-01-01' + n * interval '1 hour', 1 + n * 31 % 120, 1 + n * 57 % 120,
                 CASE WHEN n % 25 <> 0 THEN 1 + n % 15 END
          FROM generate_series(1, 400) n;
          ANALYZE harbors, operators, connections;
        SQL
      end
    end
  end
end

# frozen_string_literal: true

require_relative "wire_case"

# Functions and tables that show what a statement did, and a pool of a test's own.
class MeaningCase < WireCase
  def setup
    super
    side.exec(<<~SQL)
      DROP TABLE IF EXISTS journal; DROP SEQUENCE IF EXISTS numbers;
      CREATE SEQUENCE numbers; CREATE TABLE journal (id serial PRIMARY KEY, line text);
      CREATE OR REPLACE FUNCTION enter(line text) RETURNS bigint LANGUAGE sql VOLATILE AS
        $$ INSERT INTO journal (line) VALUES ($1); SELECT count(*) FROM journal $$;
      CREATE OR REPLACE FUNCTION note(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE NOTICE '%', $1; RETURN $1; END $$;
      CREATE OR REPLACE FUNCTION warning(text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING '%', $1; RETURN $1; END $$
    SQL
    connect_gated(min_messages: "error")
  end

  def teardown
    release
    assert_pool_sound(Gated.connection_pool)
    super
  end

  private

  def select(sql) = Gated.with_connection { |connection| connection.select_rows(sql) }.then { |rows| rows.size == 1 && rows.first.size == 1 ? rows.first.first : rows }
  def states(outcomes) = outcomes.map { |outcome| outcome.is_a?(Failure) ? outcome.sqlstate : outcome }
  def cached(really, &block) = really ? Gated.cache(&block) : yield
end

# frozen_string_literal: true

require_relative "test_helper"

# The promise of the gem, by example: every query through a schema without Pipeloader and the same schema with it. The
# answers are the same bytes, and the second takes as many round trips as the query's tree is deep.
class AnswerTest < PipeloaderTest
  # @param trips [Integer, nil] round trips that the schema with Pipeloader takes; nil where it isn't ours to say
  # @param errors [Integer] how many the answer has
  # @return [Hash] the answer
  def assert_answer(trips, query, schemas = Schemas.pair, errors: 0, **options)
    piped = nil
    plain = schemas.first.execute(query, **copy(options)).to_h
    trips ||= WireCounter.trips { schemas.last.execute(query, **copy(options)) }.size
    assert_round_trips(trips, query) { piped = schemas.last.execute(query, **copy(options)).to_h }
    assert_equal JSON.generate(plain), JSON.generate(piped)
    assert_errors errors, piped.fetch("errors", []).size, piped["errors"].inspect
    piped
  end

  # Where Execution::Next itself asks for one object after the other: resolve_type, scalars, lazy values in a list, tracers.
  def serial_on_next(trips) = Engine::NEXT ? nil : trips

  # Execution::Next reports one error for all objects of a field, or one for each, where the Interpreter does it otherwise.
  def assert_errors(expected, actual, message)
    Engine::NEXT ? assert_equal(expected.zero?, actual.zero?, message) : assert_equal(expected, actual, message)
  end

  # Both schemas raise the same.
  def assert_same_error(query, schemas = Schemas.pair, **options)
    plain, piped = schemas.map { |schema| assert_raises(StandardError) { schema.execute(query, **copy(options)) } }
    assert_equal [plain.class, plain.message], [piped.class, piped.message]
    piped
  end

  # Runs the block and puts the tables back as they were when the tests began. The sequences begin anew before it, too:
  # a test that rolled back may have drawn from them.
  def restoring
    Seed::TABLES.each { |table| ActiveRecord::Base.connection.reset_pk_sequence!(table) }
    yield
  ensure
    restore
  end

  def restore
    ActiveRecord::Base.connection.execute("TRUNCATE #{Seed::TABLES.join(", ")} RESTART IDENTITY")
    Audit.connection.execute("TRUNCATE audits RESTART IDENTITY")
    Seed.load
  end

  # @return [Array<Integer>] for each burst of the block the number of its reads
  def bursts(&block) = WireCounter.events("burst.pipeloader", &block).map { |payload| payload[:reads].size }

  # @return [Array<String>] SQL of what went alone, and not with a burst
  def alone(&block)
    WireCounter.events("sql.active_record", &block)
               .reject { |payload| payload.key?(:pipeloader) || payload[:cached] || %w[SCHEMA TRANSACTION].include?(payload[:name]) }
               .map { |payload| payload[:sql] }
  end

  # A root type whose fields the block defines.
  def query_type(base = Schemas::Query, &block)
    Class.new(base) do
      graphql_name "Query"
      class_eval(&block)
    end
  end

  # A type of Schemas with more in it.
  def type(base = GraphQL::Schema::Object, name = "Special#{base.graphql_name}", &block)
    Class.new(base) do
      graphql_name name
      class_eval(&block)
    end
  end

  # Before 2.5.12, graphql-ruby resolved lazy values one by one, after everything else.
  def trips_with_lazies(count) = GraphQL::Dataloader.method_defined?(:lazy_at_depth) ? count : nil

  private

  def copy(options) = options.transform_values { |it| it.is_a?(Hash) ? it.dup : it }
end

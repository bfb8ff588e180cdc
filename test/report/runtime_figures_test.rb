# frozen_string_literal: true

require_relative "../support/answers"

# What Rails' log says of a request: "ActiveRecord: 46.0ms (10 queries, 2 cached)". Each schema is compared with what its bursts say,
# or with the plain one where it sends the same statements.
class RuntimeFiguresTest < AnswerTest
  QUERY = "{ posts { title author { name } comments { body } } }"
  PARKED = Schemas.parked.last

  # @return [Array(Float, Integer, Integer)] milliseconds, queries, and cached ones, as ActiveRecord::Railties::ControllerRuntime reads
  #   them
  def figures
    registry = ActiveRecord::RuntimeRegistry
    registry.reset
    yield
    registry = registry.stats if registry.respond_to?(:stats)
    [registry.sql_runtime, registry.queries_count, registry.cached_queries_count]
  end

  # @return [Array(Integer, Integer)] queries and cached ones
  def counts(&) = figures(&).drop(1)

  # @return [Float] how long the block took, in milliseconds
  def milliseconds
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
    yield
    Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond) - began
  end

  # @return [Array<Integer>] statements of each burst
  def statements(&block) = WireCounter.events("burst.pipeloader", &block).map { |payload| payload[:statements] }

  def setup
    take_first_alias
    2.times { [*Schemas.parked, *Schemas.pair].each { |schema| schema.execute(QUERY) } }
  end

  def test_statements_as_sent
    [PARKED, Schemas.pair.last].each do |schema|
      counted = nil
      sent = statements { counted = counts { schema.execute(QUERY) } }
      assert_equal [sent.sum, 0], counted
      assert_operator sent.sum, :<, 22
    end
    assert_equal [22, 0], counts { Schemas.parked.first.execute(QUERY) }
  end

  # The server sleeps for reads that go together, which ActiveRecord's own events of them don't contain.
  def test_waiting_for_a_burst
    sleeping = ->(index) { Post.where("pg_sleep(0.02) IS NOT NULL AND id = ?", index + 1).pluck(:id) }
    _, piped = query_of(3, &sleeping)
    time = nil
    took = milliseconds { time, = figures { piped.execute("{ f0 f1 f2 }") } }
    assert_operator time, :>=, 60
    assert_operator time, :<=, took
  end

  def test_a_lone_read
    lone = ->(*) { Post.where("pg_sleep(0.02) IS NOT NULL AND id = 1").pluck(:id) }
    plain, piped = query_of(1, &lone)
    2.times { piped.execute("{ f0 }") }
    [plain, piped].each do |schema|
      time, queries, cached = nil
      took = milliseconds { time, queries, cached = figures { schema.execute("{ f0 }") } }
      assert_equal [1, 0], [queries, cached]
      assert_operator time, :>=, 20
      assert_operator time, :<=, took
    end
  end

  # Of two equal reads one is sent, and the query cache answers the other, as in a serial run.
  def test_cached_queries
    both = query_of(3) { |index| [Post.where(id: 1 + (index / 2)).count, Post.where(id: 1).count] }
    plain, piped = both.map { |schema| counts { ActiveRecord::Base.cache { schema.execute("{ f0 f1 f2 }") } } }
    assert_equal plain.last, piped.last
    assert_operator piped.first, :<=, plain.first
    assert_operator piped.last, :>, 2
  end

  # Also for ActiveRecord: each read was sent, in the same burst.
  def test_a_read_that_fails
    both = query_of(3) do |index|
      Post.where(index == 1 ? "no_such_column = 1" : { id: index }).load.size
    rescue ActiveRecord::StatementInvalid
      -1
    end
    plain, piped = both.map { |schema| counts { schema.execute("{ f0 f1 f2 }") } }
    assert_equal [[3, 0], [3, 0]], [plain, piped]
  end

  # What is gathered when somebody writes is sent within the event of what is written; transactions have events of their own, but
  # are no queries.
  def test_a_write_with_reads_gathered
    both = query_of(3) do |index|
      index == 2 ? Post.where(id: 1).update_all("likes = likes") : Post.where("pg_sleep(0.02) IS NOT NULL AND id = ?", index + 1).count
    end
    restoring do
      both.each do |schema|
        time, queries, cached = nil
        took = milliseconds { time, queries, cached = figures { schema.execute("{ f0 f1 f2 }") } }
        assert_equal [3, 0], [queries, cached]
        assert_operator time, :<=, took
        assert_operator time, :>=, 40
      end
    end
  end

  def test_in_a_transaction
    time = queries = took = nil
    sent = statements { Post.transaction { took = milliseconds { time, queries = figures { PARKED.execute(QUERY) } } } }
    assert_equal sent.sum, queries
    assert_operator time, :<=, took
  end

  # It, too, is ActiveRecord's time, within the burst's.
  def test_a_connection_that_is_made
    time = nil
    _, piped = query_of(2) { |index| Post.where(id: index).count }
    piped.execute("{ f0 f1 }")
    ActiveRecord::Base.connection.disconnect!
    took = milliseconds { time, = figures { piped.execute("{ f0 f1 }") } }
    assert_operator time, :<=, took
    assert_operator time, :>, 0
  end

  def test_mutations
    mutation = "mutation { like(id: 1) { title author { name } comments { body } } }"
    restoring do
      counted = nil
      sent = WireCounter.events("burst.pipeloader") do
        alone { counted = counts { PARKED.execute(mutation) } }.size.then { |count| assert_operator count, :>=, 1 }
      end.sum { |payload| payload[:statements] }
      assert_operator counted.first, :>, sent - 1
      assert_operator counted.first, :<=, counts { Schemas.parked.first.execute(mutation) }.first
    end
  end

  # A subscriber that reads for itself is counted as ever.
  def test_a_subscriber_that_reads
    reads = 0
    reader = lambda do |*, payload|
      next if payload[:name] != "User Load" || payload[:sql].include?("nobody")

      reads += 1
      User.find_by("name = 'nobody'")
    end
    sent = counted = nil
    ActiveSupport::Notifications.subscribed(reader, "sql.active_record") do
      sent = statements { counted = counts { PARKED.execute(QUERY) } }
    end
    assert_equal 9, reads
    assert_equal sent.sum, counted.first
  end

  def test_under_fiber_isolation
    isolate_by(:fiber)
    counted = nil
    sent = statements { counted = counts { PARKED.execute(QUERY) } }
    assert_equal [sent.sum, 0], counted
  end

  private

  # @return [Array(Class, Class)] schemas whose fields f0, f1, … say what the block returns for 0, 1, …
  def query_of(fields, &block)
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      fields.times do |index|
        field :"f#{index}", String
        define_method(:"f#{index}") { block.call(index).to_s }
      end
    end
    Schemas.make(query: query, mutation: nil, pipeloader: { compile: false, forecast: false })
  end
end

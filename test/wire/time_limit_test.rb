# frozen_string_literal: true

require_relative "wire_case"

# GraphQL::Schema::Timeout ends a level, as it ends a serial run between two fields.
class TimeLimitTest < WireCase
  FIELDS = 8
  SECONDS = 0.3

  # That notes what it is told.
  class Noting < GraphQL::Schema::Timeout
    def handle_timeout(error, query)
      query.context[:told] << [error.message, GraphQL::Current.field&.path]
      disable_timeout(query) if query.context[:disable]
    end
  end

  class Cancelling < Noting
    def pipeloader_cancel?(_query) = true
  end

  # What hangs without the mend fails.
  def setup
    super
    Gated.establish_connection(TestDatabase.hash(variables: { statement_timeout: 20_000 }))
    side(:never).exec("SELECT pg_advisory_lock(72)")
    Gated.with_connection { |connection| connection.select_value("SELECT 1") }
  end

  def test_what_runs_ends_and_the_rest_gets_the_error
    plain, piped = both { |index| index.zero? ? wait_for(71) : wait_for(72) }
    assert_equal plain.slice(:response, :told), piped.slice(:response, :told)
    assert_equal (1...FIELDS).map { |index| "Timeout on Query.f#{index}" }, piped[:response]["errors"].map { |it| it["message"] }
    assert_equal "f0", piped[:response]["data"]["f0"]
    assert_equal 1, piped[:told].size, "handle_timeout is called once"
  end

  def test_what_runs_may_read_on
    plain, piped = both do |index|
      index.zero? ? wait_for(71) && wait_for(73) && wait_for(73) : wait_for(72)
    end
    assert_equal plain.slice(:response, :told), piped.slice(:response, :told)
    assert_equal "f0", piped[:response]["data"]["f0"]
  end

  def test_in_a_transaction_nothing_is_cancelled
    plain, piped = both(around: ->(&run) { rolled_back { [run.call, Gated.lease_connection.select_value("SELECT 'goes on'")] } }) do |index|
      index.zero? ? wait_for(71) : select("SELECT #{index}")
    end
    assert_equal plain.last, piped.last
    assert_equal "goes on", piped.last
    assert_equal "f0", piped.first[:response]["data"]["f0"]
    assert_operator piped.first[:sent], :<, FIELDS
  end

  def test_cancelled_where_the_timeout_says_so
    result = execute(schema_with(true, Cancelling)) { wait_for(72) }
    assert_equal FIELDS, result[:response]["errors"].size
    assert_equal "Timeout on Query.f0", result[:response]["errors"].first["message"]
  end

  if GraphQL::Schema::Timeout.method_defined?(:disable_timeout) # graphql 2.5.2 has none
    def test_handle_timeout_may_disable_it
      plain, piped = both(disable: true) { |index| index.zero? ? wait_for(71) : wait_for(73) }
      assert_equal plain[:response], piped[:response]
      assert_nil piped[:response]["errors"]
    end
  end

  def test_without_a_limit_for_the_query
    unlimited = Class.new(GraphQL::Schema::Timeout) { def max_seconds(_query) = false }
    result = execute(schema_with(true, unlimited)) { |index| index.zero? ? wait_for(71) : wait_for(73) }
    assert_nil result[:response]["errors"]
  end

  # What another connection has answered by then, is waited for no more.
  def test_the_rest_of_another_connection_is_waited_for
    waits = 0
    result = nil
    TracePoint.new(:call) { |call| waits += 1 if call.method_id == :for_any }.enable(target_thread: Thread.current) do
      result = execute(schema_with(true, Noting)) { |index| index == 1 ? wait_for(71) : Post.with_connection { |connection| connection.select_value("SELECT #{index}") } }
    end
    assert_equal "f1", result[:response]["data"]["f1"]
    assert_operator waits, :<, 100
  end

  def test_timeout_around_execute
    error = assert_raises(Timeout::Error) do
      Timeout.timeout(SECONDS) { execute(schema_with(true, nil)) { wait_for(72) } }
    end
    assert_match(/execution expired/, error.message)
    assert_equal "1", Gated.with_connection { |connection| connection.select_value("SELECT '1'") }
    assert_pool_sound(Gated.connection_pool)
  end

  private

  # Waits until nobody holds the lock: 71 until the time is up, 72 for ever.
  def wait_for(lock) = select("SELECT 'locked' FROM pg_advisory_xact_lock(#{lock})")

  def select(sql = "SELECT 'read'") = Gated.with_connection { |connection| connection.select_value(sql) }

  # Without Pipeloader and with it.
  def both(around: ->(&run) { run.call }, **context, &block)
    [false, true].map do |piped|
      context[:told] = []
      around.call { execute(schema_with(piped, Noting), context: context, &block) }
    end
  end

  def execute(schema, context: { told: [] }, &resolver)
    context = context.merge(resolver: resolver)
    side(:lock).exec("SELECT pg_advisory_lock(71)")
    releaser = in_thread do
      at = now + SECONDS + 0.05
      sleep(0.01) until now > at
      side(:lock).exec("SELECT pg_advisory_unlock(71)")
    end
    sent = 0
    count = ->(*, payload) { sent += payload[:statements] }
    response = ActiveSupport::Notifications.subscribed(count, "burst.pipeloader") do
      schema.execute("{ #{Array.new(FIELDS) { |index| "f#{index}" }.join(" ")} }", context: context).to_h
    end
    releaser.join
    { response: response, told: context[:told], sent: sent }
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  @@schemas = {}

  def schema_with(piped, timeout)
    @@schemas[[piped, timeout]] ||= begin
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        FIELDS.times do |index|
          field :"f#{index}", String
          define_method(:"f#{index}") do
            context[:resolver].call(index)
            "f#{index}"
          end
        end
      end
      Class.new(GraphQL::Schema) do
        query(query)
        use(Pipeloader) if piped
        use(timeout, max_seconds: SECONDS) if timeout
        validate_timeout(nil)
      end
    end
  end
end

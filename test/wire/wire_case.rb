# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/replaced_constant"
require_relative "gate"

# Where a thread is struck while it loads a file for a constant, Ruby 3.1 crashes, or others wait for that file for ever.
[ActiveRecord, (GraphQL if GraphQL.respond_to?(:eager_load!))].compact.each(&:eager_load!)

# What the tests in this folder share: a hang becomes a failure that shows where everybody waited; nothing waits by the
# clock, but for a lock that another session holds (`table_locked`, `advisory_locked`) or at a Gate.
class WireCase < PipeloaderTest
  include ReplacedConstant

  # Seconds that a test may take before it counts as hanging.
  LIMIT = Integer(ENV.fetch("PIPELOADER_TEST_LIMIT", 180))

  class Hang < Exception; end # rubocop:disable Lint/InheritException -- nobody's `rescue => e` is to swallow it

  # What interrupts.
  class Stop < Exception; end # rubocop:disable Lint/InheritException

  # A failure as a caller sees it, without what may rightly differ: backtrace, connection, names of prepared statements.
  Failure = Struct.new(:class_name, :message, :cause, :sqlstate, :sql, :binds) do
    def self.of(error)
      result = error.cause.respond_to?(:result) ? error.cause.result : nil
      new(error.class.name, error.message.gsub(/"a\d+"/, '"a…"'), error.cause&.class&.name, result&.error_field(PG::PG_DIAG_SQLSTATE),
          (error.sql if error.respond_to?(:sql)), (error.binds&.map { |bind| bind.respond_to?(:value) ? bind.value : bind } if error.respond_to?(:binds)))
    end
  end

  # A pool of its own, before which a test may put a Gate, or which it may give other settings.
  class Gated < ActiveRecord::Base
    self.abstract_class = true
  end

  class GatedPost < Gated
    self.table_name = "posts"
  end

  # Every name that is prepared, by server process: a name must mean one statement for as long as the connection lives.
  module Names
    @prepared = Hash.new { |names, pid| names[pid] = [] }
    class << self
      attr_reader :prepared
    end

    def prepare(name, ...) = super.tap { Names.prepared[backend_pid] << name }
    # (One without a name is only described; the next one takes its place.)
    def send_prepare(name, ...) = super.tap { Names.prepared[backend_pid] << name unless name.empty? }
  end
  PG::Connection.prepend(Names)

  # @param options [Hash] of `use Pipeloader`; nil for a plain schema
  # @param errors [Array<Class>] that become their fields' errors
  def self.schema_of(query, mutation, options, errors)
    Class.new(GraphQL::Schema) do
      query(query)
      mutation(mutation)
      use(GraphQL::Dataloader)
      use(Pipeloader, **options) if options
      validate_timeout(nil)
      rescue_from(*errors) { |error| raise GraphQL::ExecutionError, error.message }
    end
  end

  def run
    tested = Thread.current
    watchdog = Thread.new do
      sleep(LIMIT)
      tested.raise(Hang, "#{LIMIT} s, and not done:\n#{backtraces}")
      sleep(20)
      $stderr.puts "#{self.class}##{name} hangs where it can't be interrupted:\n#{backtraces}"
      exit!(1)
    end
    super
  ensure
    watchdog.kill
  end

  def setup
    super
    # What an earlier test's main thread has leased for good is not this one's leak.
    ActiveRecord::Base.connection_handler.each_connection_pool(&:release_connection)
    Names.prepared.clear
  end

  def teardown
    Names.prepared.each_value { |names| assert_empty(names.tally.select { |_, times| times > 1 }, "a name was used twice") }
    Gated.remove_connection
    drop_broken
    @threads&.each(&:kill)&.each { |thread| ended?(thread) }
    @gates&.each(&:close)
    @sides&.each_value(&:close)
    super
  end

  private

  # -- resolvers -------------------------------------------------------------------------------------------------------

  # Runs the block as resolver of +fields+ sibling fields, in one response.
  #
  # @return [Array] what it returned in each, or the Failure for what it raised
  def resolve(piped, fields, context: {})
    outcomes = Array.new(fields)
    resolver = lambda do |index|
      outcomes[index] = yield(index)
    rescue NameError # this test's own
      raise
    rescue StandardError => e
      @errors&.push(e)
      outcomes[index] = Failure.of(e)
    end
    schema(piped, fields).execute("{ #{Array.new(fields) { |index| "f#{index}" }.join(" ")} }", context: { **context, resolver: resolver })
    outcomes
  end

  # As #resolve, by the schema without Pipeloader and by the one with it; what they say must be equal.
  #
  # @return [Array] what it is
  def assert_resolves_alike(fields, message = nil, around: ->(&run) { run.call }, &block)
    plain, piped = [false, true].map { |with| around.call { resolve(with, fields, &block) } }
    assert_equal plain, piped, message
    piped
  end

  # The block runs without Pipeloader and with it; what it returns must be equal.
  #
  # @return what it is
  def assert_alike(message = nil)
    plain, piped = [false, true].map { |with| yield(with).tap { release } }
    assert_equal plain, piped, message
    piped
  end

  # What `use Pipeloader` is given.
  def options = {}

  @@schemas = {} # {[fields, options, or nil without Pipeloader] => schema}

  def schema(piped, fields)
    @@schemas[[fields, (options if piped)]] ||= begin
      given = options
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        fields.times do |index|
          field :"f#{index}", String
          define_method(:"f#{index}") do
            context[:resolver].call(index)
            "done"
          end
        end
      end
      Class.new(GraphQL::Schema) do
        query(query)
        use(Pipeloader, **given) if piped
        # By Timeout, which leaves its timer running if its thread is struck on the way into the block.
        validate_timeout(nil)
      end
    end
  end

  # How many rounds a test makes that tries points or chances; PIPELOADER_ROUNDS asks for more.
  def rounds(default) = Integer(ENV.fetch("PIPELOADER_ROUNDS", default))

  def seed = Integer(ENV.fetch("PIPELOADER_SEED", Minitest.seed))

  # -- other sessions --------------------------------------------------------------------------------------------------

  # A connection outside ActiveRecord, closed when the test ends.
  def side(name = :side)
    (@sides ||= {})[name] ||= TestDatabase.connect.tap { |connection| connection.exec("SET client_min_messages = warning") }
  end

  # While the block runs, reads of +table+ wait.
  def table_locked(table)
    side(:lock).exec("BEGIN; LOCK TABLE #{table} IN ACCESS EXCLUSIVE MODE")
    yield
  ensure
    side(:lock).exec("ROLLBACK")
  end

  # While the block runs, `SELECT pg_advisory_xact_lock(key)` waits.
  def advisory_locked(key)
    side(:lock).exec("SELECT pg_advisory_lock(#{key})")
    yield
  ensure
    side(:lock).exec("SELECT pg_advisory_unlock(#{key})")
  end

  # Returns when a backend waits for a lock that we hold.
  #
  # @return [Integer] its process id
  def await_waiter
    loop do
      pid = side(:monitor).exec(<<~SQL).values.flatten.first
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
      SQL
      return Integer(pid) if pid
    end
  end

  # Returns when that backend is gone: a signal to it is no more than a wish.
  def terminate(pid)
    side(:monitor).exec("SELECT pg_terminate_backend(#{pid})")
    loop { break if side(:monitor).exec("SELECT 1 FROM pg_stat_activity WHERE pid = #{pid}").ntuples.zero? }
  end

  def backend_pid(model = ActiveRecord::Base) = model.with_connection { |connection| connection.select_value("SELECT pg_backend_pid()") }

  # Gated reads go through a gate from here on.
  #
  # @return [Gate]
  def put_gate(**settings)
    gate = gate(**PrivateCluster.tcp_hash.slice(:host, :port))
    connect_gated(host: "127.0.0.1", port: gate.port, sslmode: "disable", gssencmode: "disable", **settings)
    gate
  end

  def connect_gated(**settings)
    Gated.establish_connection(TestDatabase.hash(**settings))
    GatedPost.find(1) # whatever ActiveRecord wants to know of a table, it knows now
  end

  def gate(**target) = (@gates ||= []).push(Gate.new(**target)).last

  # A thread that ends with the test.
  def in_thread(&block)
    thread = Thread.new(&block)
    thread.report_on_exception = false
    (@threads ||= []) << thread
    thread
  end

  # A thread that begins when its `wakeup_gate` is called.
  def waiting_thread
    start = Queue.new
    thread = in_thread do
      start.pop
      yield
    ensure
      release
    end
    thread.define_singleton_method(:wakeup_gate) { start << true }
    thread
  end

  # Waits for the end of +thread+, whatever the end was.
  def ended?(thread)
    !thread.join(10).nil?
  rescue Exception # rubocop:disable Lint/RescueException
    true
  end

  # -- transactions and tables -----------------------------------------------------------------------------------------

  def rolled_back(model = Gated) = super

  def rolled_back_if(really, &block) = really ? rolled_back(&block) : yield

  # A table whose columns may change.
  def make_shifting
    side.exec("DROP TABLE IF EXISTS shifting; CREATE TABLE shifting (id int, extra int); INSERT INTO shifting VALUES (1, 10), (2, 20)")
  end

  # -- the pool --------------------------------------------------------------------------------------------------------

  # Every connection is idle, out of pipeline mode and at home; and what it answers is what it is asked.
  def assert_pool_sound(pool = ActiveRecord::Base.connection_pool, message = nil)
    stat = pool.stat
    assert_equal [0, 0], [stat[:busy], stat[:dead]], "connections checked out: #{stat} #{message}"
    pool.connections.each do |adapter|
      connection = raw(adapter)
      next if connection.nil? || connection.finished? || connection.status != PG::CONNECTION_OK # one given up is closed

      adapter.pipeloader_session.read_transaction&.await_end(connection) # which the next user does
      assert_equal PG::PQ_PIPELINE_OFF, connection.pipeline_status, "pipeline mode is on #{message}"
      assert_equal PG::PQTRANS_IDLE, connection.transaction_status, "not idle #{message}"
      refute_predicate adapter.pipeloader_session, :gathering?, "reads are left gathered #{message}"
    end
  end

  # For the next test: with pg 1.5.0, whose error is another one, ActiveRecord doesn't reconnect for a BEGIN that comes first on
  # a connection known to have broken; nor for one that was killed a moment ago, as it was alive a moment before that.
  # (What was used within two seconds, ActiveRecord takes for sound.)
  def drop_broken
    adapters = ActiveRecord::Base.connection_handler.each_connection_pool.flat_map(&:connections)
    adapters.each { |adapter| adapter.disconnect! if raw(adapter) && !adapter.active? }
  end

  # Connections that no pool knows of any more are ended, if by nothing else, by the garbage collector.
  def assert_no_stray_backends
    strays = server_pids - known_pids
    20.times do
      break if strays.empty?

      GC.start
      strays = server_pids - known_pids
    end
    assert_empty strays, "connections that nobody knows of"
  end

  def server_pids
    side(:monitor).exec("SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'").values.flatten.map(&:to_i)
  end

  # (Other tests' models have pools of their own.)
  def known_pids
    pools = ActiveRecord::Base.connection_handler.each_connection_pool.to_a
    connections = pools.flat_map(&:connections).map { |adapter| raw(adapter) }.grep(PG::Connection) # (or SQLite's)
    [*connections, *@sides.values].reject { |it| it.finished? || it.status != PG::CONNECTION_OK }.map(&:backend_pid)
  end

  # Without the mark that `raw_connection` leaves: ActiveRecord then no longer reconnects by itself.
  def raw(adapter) = adapter.instance_variable_get(:@raw_connection)

  # Gives the connection back that test code may have leased for good.
  def release = ActiveRecord::Base.connection_handler.clear_active_connections!(:all)

  def backtraces
    Thread.list.map { |thread| "#{thread.inspect}\n  #{thread.backtrace&.first(40)&.join("\n  ")}" }.join("\n")
  end
end

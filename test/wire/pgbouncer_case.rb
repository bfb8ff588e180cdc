# frozen_string_literal: true

require_relative "wire_case"
require_relative "../support/bouncer"

# A PgBouncer in transaction mode between us and the server: the server connection may be another one after each
# transaction, and there are fewer of them than clients.
class PgbouncerCase < WireCase
  SERVERS = 2

  class << self
    # One for all tests that need no settings of their own.
    def bouncer = @bouncer ||= Bouncer.new(pool_size: SERVERS)
  end

  def setup
    super
    through(PgbouncerCase.bouncer)
  end

  def teardown
    assert_pool_sound(Gated.connection_pool)
  ensure
    @holders&.each(&:close)
    release
    Gated.remove_connection
    @bouncer&.stop unless @bouncer.equal?(PgbouncerCase.bouncer)
    # What one test leaves to the server connections, the next must not find.
    PgbouncerCase.bouncer.admin("RECONNECT")
    super
  end

  private

  # Cancelled on the server, though the lock that it waits for is still held.
  def assert_interrupted_in_a_burst
    thread = waiting_thread do
      GatedPost.with_connection do |connection|
        begin
          resolve(true, 5) { |index| index.odd? ? value("SELECT #{index} FROM pg_advisory_xact_lock(81)") : GatedPost.find(index + 1).title }
        rescue Stop
          [raw(connection).status, raw(connection).pipeline_status, resolve(true, 7) { |index| form(index) }]
        end
      end
    end
    advisory_locked(81) do
      thread.wakeup_gate
      await_waiter
      thread.raise(Stop, "enough")
      assert_equal [PG::CONNECTION_OK, PG::PQ_PIPELINE_OFF, expected_forms], thread.value
      await_no_waiter # cancelled, though the lock is still held
    end
  end

  attr_reader :bouncer

  def through(bouncer, prepared_statements: false, **settings)
    @bouncer&.stop unless @bouncer.equal?(PgbouncerCase.bouncer) || @bouncer.equal?(bouncer)
    @bouncer = bouncer
    connect_gated(**bouncer.hash, prepared_statements: prepared_statements, **settings)
    # The pool's first connection asks for what isn't to be counted.
    Gated.with_connection(&:schema_search_path)
  end

  def value(sql) = Gated.with_connection { |connection| connection.select_value(sql) }

  # The server process that is behind PgBouncer now.
  def server = value("SELECT pg_backend_pid()")

  # Reads of seven shapes; the last two aren't parked in one level.
  def form(index)
    case index
    when 0 then GatedPost.find(1).title
    when 1 then GatedPost.find_by(title: "post 2").id
    when 2 then GatedPost.where(id: 3).pick(:title)
    when 3 then GatedPost.order(:id).limit(2).map(&:title)
    when 4 then GatedPost.where(id: 1..7).count
    when 5 then [GatedPost.find(4).title, GatedPost.exists?(id: 100)]
    else GatedPost.transaction { GatedPost.find(5).title }
    end
  end

  def expected_forms = ["post 1", 2, "post 3", ["post 1", "post 2"], 7, ["post 4", false], "post 5"]

  # SQLSTATEs of failures, values of the rest.
  def states(outcomes) = outcomes.map { |outcome| outcome.is_a?(Failure) ? outcome.sqlstate : outcome }

  # While the block runs, the server connection that was used last is somebody else's.
  def on_another_server
    holder = hold_a_server
    yield
  ensure
    holder&.exec("ROLLBACK")
    holder&.close
    @holders&.delete(holder)
  end

  def hold_a_server
    holder = bouncer.connect
    holder.exec("BEGIN")
    (@holders ||= []) << holder
    holder
  end

  def await_no_waiter
    waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'"
    Thread.pass until side(:monitor).exec(waiting).ntuples.zero?
  end

  def assert_many_threads(count)
    warm(count)
    threads = Array.new(count) do |number|
      random = Random.new(seed + number)
      in_thread { Array.new(rounds(10)) { request(random) } }
    end
    threads.each { |thread| thread.value.each { |outcomes, expected| assert_equal expected, outcomes } }
  end

  # As many connections as there are threads, connected and configured.
  def warm(count)
    pool = Gated.connection_pool
    Array.new(count) { pool.checkout.tap(&:connect!) }.each { |adapter| pool.checkin(adapter) }
  end

  # @return [Array, Array] what a request answered, what it should have
  def request(random)
    number = random.rand(1 << 40)
    id = random.rand(1..12)
    reads = [
      [-> { value("SELECT #{number}") }, number],
      [-> { GatedPost.find(id).title }, "post #{id}"],
      [-> { GatedPost.where(id: id).count }, 1],
      [-> { GatedPost.transaction { [GatedPost.find(id).id, value("SELECT #{number + 1}")] } }, [id, number + 1]],
      [-> { GatedPost.find_by(title: "none #{number}") }, nil],
      [-> { value("SELECT #{number} / 0") }, "22012"],
      [-> { value("SELECT repeat('#{number % 10}', 100000)")[-1] }, (number % 10).to_s],
      [-> { [GatedPost.find(id).title, GatedPost.find((id % 12) + 1).title] }, ["post #{id}", "post #{(id % 12) + 1}"]]
    ].sample(random.rand(1..6), random: random)
    [states(resolve(true, reads.size) { |index| reads[index].first.call }), reads.map(&:last)]
  end
end

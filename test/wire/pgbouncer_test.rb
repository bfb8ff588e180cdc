# frozen_string_literal: true

require_relative "pgbouncer_case"

# Unprepared statements through PgBouncer, as ActiveRecord wants it.
class PgbouncerTest < PgbouncerCase
  # -- unprepared ------------------------------------------------------------------------------------------------------

  def test_a_level_is_a_round_trip
    outcomes = assert_resolves_alike(7) { |index| form(index) }
    assert_equal "post 1", outcomes.first
    assert_round_trips(2) { resolve(true, 4) { |index| [GatedPost.find(index + 1).title, GatedPost.find(index + 2).title] } }
  end

  # Not even where the caller holds that it could be prepared.
  def test_no_names_are_left_on_the_server
    bind = ActiveRecord::Relation::QueryAttribute.new("id", 2, ActiveModel::Type::Integer.new)
    outcomes = assert_resolves_alike(8) do |index|
      next form(index) if index < 7

      Gated.with_connection { |connection| connection.select_all("SELECT title FROM posts WHERE id = $1", "Post", [bind], preparable: true).rows }
    end
    assert_equal [["post 2"]], outcomes.last
    assert_equal 0, value("SELECT count(*) FROM pg_prepared_statements")
  end

  def test_errors_in_a_burst
    sqls = ["SELECT 1", "SELECT 1 / 0", "SELECT nothing", "SELEC", "SELECT 'x'::int", "SELECT 2"]
    outcomes = assert_resolves_alike(sqls.size) { |index| value(sqls[index]) }
    assert_equal [1, "22012", "42703", "42601", "22P02", 2], states(outcomes)
  end

  def test_a_response_in_a_transaction
    outcomes = assert_resolves_alike(3, around: ->(&run) { GatedPost.transaction { run.call } }) do |index|
      transactions = Array.new(2) { value("SELECT txid_current()") }
      [transactions.uniq.size, GatedPost.find(index + 1).title]
    end
    assert_equal [[1, "post 1"], [1, "post 2"], [1, "post 3"]], outcomes
  end

  def test_an_error_in_a_transaction
    outcomes = assert_resolves_alike(3, around: ->(&run) { rolled_back(&run) }) { |index| value(index == 1 ? "SELECT 1 / 0" : "SELECT #{index}") }
    assert_equal [0, "22012", "25P02"], states(outcomes)
  end

  def test_transactions_of_resolvers
    outcomes = assert_resolves_alike(4) do |index|
      before = GatedPost.find(index + 1).likes
      inside = rolled_back do
        GatedPost.where(id: index + 1).update_all(likes: 100 + index)
        [GatedPost.find(index + 1).likes, GatedPost.find_by(title: "post #{index + 1}").likes]
      end
      [inside, before == GatedPost.find(index + 1).likes]
    end
    assert_equal(Array.new(4) { |index| [[100 + index] * 2, true] }, outcomes)
  end

  def test_the_server_connection_changes_between_bursts
    GatedPost.with_connection do
      3.times do
        first = server
        assert_equal expected_forms, resolve(true, 7) { |index| form(index) }
        on_another_server do
          refute_equal first, server
          assert_equal expected_forms, resolve(true, 7) { |index| form(index) }
        end
      end
    end
  end

  def test_the_server_connection_changes_between_levels
    servers = []
    outcomes = assert_resolves_alike(4) do |index|
      before = [server, GatedPost.find(index + 1).title]
      hold_a_server if index.zero?
      servers.push(before.first, server)
      [before.last, GatedPost.find(index + 5).title].tap { free_the_servers if index == 3 }
    end
    assert_equal(Array.new(4) { |index| ["post #{index + 1}", "post #{index + 5}"] }, outcomes)
    assert_equal 2, servers.last(8).uniq.size
  end

  # Clients wait in PgBouncer until it is told to go on.
  def test_paused_while_the_level_is_sent
    outcomes = assert_alike do |piped|
      bouncer.admin("PAUSE")
      thread = in_thread { resolve(piped, 7) { |index| form(index) } }
      await_clients(1)
      bouncer.admin("RESUME")
      thread.value
    end
    assert_equal expected_forms, outcomes
  end

  def test_more_than_the_buffers_hold
    text = "x" * 200_000
    sizes = resolve(true, 60) { |index| value("SELECT '#{text}#{index}' || repeat('y', 100000)").size }
    assert_equal(Array.new(60) { |index| 300_000 + index.to_s.size }, sizes)
  end

  # -- what breaks -----------------------------------------------------------------------------------------------------

  def test_interrupted_in_a_burst = assert_interrupted_in_a_burst

  def test_interrupted_in_a_transaction
    thread = waiting_thread do
      GatedPost.transaction do
        GatedPost.where(id: 1).update_all(likes: 77)
        resolve(true, 3) { |index| index == 1 ? value("SELECT 1 FROM pg_advisory_xact_lock(82)") : GatedPost.find(1).likes }
      end
    end
    advisory_locked(82) do
      thread.wakeup_gate
      await_waiter
      thread.raise(Stop, "enough")
      assert_raises(Stop) { thread.join }
      await_no_waiter
    end
    refute_equal 77, GatedPost.find(1).likes
    assert_equal expected_forms, resolve(true, 7) { |index| form(index) }
  end

  # There is no server for it: nothing to be cancelled, and nothing that comes.
  def test_interrupted_while_no_server_is_free
    SERVERS.times { hold_a_server }
    thread = in_thread { resolve(true, 3) { |index| GatedPost.find(index + 1).title } }
    await_clients(1)
    thread.raise(Stop, "enough")
    assert_raises(Stop) { thread.join }
    free_the_servers
    assert_equal expected_forms, resolve(true, 7) { |index| form(index) }
  end

  def test_the_server_dies_in_a_burst
    outcomes = assert_alike do |piped|
      thread = waiting_thread do
        resolve(piped, 4) { |index| [-> { value("SELECT 'before'") }, -> { GatedPost.find(1).title }, -> { GatedPost.count }, -> { GatedPost.find(2).title }][index].call }
      end
      table_locked("posts") do
        thread.wakeup_gate
        terminate(await_waiter)
        await_waiter
      end
      thread.value
    end
    assert_equal ["before", "post 1", 12, "post 2"], outcomes
  end

  def test_the_server_dies_in_a_transaction
    outcomes = assert_alike do |piped|
      rolled_back do
        terminate(server)
        resolve(piped, 1) { GatedPost.find(1).title }.map { |outcome| outcome.is_a?(Failure) }
      end
    rescue ActiveRecord::ActiveRecordError
      [true]
    end
    assert_equal [true], outcomes
  end

  def test_the_server_dies_between_bursts
    outcomes = assert_alike do |piped|
      GatedPost.with_connection do
        resolve(piped, 3) { |index| GatedPost.find(index + 1).title }
        terminate(server)
        resolve(piped, 3) { |index| GatedPost.find(index + 1).title }
      end
    end
    assert_equal ["post 1", "post 2", "post 3"], outcomes
  end

  def test_clients_are_cut_off_between_bursts
    outcomes = assert_alike do |piped|
      GatedPost.with_connection do
        resolve(piped, 3) { |index| GatedPost.find(index + 1).title }
        bouncer.admin("KILL #{TestDatabase::NAME}")
        bouncer.admin("RESUME #{TestDatabase::NAME}")
        resolve(piped, 3) { |index| GatedPost.find(index + 1).title }
      end
    end
    assert_equal ["post 1", "post 2", "post 3"], outcomes
  end

  def test_no_server_in_time
    through(Bouncer.new(pool_size: 1, query_wait_timeout: 1))
    hold_a_server
    outcomes = assert_alike { |piped| resolve(piped, 1) { GatedPost.find(1).title } }
    assert_match(/ActiveRecord::/, outcomes.first.class_name)
    free_the_servers
    assert_equal expected_forms, resolve(true, 7) { |index| form(index) }
  end

  # -- many clients ----------------------------------------------------------------------------------------------------

  def test_many_threads_with_few_servers
    through(bouncer, pool: 16)
    assert_many_threads(16)
    assert_operator bouncer.admin("SHOW SERVERS").count { |it| it["database"] == TestDatabase::NAME }, :<=, SERVERS
  end

  def test_many_threads_with_one_server
    through(Bouncer.new(pool_size: 1), pool: 16)
    assert_many_threads(16)
  end

  # Results that nobody reads keep a server connection busy. (Where ActiveRecord has yet to connect, it asks for one, too.)
  { in_use: true, not_connected: false }.each do |name, connected|
    define_method(:"test_two_databases_with_one_server_connection_each_taken_crosswise_#{name}") do
      through(Bouncer.new(pool_size: 1, query_wait_timeout: 100))
      Crossed.establish_connection(TestDatabase.hash(TestDatabase::SECOND, prepared_statements: false, **bouncer.hash))
      Crossed.with_connection { |connection| connection.select_value("SELECT 1") }
      begin
        assert_crosswise(connected)
      ensure
        assert_pool_sound(Crossed.connection_pool)
        Crossed.remove_connection
      end
    end
  end

  # A second database through the same PgBouncer.
  class Crossed < ActiveRecord::Base
    self.abstract_class = true
  end

  private

  def free_the_servers = @holders.each(&:close).clear

  # Returns when PgBouncer has that many clients for which it has no server.
  def await_clients(count)
    Thread.pass until bouncer.admin("SHOW POOLS").sum { |pool| pool["database"] == TestDatabase::NAME ? Integer(pool["cl_waiting"]) : 0 } >= count
  end

  # Two threads ask both databases for much; one sends to the one first, the other to the other.
  def assert_crosswise(connected)
    InTurn.bouncer, InTurn.ready, InTurn.started = bouncer, [], []
    threads = [[Gated, Crossed], [Crossed, Gated]].map do |models|
      leased, go = Queue.new, Queue.new
      thread = in_thread do
        connections = models.map(&:lease_connection)
        connections.each { |connection| connected ? connection.select_value("SELECT 1") : connection.disconnect! }
        leased << connections
        go.pop
        resolve(true, 40) { |index| models[index % 2].with_connection { |connection| connection.select_value("SELECT repeat('x', 1000000)")&.size } }
      ensure
        release
      end
      # In this order bursts are sent.
      assert_equal models.map(&:connection_pool), leased.pop.sort_by(&:object_id).map(&:pool)
      thread.define_singleton_method(:wakeup_gate) { go << true }
      thread
    end
    threads.each(&:wakeup_gate)
    assert_equal [[1_000_000]] * 2, threads.map { |thread| thread.value.map { |it| it.is_a?(Failure) ? it.class_name : it }.uniq }
  ensure
    InTurn.started = nil
  end

  # The first burst of each thread is sent when both threads have come so far; and is waited for when both are on their way, and
  # each has its server.
  module InTurn
    singleton_class.attr_accessor :bouncer, :ready, :started

    def start(...)
      return super if InTurn.started.nil? || InTurn.started.include?(Thread.current)

      InTurn.ready << Thread.current
      Thread.pass until InTurn.ready.size == 2
      super
      InTurn.started << Thread.current
      Thread.pass until InTurn.started.size == 2 && InTurn.bouncer.admin("SHOW POOLS").count { |pool| pool["sv_active"] == "1" } == 2
    end
  end
  Pipeloader::Pipeline.prepend(InTurn)
end

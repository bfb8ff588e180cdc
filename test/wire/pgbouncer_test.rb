# frozen_string_literal: true

require_relative "wire_case"
require_relative "../support/bouncer"

# A PgBouncer in transaction mode between us and the server: the server connection may be another one after each
# transaction, and there are fewer of them than clients.
class PgbouncerTest < WireCase
  SERVERS = 2

  class << self
    # One for all tests that need no settings of their own.
    def bouncer = @bouncer ||= Bouncer.new(pool_size: SERVERS)
  end

  def setup
    super
    through(PgbouncerTest.bouncer)
  end

  def teardown
    assert_pool_sound(Gated.connection_pool)
  ensure
    @holders&.each(&:close)
    release
    Gated.remove_connection
    @bouncer&.stop unless @bouncer.equal?(PgbouncerTest.bouncer)
    # What one test leaves to the server connections, the next must not find.
    PgbouncerTest.bouncer.admin("RECONNECT")
    super
  end

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

  def test_interrupted_in_a_burst
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

  # -- prepared, where PgBouncer doesn't follow --------------------------------------------------------------------------

  # A setting that PgBouncer's manual warns of. Serially it ends in "prepared statement … does not exist", for good.
  def test_named_statements_are_repaired_after_the_server_connection_changed
    through(unaware_bouncer, prepared_statements: true)
    GatedPost.with_connection do
      5.times do
        assert_equal expected_forms, resolve(true, 7) { |index| form(index) }
        on_another_server { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
      end
    end
  end

  def test_serially_they_are_not
    through(unaware_bouncer, prepared_statements: true)
    GatedPost.with_connection do
      resolve(false, 7) { |index| form(index) }
      on_another_server { assert_includes states(resolve(false, 7) { |index| form(index) }), "26000" }
    end
  end

  def test_named_statements_in_a_transaction
    through(unaware_bouncer, prepared_statements: true)
    outcomes = assert_alike do |piped|
      GatedPost.with_connection do |connection|
        resolve(piped, 3) { |index| GatedPost.find(index + 1).title }
        result = on_another_server do
          rolled_back { states(resolve(piped, 3) { |index| GatedPost.find(index + 1).title }) }
        end
        connection.reconnect!
        result
      end
    end
    assert_equal %w[26000] * 3, outcomes
  end

  # The other client's statement has the name that is ours next.
  def test_a_name_that_another_client_has_taken
    through(unaware_bouncer, prepared_statements: true)
    outcomes = assert_alike do |piped|
      GatedPost.with_connection do |connection|
        take_names(connection, 1)
        states(resolve(piped, 2) { |index| index.zero? ? title_of(1) : GatedPost.where(id: 2).pick(:title) })
      ensure
        forget_names
      end
    end
    assert_equal ["42P05", "post 2"], outcomes
  end

  # Several reads of one shape: the first one's PREPARE fails, the others mustn't run what the name stands for.
  def test_a_name_that_another_client_has_taken_is_not_executed
    through(unaware_bouncer, prepared_statements: true)
    outcomes = GatedPost.with_connection do |connection|
      take_names(connection, 1)
      resolve(true, 3) { |index| title_of(index + 1) }
    ensure
      forget_names
    end
    assert_equal "42P05", outcomes.first.sqlstate
    outcomes.drop(1).each_with_index do |outcome, index|
      assert_includes ["post #{index + 2}", "42P05"], outcome.is_a?(Failure) ? outcome.sqlstate : outcome
    end
  end

  def test_many_threads_with_named_statements_get_no_wrong_row
    through(unaware_bouncer, prepared_statements: true, pool: 8)
    GatedPost.with_connection { GatedPost.find(1) }
    threads = Array.new(8) do |number|
      random = Random.new(seed + number)
      in_thread do
        Array.new(20) do
          ids = Array.new(random.rand(1..5)) { random.rand(1..12) }
          [ids, resolve(true, ids.size) { |index| GatedPost.find(ids[index]).title }]
        end
      end
    end
    outcomes = threads.flat_map(&:value)
    outcomes.each do |ids, titles|
      # (22P02, 08P01: the name is another client's, whose statement has parameters of another type, or another number of them.)
      ids.zip(titles) do |id, title|
        assert_includes ["post #{id}", "26000", "42P05", "22P02", "08P01", nil], title.is_a?(Failure) ? title.sqlstate : title
      end
    end
    assert_operator outcomes.sum { |_, titles| titles.grep(String).size }, :>, 0
  ensure
    Gated.connection_handler.clear_all_connections!(:all)
  end

  # -- prepared, where PgBouncer follows ---------------------------------------------------------------------------------

  if Bouncer.follows_statements?
    def test_followed_statements
      through(following_bouncer, prepared_statements: true)
      GatedPost.with_connection do
        5.times do
          assert_equal(1, WireCounter.events("burst.pipeloader") { assert_equal expected_forms.first(5), resolve(true, 5) { |index| form(index) } }.size)
          on_another_server { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
        end
      end
    end

    def test_followed_statements_need_no_repair
      through(following_bouncer, prepared_statements: true)
      GatedPost.with_connection do
        resolve(true, 5) { |index| form(index) }
        statements = on_another_server { WireCounter.events("burst.pipeloader") { resolve(true, 5) { |index| form(index) } }.sum { |it| it[:statements] } }
        assert_equal 5, statements
      end
    end

    def test_followed_statements_and_errors
      through(following_bouncer, prepared_statements: true)
      sqls = ["SELECT 1", "SELECT 1 / 0", "SELECT nothing", "SELEC", "SELECT 'x'::int", "SELECT 2"]
      3.times do
        outcomes = assert_resolves_alike(sqls.size) { |index| value(sqls[index]) }
        assert_equal [1, "22012", "42703", "42601", "22P02", 2], states(outcomes)
      end
    end

    def test_followed_statements_in_a_transaction
      through(following_bouncer, prepared_statements: true)
      outcomes = assert_alike do |piped|
        GatedPost.with_connection do
          resolve(piped, 3) { |index| GatedPost.find(index + 1).title }
          on_another_server { rolled_back { resolve(piped, 3) { |index| GatedPost.find(index + 1).title } } }
        end
      end
      assert_equal ["post 1", "post 2", "post 3"], outcomes
    end

    def test_many_threads_with_followed_statements
      through(following_bouncer, prepared_statements: true, pool: 16)
      assert_many_threads(16)
    end

    # More shapes than PgBouncer keeps.
    def test_followed_statements_are_evicted_by_pgbouncer
      through(Bouncer.new(pool_size: SERVERS, max_prepared_statements: 2), prepared_statements: true)
      GatedPost.with_connection do
        4.times { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
        on_another_server { assert_equal expected_forms, resolve(true, 7) { |index| form(index) } }
      end
    end

    # More than we do. In a transaction there is an error where what ActiveRecord sends for a statement that it gives up is a
    # DEALLOCATE, which PgBouncer hands on as it is: before 8.1, before PostgreSQL 17. Without us, too.
    def test_followed_statements_are_evicted_by_us
      through(following_bouncer, prepared_statements: true, statement_limit: 2)
      closes = Gated.with_connection { |connection| connection.try(:supports_close_prepared?) }
      4.times do
        outcomes = assert_resolves_alike(7) { |index| index < 6 ? form(index) : GatedPost.transaction { GatedPost.where(id: 5).pluck(:title).first } }
        assert_equal [*expected_forms.first(6), closes ? "post 5" : "25P02"], states(outcomes)
      end
      GatedPost.with_connection do
        resolve(true, 6) { |index| form(index) }
        on_another_server { assert_equal expected_forms.first(6), resolve(true, 6) { |index| form(index) } }
      end
    end

    def test_interrupted_with_followed_statements
      through(following_bouncer, prepared_statements: true)
      test_interrupted_in_a_burst
    end

    # PgBouncer hears of it (from 1.22 on), and forgets the statements of this client.
    ["DEALLOCATE ALL", "DISCARD ALL"].each do |command|
      define_method(:"test_followed_statements_after_#{command.downcase.tr(" ", "_")}") do
        through(following_bouncer, prepared_statements: true)
        GatedPost.with_connection do |connection|
          resolve(true, 7) { |index| form(index) }
          raw(connection).exec(command)
          outcomes = resolve(true, 7) { |index| form(index) }
          assert_equal expected_forms, outcomes
        end
      end
    end
  end

  # A second database through the same PgBouncer.
  class Crossed < ActiveRecord::Base
    self.abstract_class = true
  end

  private

  attr_reader :bouncer

  def through(bouncer, prepared_statements: false, **settings)
    @bouncer&.stop unless @bouncer.equal?(PgbouncerTest.bouncer) || @bouncer.equal?(bouncer)
    @bouncer = bouncer
    connect_gated(**bouncer.hash, prepared_statements: prepared_statements, **settings)
    # The pool's first connection asks for what isn't to be counted.
    Gated.with_connection(&:schema_search_path)
  end

  def unaware_bouncer
    Bouncer.follows_statements? ? Bouncer.new(pool_size: SERVERS, max_prepared_statements: 0) : PgbouncerTest.bouncer
  end

  def following_bouncer = Bouncer.new(pool_size: SERVERS, max_prepared_statements: 100)

  def value(sql) = Gated.with_connection { |connection| connection.select_value(sql) }

  # A shape that nothing else has.
  def title_of(id) = GatedPost.where(id: id).limit(3).pluck(:id, :title).first.last

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

  def free_the_servers = @holders.each(&:close).clear

  # The next names of +connection+ mean another client's statements, on the server connection that it will have.
  def take_names(connection, count)
    pool = connection.instance_variable_get(:@statements)
    counter = pool.instance_variable_get(:@counter)
    other = bouncer.connect
    count.times { |index| other.exec("PREPARE a#{counter + 1 + index} (bigint, bigint) AS SELECT id, 'not yours' AS title FROM posts WHERE id > $1 LIMIT $2") }
    other.close
  end

  def forget_names = bouncer.connect.tap { |it| it.exec("DEALLOCATE ALL") }.close

  # Returns when PgBouncer has that many clients for which it has no server.
  def await_clients(count)
    Thread.pass until bouncer.admin("SHOW POOLS").sum { |pool| pool["database"] == TestDatabase::NAME ? Integer(pool["cl_waiting"]) : 0 } >= count
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

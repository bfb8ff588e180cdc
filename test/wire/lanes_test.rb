# frozen_string_literal: true

require_relative "wire_case"

# Slow reads of a level over several connections of a pool. What is slow is told to Pipeloader, never measured by these tests.
class LanesTest < WireCase
  # Says which server process has answered. (Not `pure?`, so each is declared.)
  DECLARED = /pg_backend_pid\(\)/
  WHO = "SELECT pg_backend_pid()"

  def setup
    super
    @lanes = { most: 4, declared: [DECLARED] }
    # Of a connection that was there before there were schemas with lanes, nobody knows what it was asked.
    schema(true, 1)
    connect(5)
  end

  def teardown
    release
    assert_pool_sound(Gated.connection_pool)
    assert_no_stray_backends
    super
  end

  # From ActiveRecord 8.1 on a pool may have no limit.
  def test_a_pool_without_a_limit
    pool = Gated.connection_pool
    pool.define_singleton_method(:stat) { super().merge(size: nil) }
    spare = pool.pipeloader_spare
    refute_nil spare
    warm_up
    assert_equal [2, 2, 2, 2], who(8).tally.values
  ensure
    pool.checkin(spare) if spare
    pool.singleton_class.remove_method(:stat)
  end

  # -- what goes where ---------------------------------------------------------------------------------------------------

  def test_slow_reads_are_spread
    warm_up
    assert_equal [2, 2, 2, 2], who(8).tally.values
    assert_equal 4, Gated.connection_pool.stat[:connections]
  end

  def test_explained
    warm_up
    resolver = ->(index) { Gated.with_connection { |it| it.select_value("#{WHO} -- #{index}") } }
    told = Pipeloader.explain(schema(true, 8), "{ #{Array.new(8) { |index| "f#{index}" }.join(" ")} }", context: { resolver: resolver })
    bursts = told.to_h[:bursts]
    assert_equal [[1, false], [1, true], [1, true], [1, true]], bursts.map { |burst| burst.values_at(:trip, :lane) }
    assert_equal 8, bursts.sum { |burst| burst[:statements].size }
    assert_equal 6, told.to_s.scan(/^burst 1, by a lane: SELECT pg_backend_pid/).size
  end

  def test_off_at_one_and_for_what_is_neither_pure_nor_declared
    [1, {}].each do |off|
      @lanes = off
      4.times { assert_equal 1, resolve(true, 8) { |_index| Gated.with_connection { |it| it.select_value(WHO) } }.uniq.size }
    end
    assert_equal 1, Gated.connection_pool.stat[:connections]
  end

  def test_a_level_makes_one_connection_at_most
    assert_equal([2, 3, 4, 4], Array.new(4) { who(8).uniq.size })
  end

  def test_one_connection_is_left
    { 2 => 1, 3 => 2, 4 => 3, 5 => 4, 9 => 4 }.each do |pool, spread|
      connect(pool)
      warm_up
      assert_equal spread, who(8).uniq.size, "pool of #{pool}"
      assert_operator Gated.connection_pool.stat[:connections], :<, [pool, 2].max
    end
  end

  def test_not_those_that_others_use
    warm_up
    busy = Queue.new
    over = Queue.new
    threads = Array.new(2) { in_thread { Gated.with_connection { |it| it.select_value(WHO) && busy.push(1) && over.pop } } }
    threads.size.times { busy.pop }
    assert_equal 2, who(8).uniq.size
    threads.each { over << true }
    threads.each(&:join)
    assert_equal 4, who(8).uniq.size
  end

  def test_pure_reads_are_spread_once_they_are_known_to_be_slow
    warm_up
    reads = ->(index) { Gated.with_connection { |it| it.select_value("SELECT count(*) FROM posts WHERE id > #{index}") } }
    plain = resolve(false, 4, &reads)
    assert_equal [4], statements_by_connection { assert_equal plain, resolve(true, 4, &reads) }
    4.times { |index| slow("SELECT count(*) FROM posts WHERE id > #{index}") }
    assert_equal [1, 1, 1, 1], statements_by_connection { assert_equal plain, resolve(true, 4, &reads) }
  end

  def test_quick_reads_stay
    warm_up
    outcome = nil
    slow("SELECT count(*) FROM posts WHERE id > 0")
    slow("SELECT count(*) FROM posts WHERE id > 1")
    sent = statements_by_connection do
      outcome = resolve(true, 6) { |index| Gated.with_connection { |it| it.select_value("SELECT count(*) FROM posts WHERE id > #{index}") } }
    end
    assert_equal [1, 5], sent.sort
    assert_equal 6, outcome.size
  end

  # Three of 10 ms are done when one of 30 is.
  def test_no_more_lanes_than_it_takes
    warm_up
    { 0 => 30.0, 1 => 10.0, 2 => 10.0, 3 => 10.0 }.each { |index, ms| slow("SELECT count(*) FROM posts WHERE id > #{index}", ms) }
    sent = statements_by_connection { resolve(true, 4) { |index| Gated.with_connection { |it| it.select_value("SELECT count(*) FROM posts WHERE id > #{index}") } } }
    assert_equal [1, 3], sent.sort
  end

  def test_reads_of_models_prepared_and_coalesced
    warm_up
    ids = GatedPost.order(:id).limit(10).ids
    3.times do
      slow(GatedPost.where(id: 1).limit(1).to_sql.sub("= 1 LIMIT 1", "= $1 LIMIT $2"))
      outcomes = nil
      sent = statements_by_connection { outcomes = assert_resolves_alike(ids.size) { |index| GatedPost.find(ids[index]).attributes } }
      assert_equal(ids, outcomes.map { |it| it["id"] })
      assert_equal 4, sent.size
    end
    # Nothing of that is prepared on a connection for which it was never sent.
    assert_resolves_alike(2) { |index| GatedPost.find(ids[index]).title }
  end

  def test_equal_reads_are_sent_once
    warm_up
    slow(sql = "SELECT count(*) FROM posts")
    slow("SELECT count(*) FROM users")
    sent = statements_by_connection do
      assert_resolves_alike(6) { |index| Gated.with_connection { |it| it.select_value(index.odd? ? sql : "SELECT count(*) FROM users") } }
    end
    assert_equal [1, 1], sent
  end

  def test_counters_and_events
    warm_up
    bursts = WireCounter.events("burst.pipeloader") { who(8) }
    assert_equal [1, 1, 1, 1], bursts.map { |it| it[:position] }
    assert_equal 4, bursts.map { |it| it[:connection] }.uniq.size
    assert_equal 8, bursts.sum { |it| it[:reads].size }
    assert_equal({ bursts: 1, reads: 8, statements: 8 }, counters)
    events = WireCounter.events("sql.active_record") { who(8) }
    assert_equal([WHO], events.map { |it| it[:sql].sub(/ AS.*/, "") }.uniq)
    assert_equal 1, events.map { |it| it[:connection] }.uniq.size
  end

  def test_the_query_cache
    warm_up
    Gated.cache do
      pids = resolve(true, 4) { |index| Gated.with_connection { |it| it.select_value("SELECT pg_backend_pid(), #{index / 2}") } }
      assert_equal pids[0], pids[1]
      assert_equal pids[2], pids[3]
      refute_equal pids[0], pids[2]
      assert_equal(pids, resolve(true, 4) { |index| Gated.with_connection { |it| it.select_value("SELECT pg_backend_pid(), #{index / 2}") } })
    end
  end

  # -- what forbids it -----------------------------------------------------------------------------------------------------

  def test_transactions
    warm_up
    Gated.transaction { assert_equal 1, who(8).uniq.size }
    Gated.with_connection do |connection|
      connection.execute("BEGIN")
      assert_equal 1, who(8).uniq.size
      connection.execute("COMMIT")
      assert_equal 4, who(8).uniq.size
    end
  end

  def test_pinned_connections
    warm_up
    Gated.connection_pool.pin_connection!(true)
    assert_equal 1, who(8).uniq.size
  ensure
    Gated.connection_pool.unpin_connection!
  end

  ["SET app.tenant = '7'", "SELECT set_config('app.tenant', '7', false)", "SET search_path = public, pg_catalog", "SET ROLE NONE",
   "CREATE TEMP TABLE posts_today (id int)", "DO $$ BEGIN END $$", "RESET search_path", "LISTEN news", "SELECT pg_advisory_lock(5)",
   "SELECT tenant_of(7)", "CALL nothing()"].each do |sql|
    define_method(:"test_a_session_that_was_changed_by_#{sql.tr(" ", "_")}") do
      side.exec("CREATE OR REPLACE FUNCTION tenant_of(int) RETURNS text LANGUAGE sql AS $$ SELECT set_config('app.tenant', $1::text, false) $$")
      side.exec("CREATE OR REPLACE PROCEDURE nothing() LANGUAGE sql AS $$ $$")
      warm_up
      Gated.lease_connection.execute(sql)
      assert_equal 1, who(8).uniq.size
      assert_equal 1, who(8).uniq.size
    end
  end

  ["SET LOCAL app.tenant = '7'", "SELECT set_config('app.tenant', '7', true)", "SELECT 1", "SELECT count(*) FROM posts",
   "INSERT INTO tags (name) VALUES ('temp')", "SELECT now()", "SELECT tenant FROM (SELECT 1 AS tenant) AS t"].each do |sql|
    define_method(:"test_a_session_that_was_not_changed_by_#{sql.tr(" ", "_")}") do
      warm_up
      Gated.transaction { Gated.lease_connection.execute(sql) && raise(ActiveRecord::Rollback) }
      assert_equal 4, who(8).uniq.size
    end
  end

  # A tenant's rows: what counts is that no read goes where the setting isn't.
  def test_rows_of_a_tenant
    warm_up
    sql = "SELECT name FROM (SELECT current_setting('app.tenant', true) AS name) AS tenant /* pg_backend_pid() */"
    threads = Array.new(2) do |number|
      in_thread do
        Gated.with_connection do |connection|
          connection.execute("SET app.tenant = '#{number}'")
          Array.new(20) { resolve(true, 8) { |index| Gated.with_connection { |it| it.select_value("#{sql} -- #{index}") } } }
        end
      end
    end
    assert_equal([["0"], ["1"]], threads.map { |it| it.value.flatten.uniq })
    # And no connection that has a tenant is a lane.
    10.times { assert_equal(1, resolve(true, 8) { |index| Gated.with_connection { |it| it.select_value("#{sql} -- #{index}") } }.uniq.size) }
  end

  def test_a_session_that_a_resolver_changes
    warm_up
    2.times do
      outcomes = assert_resolves_alike(4) do |index|
        Gated.with_connection do |connection|
          connection.execute("SET app.tenant = 'mine'") if index == 1
          found = connection.select_value("SELECT current_setting('app.tenant', true) /* pg_backend_pid() #{index} */")
          connection.execute("SET app.tenant = ''") if index == 3
          found.to_s
        end
      end
      assert_equal "mine", outcomes[1]
    end
  end

  def test_an_advisory_lock_that_is_given_back
    warm_up
    Gated.with_connection do |connection|
      connection.execute("SELECT pg_advisory_lock(5)")
      assert_equal 1, who(8).uniq.size
      connection.execute("SELECT pg_advisory_unlock(5)")
    end
    release
    assert_equal 4, who(8).uniq.size
  end

  def test_a_connection_that_others_had_in_their_hands
    warm_up
    Gated.lease_connection.raw_connection
    assert_equal 1, who(8).uniq.size
    Gated.lease_connection.reconnect!
    assert_equal 4, who(8).uniq.size
  end

  def test_beside_a_read_that_nobody_knows
    warm_up
    outcomes = resolve(true, 8) do |index|
      Gated.with_connection { |it| it.select_value(index == 7 ? "SELECT pg_backend_pid() FROM random()" : WHO) }
    end
    assert_equal 4, outcomes.uniq.size
    @lanes = { most: 4, declared: [/\ASELECT pg_backend_pid\(\)\z/] }
    outcomes = resolve(true, 8) do |index|
      Gated.with_connection { |it| it.select_value(index == 7 ? "SELECT pg_backend_pid() FROM random()" : WHO) }
    end
    assert_equal 1, outcomes.uniq.size
  end

  # -- parity ----------------------------------------------------------------------------------------------------------------

  def test_values_and_errors
    warm_up
    forms = ["SELECT 1", "SELECT 1 / 0", "SELECT 'x'::int", "SELECT * FROM nowhere", "SELECT FROM FROM", "SELECT ARRAY[1, 2]", "SELECT 1.5::numeric",
             "SELECT '2020-01-01 10:00'::timestamp", "SELECT 'a'::text WHERE false", "SELECT '{\"a\": 1}'::jsonb", "SELECT true", "SELECT NULL"]
    outcomes = assert_resolves_alike(forms.size * 2) do |index|
      Gated.with_connection { |it| it.select_all("#{forms[index % forms.size]} /* pg_backend_pid() */").then { |all| [all.columns, all.rows, all.cast_values] } }
    end
    assert_equal 4, outcomes.grep(Failure).map(&:class_name).size / 2
  end

  def test_writes_come_after_what_was_read_before
    warm_up
    outcomes = assert_resolves_alike(6) do |index|
      Gated.with_connection do |connection|
        before = connection.select_value("SELECT count(*) FROM tags /* pg_backend_pid() #{index} */")
        connection.execute("INSERT INTO tags (name) VALUES ('lane')") if index == 2
        after = connection.select_value("SELECT count(*) FROM tags WHERE name = 'lane' /* pg_backend_pid() #{index} */")
        connection.execute("DELETE FROM tags WHERE name = 'lane'") if index == 2
        index == 2 ? [before, after] : before
      end
    end
    assert_equal 1, outcomes[2].last
  end

  def test_the_limit_of_a_statement
    connect(5, variables: { statement_timeout: 50 })
    warm_up
    outcomes = assert_resolves_alike(4) { |index| Gated.with_connection { |it| it.select_value("SELECT #{index} FROM pg_sleep(#{index == 1 ? 5 : 0}) /* pg_backend_pid() */") } }
    assert_equal "ActiveRecord::QueryCanceled", outcomes[1].class_name
    assert_equal [0, 2, 3], outcomes.grep(Integer)
  end

  # -- faults ------------------------------------------------------------------------------------------------------------------

  def test_a_lane_that_is_killed_in_the_middle
    warm_up
    %i[first last all].each { |which| assert_equal [0, 1, 2, 3], with_killed(which), which }
  end

  # A declared read that was sent over it fails, as without lanes.
  def test_the_own_connection_is_killed_in_the_middle
    warm_up
    outcomes = with_killed(:own)
    assert_equal 3, (outcomes & [0, 1, 2, 3]).size
    assert_equal ["ActiveRecord::ConnectionFailed"], outcomes.grep(Failure).map(&:class_name)
  end

  def test_lanes_that_died_in_the_pool
    warm_up
    own = backend_pid(Gated)
    (server_pids & known_pids_of(Gated) - [own]).each { |pid| terminate(pid) }
    outcomes = assert_resolves_alike(8) { |index| Gated.with_connection { |it| it.select_value("SELECT #{index} /* pg_backend_pid() */") } }
    assert_equal [*0..7], outcomes
  end

  def test_a_lane_that_has_an_open_transaction
    warm_up
    Gated.connection_pool.connections.drop(1).each { |it| raw(it).exec("BEGIN") }
    assert_equal [*0..7], resolve(true, 8) { |index| Gated.with_connection { |it| it.select_value("SELECT #{index} /* pg_backend_pid() */") } }
    Gated.connection_pool.disconnect!
  end

  { raise: ->(thread) { thread.raise(Stop, "struck") }, kill: ->(thread) { thread.kill }, twice: ->(thread) { 2.times { thread.raise(Stop, "struck") } } }.each do |name, strike|
    define_method(:"test_#{name}_while_waiting") do
      warm_up
      advisory_locked(61) do
        worker = in_thread { resolve(true, 4) { |index| waits(61, index) } }
        await_waiters(4)
        strike.call(worker)
        assert ended?(worker), "hangs:\n#{worker.backtrace&.first(8)&.join("\n")}"
        Gated.connection_pool.reap
        assert_pool_sound(Gated.connection_pool)
      end
      assert_equal 4, who(8).uniq.size
    end
  end

  def test_timeout_around_the_response
    warm_up
    advisory_locked(62) do
      assert_raises(Timeout::Error) { Timeout.timeout(0.05) { resolve(true, 4) { |index| waits(62, index) } } }
      release
      assert_pool_sound(Gated.connection_pool)
    end
    assert_equal 4, who(8).uniq.size
  end

  # -- many requests -----------------------------------------------------------------------------------------------------------

  [2, 3, 5, 20].each do |pool|
    define_method(:"test_many_threads_and_a_pool_of_#{pool}") do
      connect(pool, checkout_timeout: 60)
      requests = rounds(25)
      threads = Array.new(8) do |number|
        in_thread do
          Array.new(requests) { |request| foreign_rows("#{number} #{request}") }.sum.tap { release }
        end
      end
      assert_equal [0] * 8, threads.map(&:value)
      release
      assert_operator Gated.connection_pool.stat[:connections], :<=, pool
      assert_equal 0, Gated.connection_pool.stat[:waiting]
    end
  end

  # -- what it is told ---------------------------------------------------------------------------------------------------------

  def test_options
    [nil, 1, 2, 8, { most: 3 }, { declared: /x/ }, { most: 2, declared: [/x/, /y/] }].each { |option| Class.new(GraphQL::Schema) { use(Pipeloader, lanes: option) } }
    [0, -1, "4", 2.5, true, { most: 0 }, { many: 2 }, { declared: ["x"] }, { most: nil }].each do |option|
      error = assert_raises(ArgumentError) { Class.new(GraphQL::Schema) { use(Pipeloader, lanes: option) } }
      assert_match(/lanes must be an Integer >= 1, or/, error.message)
    end
    assert_nil Pipeloader::Lanes.of(1)
  end

  def test_what_is_measured_now_and_then_counts_less
    times = Pipeloader::ServerTimes.new
    [[30.0, 30.0], [10.0, 25.0], [45.0, 30.0], [1000.0, 37.625]].each do |measured, known|
      times.remember("SELECT", measured)
      assert_in_delta known, times.known("SELECT")
    end
    20.times { times.remember("SELECT", 0.1) }
    assert_operator times.known("SELECT"), :<, 1
    times.remember("x" * 3000, 1.0)
    assert_nil times.known("x" * 3000)
  end

  def test_servers_times_are_learned
    warm_up
    3.times { resolve(true, 3) { |index| Gated.with_connection { |it| it.select_value("SELECT #{index} FROM posts, pg_sleep(0.006) WHERE posts.id = 1") } } }
    known = [0, 1, 2].map { |index| times.known("SELECT #{index} FROM posts, pg_sleep(0.006) WHERE posts.id = 1") }
    known.each { |ms| assert_operator ms, :>, 1 }
  end

  private

  def options = { lanes: @lanes }

  def connect(pool, **settings)
    connect_gated(pool: pool, **settings)
    release
  end

  # As many connections as there may be are in the pool.
  def warm_up = 4.times { who(8) }

  # @return [Array<Integer>] which server process has answered each
  def who(fields) = resolve(true, fields) { |_index| Gated.with_connection { |it| it.select_value(WHO) } }

  def counters
    schema(true, 8).execute("{ #{Array.new(8) { |it| "f#{it}" }.join(" ")} }",
                            context: { resolver: ->(_) { Gated.with_connection { |it| it.select_value(WHO) } } }).context.namespace(:pipeloader).to_h
  end

  def times = Pipeloader::Learned.of(Gated.connection_pool).times

  def slow(sql, ms = 50.0) = times.instance_variable_get(:@averages)[sql] = ms

  def statements_by_connection(&block) = WireCounter.events("burst.pipeloader", &block).map { |it| it[:statements] }

  # Each text is a new one, of which nobody knows how long it takes.
  def waits(key, index)
    @waits = @waits.to_i + 1
    Gated.with_connection { |it| it.select_value("SELECT #{index} FROM pg_advisory_xact_lock(#{key}) /* pg_backend_pid() #{@waits} */") }
  end

  # Returns when so many backends wait for a lock that we hold.
  #
  # @return [Array<Integer>] their process ids
  def await_waiters(count)
    loop do
      pids = side(:monitor).exec(<<~SQL).values.flatten.map(&:to_i)
        SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
      SQL
      return pids if pids.size >= count
    end
  end

  # @return [Array] what the fields get whose connections are killed while they wait
  def with_killed(which)
    own = Queue.new
    worker = nil
    advisory_locked(63) do
      worker = in_thread do
        Gated.with_connection do |connection|
          own << raw(connection).backend_pid
          resolve(true, 4) { |index| waits(63, index) }
        end
      end
      mine = own.pop
      others = await_waiters(4) - [mine]
      { first: others.first(1), last: others.last(1), all: others, own: [mine] }.fetch(which).each { |pid| terminate(pid) }
    end
    outcomes = worker.value
    assert_pool_sound(Gated.connection_pool)
    warm_up
    outcomes
  end

  def known_pids_of(model) = model.connection_pool.connections.filter_map { |it| raw(it)&.backend_pid }

  # @return [Integer] how many rows came that were another request's
  def foreign_rows(request)
    outcomes = resolve(true, 6) do |index|
      Array.new(2) { |level| Gated.with_connection { |it| it.select_value("SELECT '#{request} #{index} #{level}' /* pg_backend_pid() */") } }
    end
    expected = Array.new(6) { |index| Array.new(2) { |level| "#{request} #{index} #{level}" } }
    outcomes.zip(expected).count { |got, wanted| got != wanted }
  end
end

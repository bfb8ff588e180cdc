# frozen_string_literal: true

require_relative "meaning_case"

# What a statement means doesn't depend on whether it was sent alone: functions that change something or look at a clock,
# messages beside the rows, COPY, load_async.
class MeaningTest < MeaningCase
  # -- functions -------------------------------------------------------------------------------------------------------

  # {name => what each of four fields reads}; the answer and what is left of it must be the same.
  VOLATILE = {
    nextval: ->(_) { "SELECT nextval('numbers')" },
    nextval_as_a_bind: ->(index) { "SELECT nextval('numbers') + #{index}" },
    nextval_in_rows: ->(_) { "SELECT nextval('numbers') FROM posts WHERE id <= 3" },
    nextval_in_a_condition: ->(_) { "SELECT count(*) FROM posts WHERE id < nextval('numbers')" },
    setval: ->(index) { "SELECT setval('numbers', #{(index + 1) * 10})" },
    setval_and_nextval: ->(index) { index.even? ? "SELECT setval('numbers', #{(index + 1) * 10})" : "SELECT nextval('numbers')" },
    currval: ->(index) { index.zero? ? "SELECT nextval('numbers')" : "SELECT currval('numbers')" },
    function_that_writes: ->(index) { "SELECT enter('line #{index % 2}')" },
    with_that_writes: ->(index) { "WITH entry AS (INSERT INTO journal (line) VALUES ('#{index % 2}') RETURNING line) SELECT line, (SELECT count(*) FROM journal) FROM entry" },
    insert_returning: ->(index) { "INSERT INTO journal (line) VALUES ('#{index % 2}') RETURNING id" },
    same_write: ->(_) { "SELECT enter('the same')" },
    write_and_read: ->(index) { index == 1 ? "SELECT enter('one')" : "SELECT count(*) + #{index} FROM journal" },
    write_and_equal_reads: ->(index) { index == 1 ? "SELECT enter('one')" : "SELECT count(*) FROM journal" },
    lock_and_equal_reads: ->(index) { index == 1 ? "SELECT id FROM posts WHERE id = 1 FOR UPDATE" : "SELECT likes FROM posts WHERE id = 1" },
    failing_write: ->(index) { index == 1 ? "SELECT enter('one') / 0" : "SELECT enter('#{index}')" },
    several_statements: ->(index) { "INSERT INTO journal (line) VALUES ('a#{index}'); SELECT count(*) FROM journal" },
    several_statements_of_which_one_fails: ->(index) { "INSERT INTO journal (line) VALUES ('a#{index}'); SELECT 1 / #{index % 2}" },
    several_reads: ->(index) { "SELECT 'first'; SELECT count(*) + #{index} FROM journal" },
    set_config_for_good: ->(index) { index == 1 ? "SELECT set_config('pipeloader.probe', 'one', false)" : "SELECT current_setting('pipeloader.probe', true)" },
    set_config_local: ->(index) { index == 1 ? "SELECT set_config('pipeloader.probe', 'local', true)" : "SELECT current_setting('pipeloader.probe', true)" },
    set_local: ->(index) { index == 1 ? "SET LOCAL pipeloader.probe = 'local'" : "SELECT current_setting('pipeloader.probe', true)" },
    setseed: ->(index) { index.zero? ? "SELECT setseed(0.5)::text" : "SELECT random()" },
    advisory_lock: ->(_) { "SELECT pg_advisory_lock(91)::text, (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid())" },
    try_advisory_lock: ->(index) { index.odd? ? "SELECT pg_advisory_unlock(92)" : "SELECT pg_try_advisory_lock(92)" },
    advisory_xact_lock: ->(index) { index.even? ? "SELECT pg_advisory_xact_lock(93)::text" : "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()" },
    share_lock: ->(_) { "SELECT id FROM posts WHERE id = 1 FOR SHARE" },
    savepoint: ->(index) { ["SAVEPOINT own", "SELECT enter('in it')", "ROLLBACK TO own", "SELECT count(*) FROM journal"][index] },
    cursor: ->(index) { ["DECLARE own CURSOR FOR SELECT id FROM posts ORDER BY id", "FETCH 2 FROM own", "FETCH 2 FROM own", "SELECT count(*) FROM pg_cursors WHERE name = 'own'"][index] },
    explain: ->(_) { "EXPLAIN (COSTS OFF) SELECT 1" },
    show: ->(index) { index.even? ? "SHOW server_encoding" : "SELECT current_setting('server_encoding')" },
    values: ->(index) { "VALUES (#{index}, 'x')" },
    table: ->(_) { "TABLE journal" },
    prepare_by_hand: ->(index) { ["PREPARE own AS SELECT 7", "EXECUTE own", "EXECUTE own", "DEALLOCATE own"][index] },
    nothing: ->(_) { "" },
    comment_only: ->(_) { "-- nothing" },
    listen: ->(index) { index == 1 ? "LISTEN own" : "SELECT count(*) FROM pg_listening_channels()" },
    temporary_table: ->(index) { index.zero? ? "CREATE TEMPORARY TABLE own AS SELECT 5 AS five" : "SELECT five + #{index} FROM own" },
    select_into: ->(index) { index.zero? ? "SELECT 5 AS five INTO TEMPORARY own" : "SELECT five + #{index} FROM own" }
  }.freeze

  # As users write it, and as a bind makes it another statement.
  READERS = {
    rows: ->(connection, sql) { connection.select_rows(sql) },
    all: ->(connection, sql) { connection.select_all(sql, "Mine", [], preparable: true).to_a }
  }.freeze

  VOLATILE.each do |name, sql|
    [false, true].each do |transaction|
      define_method(:"test_#{name}#{"_in_a_transaction" if transaction}") do
        READERS.each { |reader, read| assert_volatile_alike(sql, transaction, reader, read) }
      end
    end

    define_method(:"test_#{name}_unprepared") do
      connect_gated(prepared_statements: false, min_messages: "error")
      assert_volatile_alike(sql, false, :rows, READERS[:rows])
    end

    define_method(:"test_#{name}_with_query_cache") do
      READERS.each { |reader, read| assert_volatile_alike(sql, false, reader, read, cache: true) }
    end
  end

  # -- clocks ----------------------------------------------------------------------------------------------------------

  # Which fields see the same, and which one sees later, whether in a transaction or not.
  ["now()", "current_timestamp", "statement_timestamp()", "clock_timestamp()", "transaction_timestamp()", "txid_current()",
   "pg_backend_pid()", "localtimestamp"].each do |clock|
    { alone: ->(&run) { run.call }, transaction: ->(&run) { Gated.transaction { run.call } } }.each do |name, around|
      define_method(:"test_#{clock.delete("()")}_#{name}") do
        assert_alike do |piped|
          times = around.call { resolve(piped, 4) { |index| select("SELECT #{clock}#{" AS t" if index == 3}") } }
          # In the order of the fields, each with the next.
          times.each_cons(2).map { |one, other| one <=> other }
        end
      end
    end
  end

  def test_time_zone_of_the_session
    assert_alike do |piped|
      Gated.with_connection do |connection|
        connection.execute("SET timezone = 'Asia/Tokyo'")
        resolve(piped, 2) { |index| select(index.zero? ? "SELECT to_char('2020-01-01 00:00+00'::timestamptz, 'HH24 TZ')" : "SELECT '2020-01-01 00:00+00'::timestamptz") }
      ensure
        connection.reset!
      end
    end
  end

  # -- load_async ------------------------------------------------------------------------------------------------------

  # It needs an executor, or else it reads at once; either way beside reads that park.
  [nil, :global_thread_pool].each do |executor|
    define_method(:"test_load_async_beside_parked_reads_#{executor || "without_executor"}") do
      with_executor(executor) do
        outcomes = assert_resolves_alike(6) do |index|
          case index % 3
          when 0 then GatedPost.where(id: index + 1).load_async.map(&:title)
          when 1 then GatedPost.find(index + 1).title
          else GatedPost.where(id: [1, index + 1]).async_count.value
          end
        end
        assert_equal [["post 1"], "post 2", 2, ["post 4"], "post 5", 2], outcomes
      end
    end

    define_method(:"test_load_async_of_one_field_that_another_reads_#{executor || "without_executor"}") do
      with_executor(executor) do
        assert_alike do |piped|
          shared = GatedPost.where(id: 1..3).order(:id)
          resolve(piped, 4) do |index|
            shared.load_async if index.zero?
            [shared.map(&:title), GatedPost.find(index + 1).title]
          end
        end
      end
    end

    define_method(:"test_load_async_that_fails_#{executor || "without_executor"}") do
      with_executor(executor) do
        outcomes = assert_resolves_alike(3) { |index| GatedPost.where(index == 1 ? "likes / 0 = 1" : "id = 1").load_async.map(&:title) }
        assert_equal [["post 1"], "22012", ["post 1"]], states(outcomes)
      end
    end

    define_method(:"test_load_async_in_a_transaction_#{executor || "without_executor"}") do
      with_executor(executor) do
        outcomes = assert_alike do |piped|
          rolled_back do
            GatedPost.where(id: 1).update_all(title: "changed")
            resolve(piped, 3) { |index| index.odd? ? GatedPost.find(1).title : GatedPost.where(id: 1).load_async.map(&:title) }
          end
        end
        assert_equal [["changed"], "changed", ["changed"]], outcomes
      end
    end
  end

  # -- messages --------------------------------------------------------------------------------------------------------

  # Notifications come with any answer; whoever asks for them after the response has them all, in order.
  def test_notifications_during_a_burst
    outcomes = assert_alike do |piped|
      Gated.with_connection do |connection|
        connection.execute("LISTEN probe")
        resolve(piped, 4) do |index|
          side.exec("NOTIFY probe, 'from outside'") if index == 2
          index == 1 ? select("SELECT pg_notify('probe', 'from a field')::text") : GatedPost.find(index + 1).title
        end
        heard = []
        connection.raw_connection.exec("SELECT 1")
        while (message = connection.raw_connection.notifies)
          heard << message[:extra]
        end
        heard.sort
      ensure
        connection.execute("UNLISTEN *")
      end
    end
    assert_equal ["from a field", "from outside"], outcomes
  end

  def test_a_resolver_that_waits_for_a_notification
    outcomes = assert_alike do |piped|
      Gated.with_connection do |connection|
        connection.execute("LISTEN probe")
        resolve(piped, 3) do |index|
          next GatedPost.find(index + 1).title unless index == 1

          side.exec("NOTIFY probe, 'come'")
          said = nil
          connection.raw_connection.wait_for_notify(5) { |_channel, _pid, extra| said = extra }
          said
        end
      ensure
        connection.execute("UNLISTEN *")
      end
    end
    assert_equal ["post 1", "come", "post 3"], outcomes
  end

  # To whoever has asked for them, in the order of the fields.
  def test_notices_and_warnings
    outcomes = assert_alike do |piped|
      Gated.with_connection do |connection|
        said = []
        connection.execute("SET client_min_messages = notice")
        connection.raw_connection.set_notice_processor { |message| said << message }
        [resolve(piped, 4) { |index| select("SELECT #{index.odd? ? "note" : "warning"}('field #{index}')") }, said.map { |it| it[/\A.*$/] }]
      ensure
        connection.disconnect!
      end
    end
    assert_equal ["WARNING:  field 0", "NOTICE:  field 1", "WARNING:  field 2", "NOTICE:  field 3"], outcomes.last
  end

  # It does so in the middle of a burst (serially it breaks the statements that follow, too): the connection isn't left there,
  # but broken. ActiveRecord reconnects when it is given back; before, not one whose raw connection was asked for.
  def test_a_notice_receiver_that_raises
    Gated.with_connection do |connection|
      connection.execute("SET client_min_messages = notice")
      connection.raw_connection.set_notice_receiver { |_| raise "heard" }
      outcomes = begin
        resolve(true, 3) { |index| index == 1 ? select("SELECT note('field')") : GatedPost.find(index + 1).title }
      rescue RuntimeError => e
        [e.message]
      end
      assert_includes outcomes.map { |it| it.is_a?(Failure) ? it.message : it }, "heard"
      assert_equal ["ActiveRecord::ConnectionNotEstablished"] * 2, resolve(true, 2) { |index| GatedPost.find(index + 1).title }.map(&:class_name)
    end
    assert_equal ["post 1", "post 2"], resolve(true, 2) { |index| GatedPost.find(index + 1).title }
  ensure
    Gated.connection_pool.disconnect!
  end

  %i[ignore log raise].each do |action|
    define_method(:"test_db_warnings_action_#{action}") do
      with_warnings(action) do
        outcomes = assert_resolves_alike(4) do |index|
          next select("SELECT #{index}") if index < 2
          next select("SELECT warning('careful')") if index == 2

          Gated.with_connection { |connection| connection.execute("SELECT warning('careful')").getvalue(0, 0) }
        rescue ActiveRecord::SQLWarning => e
          e.class.name
        end
        assert_equal [0, 1], outcomes.first(2)
        assert_equal(action == :raise ? "ActiveRecord::SQLWarning" : "careful", outcomes.last)
      end
    end
  end

  # -- COPY ------------------------------------------------------------------------------------------------------------

  def test_copy_to_in_a_resolver
    outcomes = assert_resolves_alike(4) do |index|
      next GatedPost.find(index + 1).title unless index.odd?

      lines = []
      Gated.with_connection do |connection|
        raw = connection.raw_connection
        raw.copy_data("COPY (SELECT title FROM posts WHERE id <= #{index} ORDER BY id) TO STDOUT") do
          while (line = raw.get_copy_data)
            lines << line.chomp
          end
        end
      end
      lines
    end
    assert_equal ["post 1", ["post 1"], "post 3", ["post 1", "post 2", "post 3"]], outcomes
  end

  def test_copy_from_in_a_resolver
    outcomes = assert_alike do |piped|
      side.exec("TRUNCATE journal")
      resolve(piped, 4) do |index|
        next select("SELECT count(*) + 0 * #{index} FROM journal") unless index == 1

        Gated.with_connection do |connection|
          raw = connection.raw_connection
          raw.copy_data("COPY journal (line) FROM STDIN") { raw.put_copy_data("one\ntwo\n") }.cmd_tuples
        end
      end
    end
    assert_equal [0, 2, 2, 2], outcomes
  end

  # Reads of other fields can't go in the middle of a COPY: a read inside says so, as it would without us.
  def test_a_read_in_the_middle_of_a_copy
    outcomes = assert_resolves_alike(3) do |index|
      next GatedPost.find(index + 1).title unless index == 1

      Gated.with_connection do |connection|
        raw = connection.raw_connection
        raw.copy_data("COPY (SELECT title FROM posts WHERE id <= 3 ORDER BY id) TO STDOUT") do
          first = raw.get_copy_data
          nil while raw.get_copy_data
          first.chomp
        end
        GatedPost.find(2).title
      end
    end
    assert_equal ["post 1", "post 2", "post 3"], outcomes
  end

  private

  def assert_volatile_alike(sql, transaction, reader, read, cache: false)
    assert_alike("#{reader} #{transaction}") do |piped|
      side.exec("TRUNCATE journal; ALTER SEQUENCE numbers RESTART; ALTER SEQUENCE journal_id_seq RESTART")
      Gated.with_connection do |connection|
        connection.select_value("SELECT 1") # a connection that isn't connected isn't cached, either
        outcomes = rolled_back_if(transaction) do
          outcomes = cached(cache) { resolve(piped, 4) { |index| read.call(connection, sql.call(index)) } }
          [outcomes, state_of(connection)]
        end
        [outcomes, left(connection)]
      ensure
        connection.disconnect!
      end
    end
  end

  def state_of(connection) = [raw(connection).transaction_status, connection.open_transactions]

  # What the session and the tables are like afterwards.
  def left(connection)
    raw(connection).exec(<<~SQL).values
      SELECT (SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()), (SELECT count(*) FROM pg_cursors WHERE name <> ''),
             (SELECT last_value FROM numbers), (SELECT is_called FROM numbers), (SELECT json_agg(journal ORDER BY id) FROM journal),
             current_setting('pipeloader.probe', true), (SELECT count(*) FROM pg_listening_channels())
    SQL
  end

  def with_executor(executor)
    was = ActiveRecord.async_query_executor
    ActiveRecord.async_query_executor = executor
    connect_gated
    tracker = ActiveRecord::AsynchronousQueriesTracker.run # as Rails' executor
    yield
  ensure
    ActiveRecord::AsynchronousQueriesTracker.complete(tracker) if tracker
    # Its threads have given their connections back.
    threads = Gated.connection_pool.async_executor
    Thread.pass until threads.nil? || threads.completed_task_count == threads.scheduled_task_count
    ActiveRecord.async_query_executor = was
  end

  def with_warnings(action)
    was = ActiveRecord.db_warnings_action
    logger, ActiveRecord::Base.logger = ActiveRecord::Base.logger, Logger.new(nil)
    ActiveRecord.db_warnings_action = action
    connect_gated
    yield
  ensure
    ActiveRecord.instance_variable_set(:@db_warnings_action, was)
    ActiveRecord::Base.logger = logger
  end
end

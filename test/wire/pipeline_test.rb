# frozen_string_literal: true

require_relative "wire_case"

# Pipeline on a PG::Connection of its own: no ActiveRecord, no graphql-ruby.
class PipelineTest < WireCase
  # As much of a Read as a Statement takes.
  Asked = Struct.new(:sql, :params) do
    def time_limit = nil
    def late? = false
  end

  # What happened on the wire, counted at the connection: how much was under way at most.
  module Observed
    attr_reader :synced, :most_in_flight, :flushes

    # pg makes pipeline_sync of send_pipeline_sync, where it has it.
    if PG::Connection.method_defined?(:send_pipeline_sync)
      def send_pipeline_sync = super.tap { count_sync }
    else
      def pipeline_sync = super.tap { count_sync }
    end

    def async_flush = super.tap { @flushes = flushes.to_i + 1 }
    def sync_flush = super.tap { @flushes = flushes.to_i + 1 }

    def sync_get_result
      super.tap { |result| @returned = @returned.to_i + 1 if result&.result_status == PG::PGRES_PIPELINE_SYNC }
    end

    private

    def count_sync
      @synced = synced.to_i + 1
      @most_in_flight = [most_in_flight.to_i, @synced - @returned.to_i].max
    end
  end

  def setup
    super
    @connection = TestDatabase.connect
  end

  def teardown
    assert_clean(@connection) unless @unclean || @connection.finished?
    @connection.close unless @connection.finished?
    super
  end

  def test_results_come_in_the_order_of_the_statements
    statements = Array.new(20) { |i| statement("SELECT $1::int, 'row #{i}'", [i]) }
    send_through(statements)
    assert_equal((0...20).map { |i| [[i.to_s, "row #{i}"]] }, values(statements))
  end

  def test_no_statements_no_traffic
    events = traced { send_through([]) }
    assert_empty events
  end

  def test_one_is_as_many
    only = statement("SELECT 1")
    send_through([only])
    assert_equal [[["1"]]], values([only])
  end

  def test_prepares_and_executes_in_one_round_trip
    statements = [statement("SELECT $1::int + 1", [1], name: "p1", prepare: true), statement("SELECT $1::int + 1", [2], name: "p1"),
                  statement("SELECT $1::text", ["x"], name: "p2", prepare: true)]
    events = traced { send_through(statements) }
    assert_equal [[["2"]], [["3"]], [["x"]]], values(statements)
    assert_equal [true, nil, true], statements.map(&:prepared?)
    assert_one_round_trip events
    assert_equal 2, events.count(%w[F Parse])
    assert_equal "3", @connection.exec_prepared("p1", [2]).getvalue(0, 0)
  end

  def test_unprepared_statements_leave_no_name
    send_through([statement("SELECT $1::int", [1]), statement("SELECT 2")])
    assert_equal "0", @connection.exec("SELECT count(*) FROM pg_prepared_statements").getvalue(0, 0)
  end

  %i[send_pipeline_sync pipeline_sync].each do |method|
    next unless PG::Connection.method_defined?(method)

    define_method(:"test_each_statement_has_a_sync_of_its_own_by_#{method}") do
      with_sync(method) do
        statements = Array.new(7) { |i| statement("SELECT #{i}") }
        events = traced { send_through(statements) }
        assert_equal 7, events.count(%w[F Sync])
        assert_equal 7, events.count(%w[B ReadyForQuery])
        assert_equal %w[Sync], events.select { |side, _| side == "F" }.last.drop(1)
        assert_equal((0...7).map { |i| [[i.to_s]] }, values(statements))
      end
    end

    define_method(:"test_an_error_in_the_middle_harms_nobody_else_by_#{method}") do
      with_sync(method) { assert_errors_stay_alone }
    end

    define_method(:"test_a_window_full_of_statements_by_#{method}") do
      with_sync(method) { assert_window_is_kept }
    end

    define_method(:"test_an_interrupt_empties_the_pipeline_by_#{method}") do
      with_sync(method) { assert_interrupt_empties_the_pipeline }
    end
  end

  def test_is_answered_when_its_sync_has_come_and_not_before
    advisory_locked(11) do
      first, second = statement("SELECT 'first'"), statement("SELECT 'second', pg_advisory_xact_lock(11)")
      sender = in_thread { send_through([first, second]) }
      await_waiter
      Thread.pass until first.answered?
      refute_predicate second, :answered?
      sender.raise(Stop, "enough")
      assert_raises(Stop) { sender.join }
      refute_predicate second, :answered? # cancelled: no answer, and no error either
      assert_nil second.error
    end
  end

  def test_a_statement_is_not_answered_by_rows_without_sync
    shown = statement("SELECT 1")
    shown.take(@connection.exec("SELECT 1"))
    refute_predicate shown, :answered?
    shown.complete(false)
    assert_predicate shown, :answered?
  end

  def test_a_failing_prepare_is_its_own_error
    broken = statement("SELEC $1", [1], name: "b1", prepare: true)
    statements = [statement("SELECT 1", name: "g1", prepare: true), broken, statement("SELEC $1", [2], name: "b1"),
                  statement("SELECT 2", name: "g2", prepare: true)]
    send_through(statements)
    assert_equal [[["1"]], "42601", "26000", [["2"]]], answers(statements)
    assert_equal [false, true, false], [broken.prepared?, broken.unprepared?, broken.repairable?].values_at(0, 1, 2)
    assert_predicate statements[2], :repairable?
  end

  def test_prepares_of_a_name_that_exists
    @connection.prepare("taken", "SELECT 'other'")
    statements = [statement("SELECT 1", name: "taken", prepare: true), statement("SELECT 2")]
    send_through(statements)
    assert_equal ["42P05", [["2"]]], answers(statements)
    Names.prepared.clear # on purpose
  end

  def test_a_parameter_that_cannot_be_encoded_is_refused_alone
    [[0], [1], [2], [0, 1, 2]].each do |positions|
      [nil, "n#{positions.join}"].each do |name|
        statements = Array.new(3) do |i|
          statement("SELECT $1::text", [positions.include?(i) ? "nul\0" : "good #{i}"], name: name && "#{name}_#{i}", prepare: !name.nil?)
        end
        send_through(statements)
        expected = Array.new(3) { |i| positions.include?(i) ? ArgumentError : [["good #{i}"]] }
        assert_equal expected, answers(statements), "#{positions} #{name}"
        assert_clean(@connection)
      end
    end
  end

  def test_sql_that_cannot_be_encoded_is_refused_alone
    statements = [statement("SELECT 1"), statement("SELECT 'nul\0'"), statement("SELECT 2")]
    send_through(statements)
    assert_equal [[["1"]], ArgumentError, [["2"]]], answers(statements)
  end

  # libpq refuses by an error of its own, without a word to the server.
  def test_more_parameters_than_the_protocol_has_are_refused_alone
    statements = [statement("SELECT 1"), statement("SELECT 2", Array.new(70_000, 1)), statement("SELECT 3")]
    send_through(statements)
    assert_equal [[["1"]], PG::UnableToSend, [["3"]]], answers(statements)
  end

  def test_what_cannot_be_piped_is_an_error_of_its_own
    statements = [statement("SELECT 1"), statement("SELECT 1; SELECT 2"), statement("SELECT 3"), statement("")]
    send_through(statements)
    assert_equal [[["1"]], "42601", [["3"]]], answers(statements.first(3))
    assert_equal PG::PGRES_EMPTY_QUERY, statements.last.result.result_status
  end

  def test_results_larger_than_every_buffer
    assert_all_answered(400) { statement("SELECT repeat('x', 100000)") }
  end

  def test_two_thousand_parameters_of_a_hundred_kilobytes
    text = "x" * 100_000
    statements = Array.new(2_000) { statement("SELECT length($1::text)", [text]) }
    pipeline = send_through(statements)
    assert_equal [[["100000"]]] * 2_000, values(statements)
    assert_operator pipeline.bytes_sent, :>, 200_000_000
  end

  # The server can't take more before its answers are read, and the client must not read the last before it has sent.
  def test_two_thousand_times_a_hundred_kilobytes_both_ways
    text = "x" * 100_000
    statements = Array.new(2_000) { statement("SELECT $1::text", [text]) }
    bursts = 0
    until (rest = statements.reject(&:answered?)).empty?
      send_through(rest)
      bursts += 1
      rest.each { |it| it.result&.clear if it.answered? && it.result.getlength(0, 0) == 100_000 }
    end
    assert_operator bursts, :<, 10
  end

  def test_what_is_unflushed_is_bounded
    @connection.extend(Observed)
    statements = Array.new(100) { statement("SELECT length($1::text)", ["x" * 10_000]) }
    send_through(statements)
    # 1 MB in portions of 64 kB.
    assert_operator @connection.flushes, :>=, 1_000_000 / (Pipeloader::Pipeline::UNFLUSHED + 10_000)
    assert_equal [[["10000"]]] * 100, values(statements)
  end

  def test_holds_no_more_than_it_may
    with_constant(Pipeloader::Pipeline, :HELD, 1_000_000) do
      statements = Array.new(200) { |i| statement("SELECT #{i}, repeat('x', 100000)") }
      pipeline = send_through(statements)
      answered = statements.count(&:answered?)
      assert_includes 9..40, answered
      assert_equal statements.first(answered), statements.select(&:answered?), "the first, in order"
      assert_equal answered, pipeline.sent

      again = send_through(statements.drop(answered).first(3))
      assert_equal 3, again.sent
      assert_equal((0...(answered + 3)).map(&:to_s), statements.first(answered + 3).map { |it| it.result.getvalue(0, 0) })
    end
  end

  def test_works_in_a_transaction_and_leaves_it_as_it_was
    @connection.exec("BEGIN")
    statements = [statement("SELECT 1"), statement("SELECT 2")]
    send_through(statements)
    assert_equal [[["1"]], [["2"]]], values(statements)
    assert_equal PG::PQTRANS_INTRANS, @connection.transaction_status

    statements = [statement("SELECT 1"), statement("SELECT 1 / 0"), statement("SELECT 3")]
    send_through(statements)
    assert_equal [[["1"]], "22012", "25P02"], answers(statements)
    assert_equal PG::PQTRANS_INERROR, @connection.transaction_status

    send_through(statements = [statement("SELECT 1")])
    assert_equal ["25P02"], answers(statements)
  ensure
    @connection.exec("ROLLBACK")
  end

  # As `exec` begins: with what nobody fetched thrown away.
  def test_a_connection_that_was_left_busy
    @connection.send_query("SELECT 'not fetched' FROM generate_series(1, 10000)")
    send_through(statements = [statement("SELECT 'mine'")])
    assert_equal [[["mine"]]], values(statements)
  end

  def test_a_connection_that_was_left_in_a_copy
    @connection.exec("COPY users TO STDOUT")
    send_through(statements = [statement("SELECT 'mine'")])
    assert_equal [[["mine"]]], values(statements)
  end

  def test_refuses_a_connection_in_somebody_elses_pipeline
    @connection.enter_pipeline_mode
    pipeline = Pipeloader::Pipeline.new(@connection)
    error = assert_raises(PG::ConnectionBad) { pipeline.open { pipeline.start([statement("SELECT 'theirs'")]) } }
    assert_match(/pipeline/, error.message)
    refute_predicate pipeline, :cut_short?
    assert_equal PG::PQ_PIPELINE_ON, @connection.pipeline_status, "left as it was"
  ensure
    @connection.exit_pipeline_mode
  end

  def test_refuses_a_connection_that_is_closed
    @connection.close
    pipeline = Pipeloader::Pipeline.new(@connection)
    assert_raises(PG::ConnectionBad) { pipeline.open { pipeline.start([statement("SELECT 1")]) } }
  end

  def test_refuses_a_connection_that_was_cut
    terminate(@connection.backend_pid)
    pipeline = Pipeloader::Pipeline.new(@connection)
    statements = [statement("SELECT 1")]
    assert_raises(PG::ConnectionBad) { pipeline.open { [pipeline.start(statements), pipeline.finish] } }
    refute_predicate statements.first, :answered?
    refute_predicate pipeline, :cut_short?
    @unclean = true
  end

  def test_the_callers_error_is_the_one_that_is_raised
    pipeline = Pipeloader::Pipeline.new(@connection)
    mine = ArgumentError.new("mine")
    raised = assert_raises(ArgumentError) do
      pipeline.open do
        pipeline.start([statement("SELECT 1"), statement("SELECT 2")])
        raise mine
      end
    end
    assert_same mine, raised
    assert_clean(@connection)
  end

  def test_the_callers_error_is_the_one_that_is_raised_on_a_dead_connection
    pipeline = Pipeloader::Pipeline.new(@connection)
    mine = Class.new(Exception) # rubocop:disable Lint/InheritException
    assert_raises(mine) do
      pipeline.open do
        pipeline.start([statement("SELECT pg_sleep(60)")])
        terminate(@connection.backend_pid)
        begin
          @connection.consume_input
        rescue PG::Error
          # Known to be dead now.
        end
        raise mine, "mine"
      end
    end
    assert_equal PG::CONNECTION_BAD, @connection.status
    @unclean = true
  end

  # What another fiber may do meanwhile, under a fiber scheduler or in a nested burst.
  def test_leaving_the_block_by_throw_is_an_interrupt_too
    pipeline = Pipeloader::Pipeline.new(@connection)
    result = catch(:out) do
      pipeline.open do
        pipeline.start([statement("SELECT pg_sleep(60)")])
        throw :out, "thrown"
      end
    end
    assert_equal "thrown", result
    assert_clean(@connection)
  end

  # No cancel request gets through: the connection is given up, and said so, within the deadline.
  def test_stuck_when_answers_no_longer_come
    assert_stuck(:answers)
  end

  def test_stuck_when_nothing_gets_through
    assert_stuck(:requests, :answers)
  end

  def test_stuck_when_nothing_gets_through_and_much_is_unsent
    assert_stuck(:requests, :answers) { Array.new(200) { statement("SELECT length($1::text)", ["x" * 100_000]) } }
  end

  def test_garbage_is_an_error
    gate = gate_before_server
    connection = connect_through(gate)
    gate.hold(:answers)
    pipeline = Pipeloader::Pipeline.new(connection)
    statements = [statement("SELECT 1"), statement("SELECT 2")]
    assert_raises(PG::Error) do
      pipeline.open do
        pipeline.start(statements)
        gate.await(:answers)
        gate.garble { |bytes| bytes.tr("\x00-\x7f", "\x01-\x7f\x00") }
        gate.pass(:answers)
        pipeline.finish
      end
    end
    assert_empty statements.select(&:answered?)
  ensure
    connection&.close
  end

  private

  def statement(sql, params = [], name: nil, prepare: false)
    Pipeloader::Statement.new(Asked.new(sql, params), name: name, prepare: prepare)
  end

  # @return [Pipeline] afterwards
  def send_through(statements, connection = @connection)
    Pipeloader::Pipeline.new(connection).tap do |pipeline|
      pipeline.open do
        pipeline.start(statements)
        pipeline.finish
      end
    end
  end

  def values(statements) = statements.map { |it| it.fetch.values }

  # Rows, SQLSTATE, or the class of what Ruby said.
  def answers(statements)
    statements.map do |it|
      it.fetch.values
    rescue PG::Error => e
      e.result ? e.result.error_field(PG::PG_DIAG_SQLSTATE) : e.class
    rescue StandardError => e
      e.class
    end
  end

  def with_sync(method, &block) = with_constant(Pipeloader::Pipeline, :SYNC, method, &block)

  def assert_errors_stay_alone
    [[0], [3], [6], [0, 3, 6], (0..6).to_a].each do |positions|
      statements = Array.new(7) { |i| statement(positions.include?(i) ? "SELECT #{i} / 0" : "SELECT #{i}") }
      send_through(statements)
      assert_equal Array.new(7) { |i| positions.include?(i) ? "22012" : [[i.to_s]] }, answers(statements)
      assert_clean(@connection)
    end
  end

  # More statements than may be without an answer: they go as answers come.
  def assert_window_is_kept
    @connection.extend(Observed)
    with_constant(Pipeloader::Pipeline, :HELD, 400_000) do
      statements = Array.new(1_000) { |i| statement("SELECT $1::int", [i], name: "w", prepare: i.zero?) }
      until (rest = statements.reject(&:answered?)).empty?
        send_through(rest)
      end
      assert_equal((0...1_000).map { |i| [[i.to_s]] }, values(statements))
      assert_equal 1_000, @connection.synced
      assert_includes 2..100, @connection.most_in_flight
    end
  end

  def assert_interrupt_empties_the_pipeline
    advisory_locked(12) do
      statements = Array.new(100) { |i| statement(i == 50 ? "SELECT pg_advisory_xact_lock(12)" : "SELECT #{i}") }
      pipeline = Pipeloader::Pipeline.new(@connection)
      assert_raises(Stop) do
        pipeline.open do
          pipeline.start(statements)
          await_waiter
          raise Stop, "enough"
        end
      end
      assert_predicate pipeline, :cut_short?
      assert_equal PG::CONNECTION_OK, @connection.status
      assert_clean(@connection)
      assert_answers_rightly
      # Those before the one that was running have their answers, and those keep being right.
      statements.each_with_index { |it, i| assert_equal i.to_s, it.result.getvalue(0, 0) if it.answered? }
      assert statements.first(50).all?(&:answered?)
      refute_predicate statements[50], :answered?
    end
  end

  def assert_all_answered(count, &block)
    statements = Array.new(count, &block)
    until (rest = statements.reject(&:answered?)).empty?
      send_through(rest)
      rest.each { |it| assert_equal 100_000, it.result.getlength(0, 0) if it.answered? }
    end
    assert statements.all?(&:answered?)
  end

  def assert_stuck(*ways)
    gate = gate_before_server
    connection = connect_through(gate)
    statements = block_given? ? yield : [statement("SELECT 1"), statement("SELECT 2")]
    gate.hold(*ways)
    pipeline = Pipeloader::Pipeline.new(connection)
    assert_raises(Stop) do
      pipeline.open do
        pipeline.start(statements)
        gate.await(ways.first)
        raise Stop, "enough"
      end
    end
    assert_predicate pipeline, :cut_short?
    assert_equal PG::CONNECTION_BAD, connection.status
    assert_empty statements.select(&:answered?)
  ensure
    gate&.pass
    connection&.close
  end

  def gate_before_server = gate(**PrivateCluster.tcp_hash.slice(:host, :port))

  def connect_through(gate)
    PG.connect(host: "127.0.0.1", port: gate.port, user: PrivateCluster.user, dbname: TestDatabase::NAME, sslmode: "disable",
               gssencmode: "disable", **PrivateCluster.connection_hash.slice(:password))
  end

  # @return [Array<Array(String, String)>] messages of the wire in their order: [["F", "Parse"], …, ["B", "ReadyForQuery"]]
  def traced
    reader, writer = IO.pipe
    collected = Thread.new { reader.read }
    @connection.trace(writer)
    yield
    @connection.untrace
    writer.close
    collected.value.lines.map { |line| line.chomp.split("\t").values_at(1, 3) }
  end

  # The client has said all it says before the server's first word is needed.
  def assert_one_round_trip(events)
    assert_equal events.sort_by.with_index { |(side, _), i| [side == "F" ? 0 : 1, i] }, events
  end

  def assert_clean(connection)
    assert_equal PG::PQ_PIPELINE_OFF, connection.pipeline_status
    assert_equal PG::PQTRANS_IDLE, connection.transaction_status
    refute_predicate connection, :is_busy
  end

  def assert_answers_rightly
    assert_equal [["now"]], @connection.exec_params("SELECT $1::text", ["now"]).values
    # A large parameter goes out only if sends flush by themselves again.
    assert_equal "5000000", @connection.exec_params("SELECT length($1::text)", ["x" * 5_000_000]).getvalue(0, 0)
  end
end

# frozen_string_literal: true

require "io/wait"
require "objspace"

module Pipeloader
  # libpq's pipeline mode on one connection, and the only place that talks to PG::Connection.
  #
  # Every statement is followed by a Sync, so that one error stays one error, and the end is known by counting Syncs:
  # an idle pipeline answers nil for ever. What comes is read while more is sent, else both sides' buffers grow to the
  # size of the burst. However the block of #open ends, the connection is out of pipeline mode with every Sync read, or it is
  # broken, as everybody can see: left in pipeline mode it would give its next user these rows.
  #
  # Interrupts (Timeout, Thread#raise, Thread#kill) come in while this waits and at no other time: a result that was
  # fetched and not booked would shift all that follow to the wrong reads.
  class Pipeline # rubocop:disable Metrics/ClassLength
    # Bytes that may wait to be written.
    UNFLUSHED = 64 * 1024

    # Bytes of results of one burst. What is over goes with the next: 2,000 reads of 100 kB don't sit in memory at once. No
    # more is under way than is expected to stay below it.
    HELD = 32 * 1024 * 1024

    IDLE = [PG::PQTRANS_IDLE, PG::PQTRANS_INTRANS, PG::PQTRANS_INERROR].freeze

    # libpq 14 to 16 flush at each Sync (client CPU +15 % per burst), later ones needn't.
    SYNC = PG::Connection.method_defined?(:send_pipeline_sync) ? :send_pipeline_sync : :pipeline_sync
    NOTHING = [].freeze
    private_constant :IDLE, :SYNC, :NOTHING

    attr_reader :bytes_sent, :bytes_received, :sent

    # @param result_sizes [ResultSizes] kept from burst to burst
    # @param together [Array<Pipeline>] those that are open on other connections; while one is waited for, all are read. A
    #   proxy may have lent them the server that another client needs to go on, and that client has ours.
    # @param clock [ServerClock, nil] is told of answers
    #
    #: (PG::Connection, ?ResultSizes, ?Array[Pipeline], ?ServerClock?) -> void
    def initialize(connection, result_sizes = ResultSizes.new, together = [], clock = nil)
      @connection = connection
      @result_sizes = result_sizes
      @together = together
      @clock = clock
      @waiting = []   # statements not sent
      @in_flight = [] # statements sent whose Sync hasn't come, in order
      @entered = @cut_short = false
      @expected = @unflushed = 0 # bytes that the statements in flight will bring; that aren't written yet
      @bytes_sent = @bytes_received = @sent = 0
    end

    def open
      discard_leftover if CancelRequest.active?(@connection) && no_pipeline?
      uninterrupted { enter }
      yield
      uninterrupted { leave }
    rescue PG::Error => e
      # PQpipelineSync (which flushes) and PQflush may be the first to meet a connection that broke. pg then raises PG::Error
      # itself, for which ActiveRecord wouldn't reconnect.
      raise unless e.instance_of?(PG::Error) && broken?

      raise PG::ConnectionBad.new(e.message, connection: @connection)
    ensure
      @together.delete(self)
      uninterrupted { clear } if @entered
    end

    # Sends as much as is allowed to be under way, without waiting.
    #
    # @param serial [Boolean] as Schedule's
    def start(statements, serial = @connection.transaction_status != PG::PQTRANS_IDLE)
      @waiting = statements.dup
      @schedule = Schedule.of(statements, serial)
      uninterrupted do
        fill
        @connection.sync_flush
      end
      @clock&.start
    end

    # Returns when every statement that was sent is answered.
    def finish
      until @in_flight.empty?
        raise @failure if @failure

        others = @together.one? ? wait : wait_for_any
        uninterrupted do
          go_on
          cancel_late
        end
        others&.each { |other| other.keep_up }
      end
    end

    # It has not come to its end by itself: what was running is canceled, or the connection was broken off.
    def cut_short? = @cut_short

    protected

    # Reads and sends what can be without waiting, while another pipeline is waited for. What fails is told in #finish.
    def keep_up
      return if @in_flight.empty? || @failure

      uninterrupted do
        @connection.consume_input
        go_on
        @connection.sync_flush
      end
    rescue PG::Error => e
      @failure = e
    end

    # Seconds until a query's time is up; nil without a limit, or with nothing to wait for.
    def left = (@schedule&.left unless @in_flight.empty? || @failure)

    def wants
      return [] if @in_flight.empty? || @failure

      [@connection.socket_io, (@connection.socket_io unless @connection.sync_flush)]
    end

    private

    def go_on
      @clock&.listen
      take_what_came
      @schedule&.keep(@in_flight, @waiting)
      fill
    end

    def cancel_late
      return unless @schedule&.over?(@in_flight)

      cancel_until_empty
      refuse("can't be cleared") unless @in_flight.empty?
    end

    def enter
      refuse(broken? ? "is broken" : "is busy") unless IDLE.include?(@connection.transaction_status)
      refuse("is in somebody else's pipeline") unless no_pipeline?

      @entered = true
      @together << self
      @connection.enter_pipeline_mode
      # Else each send is a system call of its own: 406 of them for 400 statements, instead of 7.
      @connection.send(:flush_data=, false)
    end

    # Results that nobody fetched: every statement of ActiveRecord's begins like this, too. (pg's own `discard_results` lets
    # no interrupt in.)
    def discard_leftover
      @connection.block while @connection.is_busy
      @connection.discard_results
    end

    def no_pipeline? = @connection.pipeline_status == PG::PQ_PIPELINE_OFF

    def leave
      @connection.exit_pipeline_mode
      @connection.send(:flush_data=, true)
      @entered = false
    end

    def broken? = @connection.status == PG::CONNECTION_BAD
    def uninterrupted(&) = Thread.pipeloader_host_handle_interrupt(CancelRequest::UNINTERRUPTED, &)

    # After an interrupt or a broken connection: gets the pipeline empty, within a deadline. Another interrupt waits.
    def clear
      return if broken?

      @cut_short = true
      cancel_until_empty unless @distrusted
      leave if @in_flight.empty?
    rescue PG::Error, SystemCallError, IOError
      # Not empty: see below.
    ensure
      # Thrown away inside a transaction it would be replaced by one that has none: what the caller writes next would be
      # committed, and what was written before lost, without a word.
      CancelRequest.close(@connection) if @entered && !broken?
    end

    def fill
      while room? && (statement = @waiting.shift)
        transmit(statement)
        next if (@unflushed += statement.bytesize) < UNFLUSHED
        # The socket is full: first see what the other side has to say.
        break unless @connection.sync_flush

        @unflushed = 0
      end
      @waiting.clear if @bytes_received >= HELD
    end

    def room?
      return false if @schedule && !room_in_time?

      @bytes_received < HELD && (@in_flight.empty? || @expected + expect(@waiting.first) <= HELD)
    end

    def room_in_time?
      under_way = @in_flight.grep_v(TransactionControl::Savepoint).size
      @schedule.room?(under_way, @sent - under_way)
    end

    def expect(statement) = statement ? statement.size_by(@result_sizes) : 0

    def transmit(statement)
      transmit_savepoint(TransactionControl::Savepoint.set) if statement.in_savepoint?
      put_in_flight(statement, expect(statement)) do
        statement.each_command { |command| send_statement(command) }
      end
      transmit_savepoint(TransactionControl::Savepoint.undo) if statement.in_savepoint?
      @sent += 1 + statement.followers.size
      @bytes_sent += statement.bytesize
    end

    def transmit_savepoint(savepoint)
      put_in_flight(savepoint, 0) do
        savepoint.commands.each { |command| @connection.send_query_params(command, NOTHING) }
      end
    end

    # Yields to send it; a Sync is behind it.
    def put_in_flight(statement, expected)
      @in_flight << statement
      @expected += statement.expected = expected
      yield
      @connection.public_send(SYNC)
    end

    def send_statement(statement)
      sent = statement.before.all? { |command| sendable?(statement) { @connection.send_query_params(*command) } }
      return unless sent

      sendable?(statement) { send_itself(statement) }
      statement.after.each { |command| @connection.send_query_params(*command) }
    end

    def send_itself(statement)
      @connection.send_prepare(statement.name, statement.sql, statement.types) if statement.prepare?
      if statement.name
        @connection.send_query_prepared(statement.name, statement.params)
      else
        @connection.send_query_params(statement.sql, statement.params)
      end
      ask_types(statement) if statement.describe?
    end

    # Yields to send a part of the statement.
    #
    # @return [Boolean] whether that was possible
    def sendable?(statement)
      yield
      true
    rescue ArgumentError, TypeError, EncodingError, RangeError => e
      # pg couldn't encode the SQL or a parameter. That is this read's error, as it would be without us.
      statement.refuse(e)
      false
    rescue PG::UnableToSend => e
      # More than 65,535 parameters, say: nothing was sent.
      raise unless @connection.status == PG::CONNECTION_OK

      statement.refuse(e)
      false
    end

    def ask_types(statement)
      @connection.send_prepare("", statement.described_sql) if statement.described_sql
      @connection.send_describe_prepared(statement.described_sql ? "" : statement.name.to_s)
    end

    # Until there is something to read, or room to write what is left.
    #
    # @return [nil]
    def wait
      if @connection.sync_flush
        Waiting.outside { @connection.block(*left) } if @connection.is_busy
      else
        socket = @connection.socket_io
        Waiting.outside { Waiting.for_any([socket], [socket], left) }
        @connection.consume_input
      end
      nil
    end

    # @return [Array<Pipeline>] others for which something may have come
    def wait_for_any
      others = @together.reject { |pipeline| pipeline.equal?(self) }
      return others unless @connection.is_busy

      wants = [self, *others].to_h { |pipeline| [pipeline, pipeline.wants] }.reject { |_, sockets| sockets.empty? }
      limit = @together.filter_map { |pipeline| pipeline.left }.min
      ready = Waiting.outside { Waiting.for_any(wants.values.map(&:first), wants.values.filter_map(&:last), limit) }
      @connection.consume_input
      ready ? others.select { |pipeline| wants[pipeline]&.intersect?(ready) } : others
    end

    def take_what_came(clearing: false)
      nothing = 0
      until @in_flight.empty? || @connection.is_busy
        result = @connection.sync_get_result
        nothing = result ? 0 : nothing + 1
        refuse("gave no answer") if nothing > 2
        take(result, clearing) if result
      end
    end

    # libpq doesn't match Syncs with what was sent. Were a message lost, or sent twice, by a proxy that is out of step, all
    # that follow would go to the wrong reads.
    def take(result, clearing)
      statement = @in_flight.first
      if result.result_status == PG::PGRES_PIPELINE_SYNC
        distrust("has given no answer to a statement") unless clearing || statement.complete?
        @in_flight.shift
        @expected -= statement.expected
        statement.complete(clearing)
        @clock&.answered(statement)
      else
        distrust("has given two answers to a statement") unless statement.expects?(result)
        count(result, statement)
        statement.take(result)
      end
    end

    # Whatever else comes must not be taken.
    def distrust(what)
      @distrusted = true
      refuse(what)
    end

    def count(result, statement)
      @bytes_received += size = ObjectSpace.memsize_of(result)
      statement.tell_size(size, @result_sizes) if result.result_status == PG::PGRES_TUPLES_OK && statement.rows_next?
    end

    # With a Sync after each statement a cancel ends but the one that is running, hence again and again.
    def cancel_until_empty
      deadline = now + CancelRequest::CLEARING
      until @in_flight.empty? || (left = deadline - now).negative?
        break unless CancelRequest.deliver(@connection, left)

        # Not #block: that waits for what is unsent, without a limit.
        @connection.sync_flush
        @connection.consume_input if @connection.socket_io.wait_readable(CancelRequest::EVERY)
        take_what_came(clearing: true)
      end
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    def refuse(what)
      raise PG::ConnectionBad, "connection #{what}; Pipeloader can't use it"
    end
  end
end

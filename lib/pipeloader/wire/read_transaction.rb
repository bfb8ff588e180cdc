# frozen_string_literal: true

module Pipeloader
  # The transaction in which a response reads from one database, so that all of it is of one snapshot. ActiveRecord doesn't know
  # of it.
  #
  # The first burst begins it. Each statement goes back to a savepoint first, under its own Sync: whatever the one before it did,
  # it did to itself. So there is no round trip more until the end, and none has failed when a burst is over.
  class ReadTransaction
    BEGINNING = ["BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY", "SAVEPOINT pipeloader_read"].freeze
    BACK = ["ROLLBACK TO SAVEPOINT pipeloader_read"].freeze
    # What the statement before has set, stays: by a resolver's own SET.
    FORTH = ["RELEASE SAVEPOINT pipeloader_read", "SAVEPOINT pipeloader_read"].freeze
    OWN = ["SAVEPOINT pipeloader_own"].freeze
    # A transaction that can't write has but settings to commit, most of which end with it.
    OWN_AGAIN = ["ROLLBACK TO SAVEPOINT pipeloader_own"].freeze
    OWN_OVER = [*OWN_AGAIN, "RELEASE SAVEPOINT pipeloader_own"].freeze
    WHILE_WAITING = { Object => :on_blocking }.freeze
    GONE = "The snapshot of `use Pipeloader, snapshot: true` is gone: its connection broke, or a resolver gave it back, " \
           "reset it or took another. `idle_in_transaction_session_timeout` must be longer than a query takes"
    private_constant :BEGINNING, :BACK, :FORTH, :OWN, :OWN_AGAIN, :OWN_OVER, :WHILE_WAITING, :GONE

    # True if what an SQL text sets is to stay, as it does without a transaction: not what `SET LOCAL` does.
    def self.keeps?(sql) = SQLText.effect_on_session(sql) == :changes

    alias inspect to_s

    # Its connection reads. Another's may, as long as none has been asked.
    #
    #: (ActiveRecord::ConnectionAdapters::PostgreSQLAdapter) -> ReadTransaction
    def on(adapter)
      @adapter = adapter unless @read || @connection
      self
    end

    # @return [Boolean] whether what is read there is to be in it: not inside somebody else's transaction
    # @raise [SnapshotError] if others have been read in it, and it is there no more
    def takes?(connection)
      return !@own if open?(connection)
      raise SnapshotError, GONE if @read || elsewhere?(connection)

      connection.transaction_status == PG::PQTRANS_IDLE
    end

    ## A burst

    # What goes before a statement, and after one that may change the session.
    #
    # @param first [Boolean] whether it is the first of the burst
    # @return [Array(Array<Array>, Array<Array>)] each SQL with its parameters
    #
    #: (Statement, bool, PG::Connection) -> Array[untyped]
    def around(statement, first, connection)
      before = first ? first_commands(connection) : BACK
      [commands(before), statement.reads.any? { |read| ReadTransaction.keeps?(read.sql) } ? commands(FORTH) : []]
    end

    # It is over.
    #
    #: (Array[Statement], PG::Connection) -> void
    def sent(statements, connection)
      if @opening && statements.first.set < BEGINNING.size
        give_up_on(connection)
      else
        @loose = false
        @read ||= statements.any?(&:answered?)
      end
      settle(connection, BACK) if failed?(connection)
    end

    ## What ActiveRecord sends itself

    # Yields to send it.
    #
    # @param keep [Boolean] whether what it sets is to stay
    #
    #: [T] (PG::Connection, bool) { () -> T } -> T
    def within(connection, keep)
      return yield unless takes?(connection)

      enter(connection)
      @loose = keep
      begin
        yield.tap { @read = true }
      ensure
        settle(connection, BACK) if open?(connection) && connection.transaction_status != PG::PQTRANS_INTRANS
      end
    end

    # True if a transaction of ActiveRecord's is begun in it.
    def own? = @own

    # True if what is set for the session ends with a transaction of ActiveRecord's.
    def sets_end?(adapter) = adapter.transaction_open? || adapter.pipeloader_session.response&.settings?

    # ActiveRecord's BEGIN.
    #
    # @return [Boolean] whether it is in this one
    def begin_own(connection)
      return false unless takes?(connection)

      enter(connection)
      control(connection, OWN)
      @read = @own = true
    end

    # Its ROLLBACK, or COMMIT.
    def end_own(connection)
      control(connection, OWN_OVER)
      @own = false
    end

    # ROLLBACK AND CHAIN
    def restart_own(connection) = control(connection, OWN_AGAIN)

    ## The end

    # Asks for its end. That is on its way while the response is; #await_end is for whoever uses the connection next.
    def ask_end
      return unless @connection && open?(@connection)

      @connection.send_query(failed?(@connection) ? [*BACK, "COMMIT"].join(";") : "COMMIT")
      @ending = true
    rescue PG::Error # all has been read
      nil
    end

    # Returns when the end that was asked for has come, if +connection+ is its own.
    def await_end(connection)
      return unless @ending && (connection.equal?(@connection) || broken?(@connection))

      Waiting.outside { @connection.block }
      @connection.discard_results
      leave
    rescue PG::Error # what is sent next will tell
      leave
    end

    # In whatever state it is, nothing of it stays on the connection.
    def give_up
      return if @ending || (connection = @connection).nil?

      CancelRequest.clear(connection) if open?(connection)
      settle(connection, ["ROLLBACK"]) if open?(connection)
    ensure
      leave if connection
    end

    private

    def leave
      @adapter.pipeloader_leave_snapshot
      @connection = nil
      @ending = false
    end

    # True if another connection has it.
    def elsewhere?(connection) = !@connection.nil? && !connection.equal?(@connection) && !over?(@connection)

    # To where what comes next begins: whatever has failed, is gone.
    def again(connection) = @loose && !failed?(connection) ? FORTH : BACK

    def open?(connection) = connection.equal?(@connection) && !over?(connection)
    def over?(connection) = broken?(connection) || connection.transaction_status == PG::PQTRANS_IDLE
    def broken?(connection) = connection.finished? || connection.status == PG::CONNECTION_BAD
    def failed?(connection) = connection.transaction_status == PG::PQTRANS_INERROR
    def commands(texts) = texts.map { |sql| [sql, []] }

    def first_commands(connection)
      @opening = !open?(connection)
      return again(connection) unless @opening

      begin_on(connection)
      BEGINNING
    end

    # Noted before it is sent: whatever happens then, it is ended.
    def begin_on(connection)
      @connection = connection
      @adapter.pipeloader_session.read_transaction = self
    end

    # It may have begun, or not.
    def give_up_on(connection)
      CancelRequest.close(connection) unless over?(connection)
    end

    def enter(connection)
      return (control(connection, again(connection)) if @loose || failed?(connection)) if open?(connection)

      begin_on(connection)
      begin
        control(connection, BEGINNING)
        begun = true
      ensure
        give_up_on(connection) unless begun
      end
    end

    # Interrupts come in while it waits.
    def control(connection, texts)
      Thread.pipeloader_host_handle_interrupt(WHILE_WAITING) do
        CancelRequest.clear(connection)
        done = Waiting.outside { connection.async_exec(texts.join(";")).clear }
      ensure
        CancelRequest.clear(connection) unless done
      end
    end

    # None comes in, but it ends in time, or the connection does.
    def settle(connection, texts)
      Thread.pipeloader_host_handle_interrupt(CancelRequest::UNINTERRUPTED) do
        CancelRequest.clear(connection)
        connection.send_query(texts.join(";"))
        connection.block(CancelRequest::CLEARING)
        connection.is_busy ? CancelRequest.close(connection) : connection.discard_results
      end
    rescue PG::Error
      CancelRequest.close(connection) unless broken?(connection)
    end
  end
end

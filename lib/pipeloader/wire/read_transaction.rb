# frozen_string_literal: true

module Pipeloader
  # The transaction in which a response reads from one database, so that all of it is of one snapshot. ActiveRecord doesn't know
  # of it.
  #
  # The first burst begins it. Each statement goes back to a savepoint first, under its own Sync: whatever the one before it did,
  # it did to itself. So there is no round trip more until the end, and none has failed when a burst is over.
  class ReadTransaction
    BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"
    SAVEPOINT = "SAVEPOINT pipeloader_read"
    BACK = ["ROLLBACK TO SAVEPOINT pipeloader_read"].freeze
    # What the statement before has left behind, stays.
    FORTH = ["RELEASE SAVEPOINT pipeloader_read", SAVEPOINT].freeze
    # No savepoint may be open there.
    EXPORT = "SELECT pg_export_snapshot()"
    OWN = ["SAVEPOINT pipeloader_own"].freeze
    OWN_AGAIN = ["ROLLBACK TO SAVEPOINT pipeloader_own"].freeze
    OWN_OVER = [*OWN_AGAIN, "RELEASE SAVEPOINT pipeloader_own"].freeze
    GONE = "The snapshot of `use Pipeloader, snapshot: true` is gone: its connection broke, or a resolver gave it back, " \
           "reset it, took another or ended its transaction by hand. `idle_in_transaction_session_timeout` must be longer " \
           "than a query takes"
    private_constant :BEGIN_READ, :SAVEPOINT, :BACK, :FORTH, :EXPORT, :OWN, :OWN_AGAIN, :OWN_OVER, :GONE

    # What a statement leaves behind: `SET` stays, as it does without a transaction; `SET LOCAL` ends with its statement.
    #
    # @param sql [String, nil] nil if nobody has seen it
    # @return [Array<String>, nil] what goes before the next statement because of it
    def self.left_by(sql)
      return FORTH if sql.nil? || SQLText.effect_on_session(sql) == :changes || SQLText.notifies?(sql)

      SQLText.plain?(sql) ? (BACK if SQLText.sets_by_function?(sql)) : (SQLText.sets?(sql) ? BACK : FORTH)
    end

    # True if that is to stay.
    def self.keeps?(sql) = left_by(sql).equal?(FORTH)

    alias inspect to_s

    # @param exported [String, nil] the snapshot of another one, as its #export returned it
    def initialize(exported = nil)
      @begin = [BEGIN_READ, *("SET TRANSACTION SNAPSHOT '#{exported}'" if exported)]
    end

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
    # @param set [Boolean] whether Settings were set in it
    #
    #: (Array[Statement], PG::Connection, bool) -> void
    def sent(statements, connection, set)
      if @opening && statements.first.set <= @begin.size
        @refused = true
        TransactionControl.close_unless_over(connection)
      else
        last = statements.reverse_each.find(&:answered?)
        @read ||= !last.nil?
        @left = (BACK if set || (last && ReadTransaction.left_by(last.sql).equal?(BACK)))
      end
      TransactionControl.settle(connection, BACK) if failed?(connection)
    end

    # True if the server hasn't begun it.
    def refused? = @refused

    ## Lanes

    # True if it is open, and none of ActiveRecord's in it.
    def shared? = !@own && !@ending && !@connection.nil? && open?(@connection) && @adapter.open_transactions.zero?

    # True if its snapshot is known to others.
    def exported? = !@exported.nil?

    # Lets other connections read in its snapshot, which takes a round trip once.
    #
    # @return [String, nil] what #initialize takes; nil if nothing is read in it
    def export(connection)
      return unless takes?(connection)

      @exported ||= if open?(connection)
                      TransactionControl.call_or_close(connection, [*cleaning(connection), FORTH.first, EXPORT, SAVEPOINT])
                    else
                      begin_by(connection, [*@begin, EXPORT, SAVEPOINT])
                    end
    end

    ## What ActiveRecord sends itself

    # Yields to send it.
    #
    # @param sql [String, nil] nil if nobody has seen it
    #
    #: [T] (PG::Connection, String?) { () -> T } -> T
    def within(connection, sql)
      unless takes?(connection)
        @own_stays ||= @own && ReadTransaction.keeps?(sql)
        return yield
      end

      enter(connection)
      @left = ReadTransaction.left_by(sql)
      begin
        yield.tap { @read = true }
      ensure
        TransactionControl.settle(connection, BACK) if open?(connection) && connection.transaction_status != PG::PQTRANS_INTRANS
      end
    end

    # Undoes what the last statement has set for itself, before somebody else looks: see Session#set_aside.
    def tidy(connection)
      enter(connection) if open?(connection) && !@own
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

      enter(connection, OWN)
      @own_stays = false
      @read = @own = true
    end

    # Its COMMIT: settings end with it.
    def commit_own(connection)
      @own_stays && !failed?(connection) ? TransactionControl.call(connection, FORTH) : roll_back_own(connection)
      @own = false
    end

    # Its ROLLBACK.
    def roll_back_own(connection)
      TransactionControl.call(connection, OWN_OVER)
      @own = false
    end

    # ROLLBACK AND CHAIN
    def restart_own(connection) = TransactionControl.call(connection, OWN_AGAIN)

    ## The end

    # Asks for its end. That is on its way while the response is; #await_end is for whoever uses the connection next.
    def ask_end
      return unless @connection && open?(@connection)

      @connection.send_query(failed?(@connection) ? [*BACK, "COMMIT"].join(";") : "COMMIT")
      @ending = true
      await_end(@connection) if @adapter.pipeloader_in_hands?
      true
    rescue PG::Error # all has been read
      nil
    end

    # Returns when the end that was asked for has come, if +connection+ is its own.
    def await_end(connection)
      return unless @ending && (connection.equal?(@connection) || TransactionControl.broken?(@connection))

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
      TransactionControl.settle(connection, ["ROLLBACK"]) if open?(connection)
    ensure
      leave if connection
    end

    private

    # Somebody may have had the end itself canceled.
    def leave
      TransactionControl.close_unless_over(@connection)
      @adapter.pipeloader_leave_snapshot
      @connection = nil
      @ending = false
    end

    # True if another connection has it.
    def elsewhere?(connection) = !@connection.nil? && !connection.equal?(@connection) && !over?(@connection)

    # What goes before whatever comes next.
    def cleaning(connection) = failed?(connection) ? BACK : @left

    def open?(connection) = connection.equal?(@connection) && !over?(connection)
    def over?(connection) = TransactionControl.over?(connection)
    def failed?(connection) = connection.transaction_status == PG::PQTRANS_INERROR
    def commands(texts) = texts.map { |sql| [sql, []] }

    def first_commands(connection)
      @opening = !open?(connection)
      return cleaning(connection) || BACK unless @opening

      begin_on(connection)
      [*@begin, SAVEPOINT]
    end

    # Noted before it is sent: whatever happens then, it is ended.
    def begin_on(connection)
      @connection = connection
      @adapter.pipeloader_session.read_transaction = self
    end

    # Sends +texts+ in it, where nothing is left of what was there before.
    def enter(connection, texts = [])
      return begin_by(connection, [*@begin, SAVEPOINT, *texts]) unless open?(connection)

      texts = [*cleaning(connection), *texts]
      TransactionControl.call(connection, texts) if texts.any?
      @left = nil
    end

    def begin_by(connection, texts)
      begin_on(connection)
      TransactionControl.call_or_close(connection, texts)
    end
  end
end

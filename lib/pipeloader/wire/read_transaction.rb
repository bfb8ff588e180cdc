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
    RELEASE = "RELEASE SAVEPOINT pipeloader_read"
    UNDO = ["ROLLBACK TO SAVEPOINT pipeloader_read"].freeze
    KEEP = [RELEASE, SAVEPOINT].freeze
    # What goes before a statement, by what the one before it has left behind.
    BEFORE = { stays: KEEP, ends: UNDO }.freeze
    # No savepoint may be open there.
    EXPORT = "SELECT pg_export_snapshot()"
    OWN = ["SAVEPOINT pipeloader_own"].freeze
    UNDO_OWN = ["ROLLBACK TO SAVEPOINT pipeloader_own"].freeze
    END_OWN = [*UNDO_OWN, "RELEASE SAVEPOINT pipeloader_own"].freeze
    GONE = "The snapshot of `use Pipeloader, snapshot: true` is gone: its connection broke, or a resolver gave it back, " \
           "reset it, took another or ended its transaction by hand. `idle_in_transaction_session_timeout` must be longer " \
           "than a query takes"
    BOTH = "In one transaction of a query, `use Pipeloader, snapshot: true` can't undo what is set (by `SET LOCAL`, or " \
           "`settings:`) and keep what else is done (SET, NOTIFY, writes to temporary tables): write in a mutation"
    private_constant :BEGIN_READ, :SAVEPOINT, :RELEASE, :UNDO, :KEEP, :BEFORE, :EXPORT, :OWN, :UNDO_OWN, :END_OWN, :GONE, :BOTH

    alias inspect to_s

    # @param exporter [ReadTransaction, nil] whose snapshot it reads, which that has exported
    def initialize(exporter = nil)
      @exporter = exporter
      @begin = [BEGIN_READ, *("SET TRANSACTION SNAPSHOT '#{exporter.exported}'" if exporter)]
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
      deny(GONE) if @read || elsewhere?(connection)

      connection.transaction_status == PG::PQTRANS_IDLE
    end

    ## A burst

    # What goes before a statement, and after one that leaves something behind.
    #
    # @param first [Boolean] whether it is the first of the burst
    # @return [Array(Array<Array>, Array<Array>)] each SQL with its parameters
    #
    #: (Statement, bool, PG::Connection) -> Array[untyped]
    def around(statement, first, connection)
      stays = statement.reads.any? { |read| SQLText.left_in_transaction(read.sql) == :stays }
      [commands(first ? first_commands(connection) : UNDO), stays ? commands(KEEP) : []]
    end

    # Takes note of a burst that is over.
    #
    # @param set [Boolean] whether Settings were set in it
    #
    #: (Array[Statement], PG::Connection, set: bool) -> void
    def sent(statements, connection, set:)
      refused = @opening && statements.first.set <= @begin.size && connection.transaction_status != PG::PQTRANS_INTRANS
      return refuse(connection) if refused

      last = statements.reverse_each.find { |statement| statement.answered? && statement.reads.any? }
      @read ||= !last.nil?
      @left = (:ends if set || (last && SQLText.left_in_transaction(last.reads.first.sql) == :ends))
      TransactionControl.settle(connection, UNDO) if failed?(connection)
    end

    # True if the server hasn't begun it.
    def refused? = @refused

    # What would have been done outside of it, isn't.
    def spoil = @spoiled = true

    # @raise [SnapshotError]
    def deny(message)
      spoil
      raise SnapshotError, message
    end

    # True if it is open, and all that was asked for was done in it.
    def whole? = !@spoiled && !@own && !@connection.nil? && open?(@connection)

    ## Lanes

    # True if it is open, and none of ActiveRecord's in it.
    def shared? = !@own && !@ending && !@connection.nil? && open?(@connection) && @adapter.open_transactions.zero?

    # @return [String, nil] its snapshot, once others may read in that
    attr_reader :exported

    # Lets other connections read in its snapshot, which takes a round trip once.
    #
    # @return [ReadTransaction, nil] itself; nil if nothing is read in it, or others can't
    def export(connection)
      return if @alone || !takes?(connection)

      @exported ||= open?(connection) ? export_open(connection) : begin_by(connection, [*@begin, EXPORT, SAVEPOINT])
      self
    end

    # Others have no such snapshot: they lead to another server.
    def stop_exporting = @alone = true

    ## What ActiveRecord sends itself

    # Yields to send it.
    #
    # @param sql [String, nil] nil if nobody has seen it
    #
    #: [T] (PG::Connection, String?) { () -> T } -> T
    def within(connection, sql)
      unless takes?(connection)
        note_in_own(sql) if @own
        return yield
      end

      enter(connection)
      @left = sql ? SQLText.left_in_transaction(sql) : :stays
      begin
        yield.tap { @read = true }
      ensure
        TransactionControl.settle(connection, UNDO) if open?(connection) && connection.transaction_status != PG::PQTRANS_INTRANS
      end
    end

    # Undoes what the last statement has set for itself, before somebody else looks: see Session#set_aside.
    def tidy(connection)
      enter(connection) if open?(connection) && !@own
    end

    # True if a transaction of ActiveRecord's is begun in it.
    def own? = @own

    # ActiveRecord's BEGIN.
    #
    # @param set [Boolean] whether Settings are set in it
    # @return [Boolean] whether it is in this one
    def begin_own(connection, set:)
      return false unless takes?(connection)

      enter(connection, OWN)
      @left_in_own = (:ends if set)
      @read = @own = true
    end

    # Its COMMIT: what `SET LOCAL` has set, ends with it.
    def commit_own(connection)
      return roll_back_own(connection) if @left_in_own != :stays || failed?(connection)

      TransactionControl.call_or_close(connection, KEEP)
      @own = false
    end

    # Its ROLLBACK.
    def roll_back_own(connection)
      TransactionControl.call(connection, END_OWN)
      @own = false
    end

    # ROLLBACK AND CHAIN
    def restart_own(connection) = TransactionControl.call(connection, UNDO_OWN)

    ## The end

    # Asks for its end. That is on its way while the response is; #await_end is for whoever uses the connection next.
    def ask_end
      return unless @connection && open?(@connection)

      @connection.send_query(failed?(@connection) ? [*UNDO, "COMMIT"].join(";") : "COMMIT")
      @ending = true
      await_end(@connection) if @adapter.pipeloader_in_hands?
      true
    rescue PG::Error # all has been read
      nil
    end

    # Returns when the end that was asked for has come, if +connection+ is its own.
    def await_end(connection)
      return unless @ending && (connection.equal?(@connection) || CancelRequest.broken?(@connection))

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
    def cleaning(connection) = failed?(connection) ? UNDO : BEFORE[@left]

    def open?(connection) = connection.equal?(@connection) && !over?(connection)
    def over?(connection) = TransactionControl.over?(connection)
    def failed?(connection) = connection.transaction_status == PG::PQTRANS_INERROR
    def commands(texts) = texts.map { |sql| [sql, []] }

    def first_commands(connection)
      @opening = !open?(connection)
      return cleaning(connection) || UNDO unless @opening

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
      # Between these two there is no savepoint to go back to.
      way = texts.include?(RELEASE) ? :call_or_close : :call
      TransactionControl.public_send(way, connection, texts) if texts.any?
      @left = nil
    end

    def export_open(connection)
      exported = TransactionControl.call_or_close(connection, [*cleaning(connection), RELEASE, EXPORT, SAVEPOINT])
      @left = nil
      exported
    end

    # What is left there, may be anything.
    def refuse(connection)
      @refused = true
      @exporter&.stop_exporting
      TransactionControl.close_unless_over(connection)
    end

    # @raise [SnapshotError]
    def note_in_own(sql)
      left = sql && SQLText.left_in_transaction(sql) or return
      deny(BOTH) unless @left_in_own.nil? || @left_in_own == left

      @left_in_own = left
    end

    def begin_by(connection, texts)
      begin_on(connection)
      TransactionControl.call_or_close(connection, texts)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # The reads of a level that are for one connection: sent to it in one go, answered in one go.
  #
  # Connecting, locking, starting the transaction that the caller opened, checking an idle connection and reconnecting
  # are ActiveRecord's own (`with_raw_connection`); this decides only which reads may be sent once more.
  class Burst
    EVENT = "burst.pipeloader"

    class << self
      # True if somebody hears of bursts.
      def watched? = ActiveSupport::Notifications.notifier.listening?(EVENT)

      # Sends each burst before it waits for any: the first one's connection is written to, then the others', and so on.
      # Their events are finished when every pipeline is closed, since a subscriber may read, too.
      #
      #: (Array[Burst]) -> void
      def run(bursts)
        events = []
        begin
          bursts.each { |burst| events << burst.begin_event }
          bursts.each(&:ready) if bursts.size > 1
          bursts.first&.run_before(bursts.drop(1), [])
        ensure
          bursts.first(events.size).each_with_index { |burst, index| burst.count(index.zero? ? 1 : 0) }
          finish(events)
        end
      end

      private

      # All of them, even if a subscriber raises. Whose read this is, gets that, as by a subscriber of sql.active_record.
      def finish(events)
        events.shift&.finish until events.empty?
      ensure
        finish(events) unless events.empty?
      end
    end

    attr_reader :adapter, :reads, :level

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    def response = @level.response

    # True if it is beside another burst of its level, over another connection of the pool.
    def lane? = false

    def initialize(adapter, level)
      @adapter = adapter
      @session = adapter.pipeloader_session
      @level = level
      @reads = [] # in the order in which they were asked for
      @coalesces = true # until one fails
      @lends = true # until some come back without an answer
      @savepoints = false
    end

    def <<(read)
      @reads << read
    end

    # True where the fiber's thread is the one that gathers: an adapter can be shared by threads (transactional tests).
    def gathered_here? = response.thread.equal?(Thread.current)

    # True if it has reads to be sent.
    def pending? = !unanswered.empty?

    #: () -> Array[Read]
    def unanswered = @reads.reject { |read| read.answered? || read.late? }

    # True if other connections of its pool may be asked for its reads.
    def lends? = @lends && @session.lends? && @adapter.pool.respond_to?(:pipeloader_spare)

    # @return [ReadTransaction, nil, false] whose snapshot others can have; nil if there is none, false if they can't
    def export_snapshot
      snapshot = read_transaction or return
      response.count(0, 0) unless snapshot.exported
      taken_out { @adapter.pipeloader_connection(allow_retry: false) { |connection| snapshot.export(connection) } } || false
    rescue ActiveRecord::ActiveRecordError, PG::Error, SnapshotError # its own reads will tell
      false
    end

    # Another connection is asked for them.
    def lend(reads) = @reads -= reads

    # It hasn't answered these.
    def take_back(reads)
      return if reads.empty?

      @lends = false
      @reads |= reads
      @session.gather(self) if pending?
    end

    #: () -> ServerTimes
    def server_times = @session.server_times

    # @return what `finish` must be called on; nil if nobody listens
    def begin_event
      @payload = { connection: @adapter, position: @level.position, lane: lane?, reads: unanswered, statements: 0, answers: [],
                   settings: (response.settings.names if response.settings?), rows: 0, bytes_sent: 0, bytes_received: 0 }
      ActiveSupport::Notifications.instrumenter.build_handle(EVENT, @payload).tap(&:start) if Burst.watched?
    end

    # @param trips [Integer] 0 beside another one, which goes at the same time
    def count(trips) = response.count(@payload[:reads].size, @payload[:statements], trips, @payload[:rows])

    # Whatever ActiveRecord has to ask of the connection first (to connect, to see whether it is there, BEGIN): while it waits
    # for that, nobody reads what another burst's server has to say, which may be what keeps this one's from us (PgBouncer).
    def ready
      taken_out { losing(unanswered) { |resendable| @adapter.pipeloader_ready(allow_retry: resendable) } }
    end

    # @param together [Array<Pipeline>] the pipelines that are open
    #
    #: (Array[Burst], Array[Pipeline]) -> void
    def run_before(others, together)
      @others = others
      @together = together
      @held_back = false
      taken_out do
        attempt(unanswered) while pending? && !@held_back
        run_others
      end
    end

    private

    # Yields while nobody else would send it. Unsent reads go before any write that comes first.
    def taken_out
      @session.gathered(self)
      yield
    ensure
      @session.gather(self) if pending?
    end

    #: () -> ReadTransaction?
    def read_transaction = response.read_transaction(@adapter)

    def attempt(reads)
      losing(reads) do |resendable|
        @adapter.pipeloader_connection(allow_retry: resendable) { |connection| send_and_receive(connection) }
      end
    end

    # Reads that must not be sent twice fail with the connection; the others get another try, by ActiveRecord, or by the
    # loop in #run_before. Inside a transaction nothing does: it ended with the connection that it had begun on.
    def losing(reads)
      outside = outside_transactions?
      resendable = outside && reads.all?(&:resendable?)
      yield resendable
    rescue ActiveRecord::ActiveRecordError, PG::Error, SnapshotError => e
      e.set_backtrace(e.backtrace.first([e.backtrace.size - caller.size, 0].max)) # what each read adds, is where it was asked for
      lost = outside && !resendable ? unanswered.reject(&:resendable?) : unanswered
      lost.each { |read| read.deliver(e, @level.position) }
    end

    def outside_transactions? = @adapter.open_transactions.zero?

    # True if a transaction of its own is around each statement, or one of ours around all.
    def apart?(connection) = !@snapshot.nil? || connection.transaction_status == PG::PQTRANS_IDLE

    # True if a statement that fails does nothing to the others.
    def free?(connection) = @savepoints || apart?(connection)

    # Called again by ActiveRecord after it has reconnected.
    def send_and_receive(connection)
      @snapshot = read_transaction&.then { |it| it if it.takes?(connection) }
      @savepoints = !apart?(connection) && response.restartable?
      grow = coalesces?(connection) && !@savepoints
      singly = Statements.new(@session).of(@ordered = in_order(unanswered, connection), grow)
      return if singly.empty?

      statements = coalesce(singly, connection)
      through_pipeline(connection, statements) { run_others }
      @coalesces = false if statements.any?(&:spoiled?)
      repair(connection, singly.select { |statement| lost?(statement) })
    ensure
      deliver(singly.reject { |statement| lost?(statement) }, connection) if singly
    end

    # Except in a transaction without savepoints: were one for many to fail, its reads couldn't be sent singly. And a client of
    # another encoding has its parameters converted, but not those in arrays.
    def coalesces?(connection)
      @coalesces && free?(connection) && connection.internal_encoding == Encoding::UTF_8
    end

    def coalesce(statements, connection)
      return statements unless coalesces?(connection)

      trees, others = statements.partition { |statement| Tree === statement }
      [*trees, *Coalescing.new(@session).call(others)]
    end

    # The server no longer knows its name, or its plan has changed (DEALLOCATE ALL, ALTER TABLE): no answer yet. Inside a
    # transaction it is one, for it has ended that, as it would without us.
    def lost?(statement) = statement.repairable? && outside_transactions?

    # One more try, unprepared.
    def repair(connection, lost)
      return if lost.empty?

      lost.each { |statement| @session.forget_statement(statement.sql) }
      repaired = lost.map(&:without_name)
      through_pipeline(connection, repaired)
    ensure
      deliver(repaired, connection) if repaired
    end

    def through_pipeline(connection, statements)
      surround(statements, connection) if response.surrounds?
      statements.each(&:put_in_savepoint) if @savepoints
      clock = ServerClock.new(server_times) if response.lanes
      pipeline = Pipeline.new(connection, @session.result_sizes, @together, clock)
      begin
        pipeline.open do
          @session.distance.measure do
            pipeline.start(statements, !apart?(connection))
            yield if block_given?
            pipeline.finish
          end
        end
      ensure
        close(pipeline, statements, connection)
      end
      @held_back = statements.any? { |statement| !statement.answered? }
    end

    def surround(statements, connection)
      set, back = response.settings&.around(!apart?(connection))
      statements.each_with_index do |statement, index|
        before, after = @snapshot&.around(statement, index.zero?, connection)
        statement.surround([*before, *set], [*after, *back])
      end
    end

    def close(pipeline, statements, connection)
      @snapshot&.sent(statements, connection, set: response.settings?)
      @session.cut_short = true if pipeline.cut_short? && !outside_transactions?
      again = @savepoints && statements.any?(&:failed?)
      statements.each { |statement| @session.register(statement, again) }
      tally(pipeline, statements)
    end

    def run_others
      (first, *rest), @others = @others, []
      first&.run_before(rest, @together)
    end

    # Inside a transaction a read that fails ends it for all that come after, and what isn't pure (nextval) may differ by when
    # it comes: so they go in the order of a serial run. It isn't quite the one in which fibers park (a field with arguments
    # is resolved by a later job).
    def in_order(reads, connection)
      free = free?(connection) && reads.all?(&:pure?)
      return reads if free || reads.any? { |read| read.job.nil? }

      reads.sort { |read, other| read.job.compare(other.job) }
    end

    def deliver(statements, connection)
      aborted = !apart?(connection) && connection.transaction_status == PG::PQTRANS_INERROR
      failed = statements.find { |statement| statement.failed? && !statement.refused? } if aborted
      response.abort_by(failed.reads.first.job, @session) if failed && !failed.follow_up?
      statements.each do |statement|
        next if !statement.answered? || statement.spoiled?

        response.fail_apart if statement.failed_apart?
        reads = failed ? before_abort(statement, failed) : statement.reads
        reads.each { |read| read.deliver(statement, @level.position) unless read.answered? }
        deliver(statement.followers, connection) unless statement.followers.empty?
      end
    end

    # In a transaction that +failed+ has ended, a failure is the first read's only, and an answer that of those that were asked
    # for before. An equal read that came after finds the transaction aborted, and is sent again to hear that.
    def before_abort(statement, failed)
      return statement.reads if statement.reads.size == 1
      return statement.reads.first(1) if statement.failed?

      last = @ordered.index(failed.reads.first)
      statement.reads.select { |read| @ordered.index(read) < last }
    end

    def tally(pipeline, statements)
      @payload[:statements] += pipeline.sent
      brought = statements.reject(&:spoiled?).flat_map(&:followers).select(&:answered?)
      @payload[:reads].concat(brought.flat_map(&:reads))
      answered = [*statements.select(&:answered?), *brought].map(&:reads).reject(&:empty?)
      @payload[:answers].concat(answered.map { |reads| [reads.first.name, reads.size] })
      @payload[:rows] += [*statements, *brought].sum { |statement| statement.row_count.to_i } if response.told? || Burst.watched?
      @payload[:bytes_sent] += pipeline.bytes_sent
      @payload[:bytes_received] += pipeline.bytes_received
    end
  end
end

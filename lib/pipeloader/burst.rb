# frozen_string_literal: true

module Pipeloader
  # The reads of a level that are for one connection: sent to it in one go, answered in one go.
  #
  # Connecting, locking, starting the transaction that the caller opened, checking an idle connection and reconnecting
  # are ActiveRecord's own (`with_raw_connection`); this decides only which reads may be sent once more.
  class Burst
    class << self
      # Sends each burst before it waits for any: the first one's connection is written to, then the others', and so on.
      def run(bursts)
        first, *others = bursts
        first&.run(others)
      end
    end

    attr_reader :adapter, :reads

    def response = @level.response

    def initialize(adapter, level)
      @adapter = adapter
      @level = level
      @reads = [] # in the order in which they were asked for
    end

    def <<(read)
      @reads << read
    end

    # True where the fiber's thread is the one that gathers: an adapter can be shared by threads (transactional tests).
    def gathered_here? = response.thread.equal?(Thread.current)

    #: (Array[Burst]) -> void
    def run(others = [])
      @adapter.pipeloader_gathering = nil if @adapter.pipeloader_gathering.equal?(self)
      @others = others
      @held_back = false
      until @held_back || (reads = unanswered).empty?
        instrument(reads) { attempt(reads) }
      end
      run_others
    end

    private

    def unanswered = @reads.reject(&:answered?)

    # Reads that must not be sent twice fail with the connection; the others get another try by the loop in #run.
    def attempt(reads)
      resendable = reads.all?(&:resendable?)
      @adapter.pipeloader_connection(allow_retry: resendable) { |connection| send_and_receive(connection) }
    rescue ActiveRecord::ActiveRecordError, PG::Error => e
      lost = resendable ? unanswered : unanswered.reject(&:resendable?)
      lost.each { |read| read.deliver(e, @level.position) }
    end

    # Called again by ActiveRecord after it has reconnected.
    def send_and_receive(connection)
      statements = statements_for(in_order(unanswered, connection))
      return if statements.empty?

      through_pipeline(connection, statements) { run_others }
      repair(connection, statements.select(&:repairable?))
    ensure
      deliver(statements, connection) if statements
    end

    # One more try, unprepared, for statements that the server no longer knows or whose plan has changed (DEALLOCATE ALL,
    # ALTER TABLE). Inside a transaction such an error has already ended it, as it would without us.
    def repair(connection, lost)
      return if lost.empty? || connection.transaction_status != PG::PQTRANS_IDLE

      lost.each { |statement| @adapter.pipeloader_forget_statement(statement.sql) }
      repaired = lost.map(&:without_name)
      through_pipeline(connection, repaired)
    ensure
      deliver(repaired, connection) if repaired
    end

    def through_pipeline(connection, statements)
      pipeline = Pipeline.new(connection)
      pipeline.open do
        pipeline.start(statements)
        yield if block_given?
        pipeline.finish
      end
      @held_back = statements.any? { |statement| !statement.answered? }
    ensure
      tally(pipeline)
      # A connection that is known to be broken is ActiveRecord's to mend; one that is stuck is nobody's.
      @adapter.throw_away! if pipeline.stuck?
      register(statements)
    end

    def run_others
      others, @others = @others, []
      Burst.run(others)
    end

    # Inside a transaction a read that fails ends it for all that come after, so they go in the order of a serial run: not
    # quite the one in which fibers park (a field with arguments is resolved by a later job).
    def in_order(reads, connection)
      return reads if connection.transaction_status == PG::PQTRANS_IDLE || reads.any? { |read| read.job.nil? }

      reads.sort { |read, other| read.job.compare(other.job) }
    end

    # Equal reads become one statement, where that can't be noticed.
    def statements_for(reads)
      names = {}
      reads.each_with_object({}) do |read, statements|
        twin = statements[read.key]
        if twin && read.shareable?
          twin.share(read)
        else
          statements[twin ? [read.key, read] : read.key] = statement_for(read, names)
        end
      end.values
    end

    # @param names [Hash] {SQL => name} of what this burst prepares itself
    def statement_for(read, names)
      return Statement.new(read) unless read.prepared?

      name = names[read.sql] || @adapter.pipeloader_statement_name(read.sql)
      return Statement.new(read, name: name) if name

      Statement.new(read, name: names[read.sql] = @adapter.pipeloader_next_statement_name, prepare: true)
    end

    # Only what the server has confirmed, and only now: ActiveRecord's pool may evict by a statement of its own.
    def register(statements)
      statements.each do |statement|
        @adapter.pipeloader_register_statement(statement.sql, statement.name) if statement.prepared?
      end
    end

    def deliver(statements, connection)
      statements.each do |statement|
        next unless statement.answered?

        # In a transaction that it ended, a failure is the first read's only: an equal one that came after finds the
        # transaction aborted, and is sent again to hear that.
        alone = statement.failed? && connection.transaction_status == PG::PQTRANS_INERROR
        reads = alone ? statement.reads.first(1) : statement.reads
        reads.each { |read| read.deliver(statement, @level.position) unless read.answered? }
      end
    end

    def instrument(reads)
      @payload = { connection: @adapter, position: @level.position, reads: reads, statements: 0, bytes_sent: 0,
                   bytes_received: 0 }
      ActiveSupport::Notifications.instrument("burst.pipeloader", @payload) { yield }
      response.count(@payload)
    end

    def tally(pipeline)
      @payload[:statements] += pipeline.sent
      @payload[:bytes_sent] += pipeline.bytes_sent
      @payload[:bytes_received] += pipeline.bytes_received
    end
  end
end

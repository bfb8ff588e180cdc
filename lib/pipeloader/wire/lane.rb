# frozen_string_literal: true

module Pipeloader
  # Some of a burst's slow reads, over another connection of its pool, for one level. They stay reads of the burst's connection:
  # ActiveRecord takes them from there. What this can't answer, the burst sends itself.
  class Lane < Burst
    # @param lender [Burst]
    def initialize(adapter, lender)
      super(adapter, lender.level)
      @lender = lender
      @over = false
    end

    def lane? = true
    def connected? = @adapter.connected?

    # Connects, if need be.
    #
    # @return [Boolean] whether it would answer as the lender's connection does
    def ready?
      Waiting.outside { @adapter.pipeloader_ready(allow_retry: false) }
      @adapter.pipeloader_alike?
    rescue ActiveRecord::ActiveRecordError, PG::Error
      false
    end

    # It is, see #ready?.
    def ready = nil

    # @param exporter [ReadTransaction] the lender's
    def read_in_snapshot_of(exporter)
      @read_transaction = ReadTransaction.new(exporter).on(@adapter)
    end

    #: (Array[Read]) -> void
    def borrow(reads)
      @reads = reads
      @lender.lend(reads)
    end

    # Once.
    def pending? = !@over && super

    # The connection goes back to its pool: closed, if anything is left on it.
    def give_back
      @lender.take_back(@reads.reject(&:answered?))
      response.part(@adapter)
      @adapter.disconnect! unless @read_transaction&.ask_end || @adapter.pipeloader_idle?
    ensure
      @adapter.pool.checkin(@adapter)
    end

    private

    attr_reader :read_transaction

    # What a connection answers that hasn't got the snapshot, is no answer: it may be another server's.
    def deliver(...) = (super unless @read_transaction&.refused?)

    # Nobody is told: another connection answers.
    def losing(_reads)
      @over = true
      yield false
    rescue ActiveRecord::ActiveRecordError, PG::Error, SnapshotError
      nil
    end
  end
end

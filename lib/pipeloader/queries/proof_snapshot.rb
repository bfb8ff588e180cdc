# frozen_string_literal: true

module Pipeloader
  # One snapshot of each PostgreSQL database for several executions, with Pipeloader and without it: what others write in between
  # is in none of them. See DoubleCheck.
  #
  # Each pool has one ReadTransaction over all of them, on the connection that the thread has anyway. That needs no second
  # connection, and works wherever a transaction does: behind PgBouncer in transaction mode, on a hot standby.
  #
  # Limits: what is read by other connections is read outside: of threads that a resolver starts, and where fibers are isolated of
  # an Enumerator's. So is SQLite.
  class ProofSnapshot
    # Of a fiber, and those of its dataloader; and of whoever has the same connections, as an Enumerator's.
    KEY = :pipeloader_proof_snapshot
    private_constant :KEY

    class << self
      # @return [ProofSnapshot, nil] in which is to be read here
      def current = Thread.current[KEY] || ActiveSupport::IsolatedExecutionState[KEY]

      # Yields to read in one. Doesn't where somebody else's transaction is open.
      #
      # @return [Array(Boolean, Object)] whether all was read in it, and what the block returns
      def around(&)
        return [false, nil] unless possible?

        snapshot = new
        # Twice, as Response.within.
        snapshot.closing { snapshot.closing { snapshot.read(&) } }
      end

      # @return [Array<ActiveRecord::ConnectionAdapters::ConnectionPool>] of which a connection is taken here
      def pools = ActiveRecord::Base.connection_handler.each_connection_pool.select(&:active_connection?)

      private

      def possible?
        Response.surrounding.nil? && pools.all? { |pool| pool.active_connection?.open_transactions.zero? }
      end
    end

    alias inspect to_s

    def initialize
      @context = ActiveSupport::IsolatedExecutionState.context
      @leased_before = ProofSnapshot.pools
      @leases = []
      @transactions = {}.compare_by_identity # {pool => ReadTransaction}
    end

    # Yields while all is read in it.
    #
    # @return [Array(Boolean, Object)] as .around
    def read
      Thread.current[KEY] = ActiveSupport::IsolatedExecutionState[KEY] = self
      returned = yield
      [whole?, returned]
    end

    # Yields, and leaves nothing open.
    def closing
      yield
    ensure
      Thread.pipeloader_host_handle_interrupt(CancelRequest::UNINTERRUPTED) { roll_back unless @over }
    end

    # True if something was read in it, and nothing was lost, or refused that isn't outside of it.
    def whole? = !@elsewhere && @transactions.any? && @transactions.each_value.all?(&:whole?)

    # @return [ReadTransaction, nil] that what is read there is to be in; nil for a fiber that ActiveRecord gives connections of
    #   its own
    def read_transaction(adapter)
      return if @over

      @elsewhere ||= !@context.equal?(ActiveSupport::IsolatedExecutionState.context)
      self[adapter.pool].on(adapter) if !@elsewhere && ActiveRecord::ConnectionAdapters::ConnectionPool === adapter.pool
    end

    ## For a Response, as ReadTransactions

    #: (ActiveRecord::ConnectionAdapters::ConnectionPool) -> ReadTransaction
    def [](pool) = @transactions[pool] ||= begin_with(pool)

    # It goes on when the response is over.
    def ask_end = nil
    def give_up = nil

    private

    # The connection stays here until the end.
    def begin_with(pool)
      Thread.pipeloader_host_handle_interrupt(CancelRequest::UNINTERRUPTED) do
        @leases << ConnectionLease.new(pool, @leased_before.include?(pool))
        @leases.last.keep(pool.active_connection?)
      end
      ReadTransaction.new
    end

    def roll_back
      Thread.current[KEY] = nil
      ActiveSupport::IsolatedExecutionState.delete(KEY)
      @transactions.each_value(&:give_up)
    ensure
      @leases.each(&:release)
      @over = true
    end
  end
end

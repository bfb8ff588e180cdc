# frozen_string_literal: true

module Pipeloader
  # One GraphQL response being built (a query, or all queries of a multiplex, and what their resolvers execute inside):
  # the level that is open, the connections that its fibers hold, and its counters.
  class Response
    class << self
      # Called when a response begins.
      attr_accessor :preparation

      # Yields the response that the current fiber works for, or a new one that ends with the block.
      #
      # @param lanes [Lanes, nil] of a new one
      def within(lanes = nil)
        fiber = ResolverFiber.current
        return yield(inside(fiber.response)) if fiber

        response = new(lanes)
        # Twice: what strikes on the way to close it, finds that still to be done.
        response.closing { response.closing { response.on_thread { yield(response).tap { response.over } } } }
      end

      # The one that is built on this thread; nil if fibers are worlds of their own (IsolatedExecutionState).
      #
      #: () -> Response?
      def of_thread
        return if ActiveSupport::IsolatedExecutionState.isolation_level == :fiber

        Thread.current.thread_variable_get(ON_THREAD)&.object
      end

      # The one that the current fiber works for; in a fiber that isn't a resolver's, an Enumerator's say, as #of_thread.
      #
      #: () -> Response?
      def here = (fiber = Thread.current[ResolverFiber::KEY]) ? fiber.response : of_thread

      # As #of_thread, or the one around that, if it surrounds what it sends.
      #
      #: () -> Response?
      def surrounding = of_thread&.surrounding

      # @return [Array<GraphQL::Query>] that are about to be executed
      def queries = Host.current.queries

      private

      # Another query is executed by one of its resolvers.
      def inside(response)
        Host.current.check_inner(response)
        response
      end
    end

    ON_THREAD = :pipeloader_response
    private_constant :ON_THREAD

    # The thread, or under :fiber isolation the fiber, that began the response: to ActiveRecord, all fibers are this one.
    attr_reader :context

    # The Job whose read has aborted a transaction that was open before; nil if none has, or a source's or a mere fiber's.
    attr_reader :aborted_by

    # Whether blocks of a Gathering read in it.
    attr_accessor :gathers

    # What it has read before anybody has asked for it; nil if nothing. See the forecast room.
    attr_accessor :read_ahead

    # What was proved of the code for it; nil if nothing. See SharedProofs.
    attr_accessor :proofs

    # @return [Integer] bursts that were sent so far
    attr_reader :trips

    # Query caches that exist when the response begins, one per connection pool.
    attr_reader :query_caches

    attr_reader :thread

    # @return [Lanes, nil] nil where all is sent over one connection
    attr_reader :lanes

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    # A read has aborted +session+'s transaction. Blocks behind its own may have read before that, so that COMMIT alone could hear
    # of it.
    #
    #: (Job?, Session) -> void
    def abort_by(job, session)
      @aborted_by ||= job
      session.cut_short = true if @gathers
    end

    def initialize(lanes)
      Response.preparation&.call
      # ActiveRecord would give requests that take turns in one thread the same connection.
      @scheduled = !Fiber.current_scheduler.nil? && ActiveSupport::IsolatedExecutionState.isolation_level == :fiber
      @context = ActiveSupport::IsolatedExecutionState.context
      @thread = Thread.current
      queries = Response.queries
      @measured = Measured.begin(queries)
      @attempt = Attempt.current
      @settings = Host.current.settings
      @outer = Response.of_thread
      @read_transactions = @outer&.read_transactions || Host.current.read_transactions
      @lanes = lanes
      @counters = Counters.of(queries)
      @several = queries.size > 1
      @one_by_one = Host.current.one_by_one?
      @transactions = {}.compare_by_identity # {adapter => how many were open before}
      @locked = []
      @leases = {}.compare_by_identity # {pool => ConnectionLease}
      @leased_before = {}.compare_by_identity
      @query_caches = []
      @position = 0
      @trips = 0
      ActiveRecord::Base.connection_handler.each_connection_pool { |pool| begin_with(pool) }
      Settings.forget_cached if surrounds?
    end

    # What must be true of a connection while it works for this.
    #
    # @return [Settings, nil] nil for nothing
    # @raise [SettingsError, StandardError] where it isn't known
    def settings = Settings.known!(@settings)

    # True if there is something, or it isn't known.
    def settings? = !@settings.nil?

    # @return [Response, nil] itself, or the one around it
    def surrounding = surrounds? ? self : @outer&.surrounding

    # True if what it sends to PostgreSQL isn't just what ActiveRecord would.
    def surrounds? = settings? || !@read_transactions.nil?

    # @return [ReadTransaction, nil] what it reads there is to be in; nil where that is nobody's, or the caller's
    def read_transaction(adapter)
      return unless @read_transactions && ActiveRecord::ConnectionAdapters::ConnectionPool === adapter.pool && meet(adapter).zero?

      transaction = @read_transactions[adapter.pool]
      keep(adapter)
      transaction.on(adapter)
    end

    # It has all that it asked for.
    def over
      @read_ahead&.over(self)
      @read_transactions.ask_end if owns_transactions?
    end

    # @param settings [Settings, Exception, nil]
    def under?(settings) = @settings.eql?(settings)

    # Yields where code that runs on no fiber of ours finds it, too.
    def on_thread
      outer = Thread.current.thread_variable_get(ON_THREAD)
      Thread.current.thread_variable_set(ON_THREAD, WeakReference.new(self))
      begin
        yield
      ensure
        Thread.current.thread_variable_set(ON_THREAD, outer)
      end
    end

    # True if what it takes is measured, see Measured.
    def measured? = @measured

    # True if a fiber scheduler knows the fiber that began it, so that other requests can go on while that waits.
    def scheduled? = @scheduled

    # True for a multiplex of several queries.
    def several? = @several

    # True for a multiplex with a mutation in it: queries behind it see what it has written, those before it don't.
    def one_by_one? = @one_by_one

    # Puts +read+ into the open level.
    #
    #: (Read, ResolverFiber) -> Level
    def gather(read, fiber)
      settings if settings? # which may raise
      read.job = fiber.job
      read.time_limit = read.job&.time_limit
      read.coalesces = fiber.coalesces?
      level = @level ||= Level.new(self, next_position)
      level << read
      level
    end

    # @return [Integer] the number of a level
    def next_position = @position += 1

    # True if reads wait for the next burst.
    def gathering? = !@level.nil?

    # Sends the open level, and what earlier ones have held back, and waits for it.
    def send_gathered
      @level&.send_off
      @leases.values.each(&:send_gathered) # which may lease another one
    end

    # The level that was open no longer gathers: what is asked for from here on, goes with the next.
    def close_level(level)
      @level = nil if @level.equal?(level)
    end

    # While a transaction is open that a resolver began, on whichever connection, its fiber must not let others go on:
    # what they read and write would be inside.
    def in_new_transaction?
      # `any?` makes Arrays, and so does what an adapter delegates.
      @transactions.each { |adapter, depth| return true if adapter.transaction_manager.open_transactions > depth }
      false
    end

    # True if all of it can be done again, so that its statements may fail behind savepoints: it isn't if others' reads come to
    # its levels, if others' fibers can write meanwhile, or if what it sends has something around it.
    def restartable?
      !@attempt.nil? && @attempt.equal?(Attempt.current) && @attempt.restarts? && Fiber.current_scheduler.nil? && !surrounds?
    end

    # A statement has failed behind its savepoint: the transaction goes on.
    def fail_apart = @attempt.fail

    # @raise [Transactions::Failed] if that has happened: nothing is sent until all is done again
    def stop_if_failed
      raise Transactions::Failed if @attempt&.failed?
    end

    # Takes note of a connection when it is first used in this response.
    #
    # Under a fiber scheduler (AsyncDataloader) a fiber that waits for the server lets the others go on, and they share
    # its connection: then it needs the lock that ActiveRecord gives to connections that are shared.
    #
    # @return [Integer] how many transactions were open on it before
    def meet(adapter, depth = pinned?(adapter) ? 1 : 0)
      stop_if_failed
      @transactions[adapter] ||= begin
        lock(adapter) if Fiber.current_scheduler && !adapter.lock.is_a?(::Monitor)
        adapter.pipeloader_session.response = self if PostgreSQL.adapter?(adapter.class)
        depth
      end
    end

    # The connection goes back to its pool in the middle of the response.
    def part(adapter)
      @transactions.delete(adapter)
      adapter.lock_thread = nil if @locked.delete(adapter)
      adapter.pipeloader_session.abandon(self) if PostgreSQL.adapter?(adapter.class)
    end

    # Somebody may have written: what has been read ahead is what was there before.
    def outdate
      @read_ahead&.outdate
      @outer&.outdate
    end

    # True if the records of an +association+ were read ahead, and nobody is loading it: nobody has to wait.
    def ahead_of?(association) = !@read_ahead.nil? && @read_ahead.waiting?(association)

    # @return [Array<ActiveRecord::Base>, nil] what was read ahead; nil where ActiveRecord is to find it, or it is observed
    def hand_over(association, fiber) = @read_ahead&.hand_over(association, fiber)

    # @yieldreturn [Array<ActiveRecord::Base>] as ActiveRecord finds them
    # @return [Array<ActiveRecord::Base>] the association's records
    def association(association, fiber, &) = @read_ahead ? @read_ahead.association(association, fiber, &) : yield

    # As #outdate, and it was done through the response's connection.
    def written
      @attempt&.written
      outdate
    end

    # Yields the pool's connection for +fiber+ to use.
    def holding(pool, fiber, &block)
      lease_of(pool).during(fiber, self, &block)
    end

    # Yields while +fiber+ uses an +adapter+. If ActiveRecord has leased it, it stays leased meanwhile.
    def holding_own(adapter, fiber, &)
      pool = adapter.pool
      ActiveRecord::ConnectionAdapters::ConnectionPool === pool ? lease_of(pool).during_use(adapter, fiber, self, &) : yield
    end

    # ActiveRecord is about to forget who has leased the connection.
    def note_lease(pool) = @leases[pool]&.note_lease

    # @return [Boolean] as ConnectionLease's
    def leave_to_others(pool, *given) = @leases[pool]&.leave_to_others(*given) || false

    def others_hold?(fiber) = @leases.each_value.any? { |lease| lease.others_inside?(fiber) }

    # @param trips [Integer] 0 where they went at the same time as others
    def count(reads, statements, trips = 1, rows = 0)
      @trips += trips
      @counters.count(reads, statements, trips, rows)
    end

    # Yields to send reads and to wait for them.
    def waiting(&) = @counters.waiting(&)
    def told? = @counters.told?
    def told_by = @counters.first

    # Yields, and closes it. That takes up to a second for each database, and none of it may be left undone.
    def closing
      yield
    ensure
      Thread.pipeloader_host_handle_interrupt(Object => :never) { close unless @closed }
    end

    protected

    # @return [ReadTransactions, nil]
    attr_reader :read_transactions

    # Whose transaction is open on it, has the connection to the end.
    def keep(adapter) = shares_transactions? ? @outer.keep(adapter) : lease_of(adapter.pool).keep(adapter)

    private

    # True if it is executed by a resolver of another one, on a fiber that nobody knows.
    def shares_transactions? = !@outer&.read_transactions.nil?
    def owns_transactions? = !@read_transactions.nil? && !shares_transactions?

    def close
      @read_transactions.give_up if owns_transactions?
      Settings.forget_cached if surrounds?
      @read_transactions = nil
      @transactions.each_key { |adapter| adapter.pipeloader_session.abandon(self) if PostgreSQL.adapter?(adapter.class) }
      @leases.each_value(&:release)
      @locked.each { |adapter| adapter.lock_thread = nil }
      @counters.close
      @closed = true
    end

    # True if all threads share the connection, in one transaction: a test suite's.
    def pinned?(adapter) = adapter.pool.instance_variable_get(:@pinned_connection).equal?(adapter)

    # A pool that a resolver has made is first seen here.
    def lease_of(pool)
      @leases[pool] ||= begin
        pool.pipeloader_refuse_unsupported
        ConnectionLease.new(pool, @leased_before.key?(pool))
      end
    end

    def lock(adapter)
      adapter.lock_thread = Fiber.current
      @locked << adapter
    end

    def begin_with(pool)
      pool.pipeloader_refuse_unsupported
      @query_caches << pool.query_cache if pool.respond_to?(:query_cache)
      connection = pool.active_connection? or return
      meet(connection, connection.open_transactions)
      @leased_before[pool] = true
    end
  end
end

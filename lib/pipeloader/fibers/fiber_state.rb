# frozen_string_literal: true

module Pipeloader
  # The dynamic state of one resolver fiber: what its job starts from, what it takes along when it parks, and what it leaves.
  class FiberState
    # The state that the job started from.
    #
    #: () -> Snapshot
    attr_reader :start

    # The state that #within has put in place; nil outside of it.
    #
    #: () -> Snapshot?
    attr_reader :pinned

    # The HostState of the block that it is at; nil for none.
    attr_accessor :hosts

    alias inspect to_s

    #: (Run) -> void
    def initialize(run)
      @run = run
      @base = run.base
      @state = @start = @rest = @rested = @pinned = @hosts = nil
    end

    # A job begins. The second one in a row of one fiber finds all as the first has left it, and starts from the same unless the
    # first has assigned something.
    def enter(fiber)
      start = @run.start(fiber)
      settle_in(start) unless @rested.equal?(start) && @start.equal?(start)
    end

    # A job ends. No block of user code is open, so a difference from the start was assigned.
    #
    # @param quiet [Boolean] whether no code of the application's has run
    def leave(fiber, quiet = false)
      shared = shared?
      in_place = shared && @start.equal?(@base.known)
      return if in_place && quiet

      put_back(fiber, shared) unless in_place && at_rest?
      @rested = @base.known if shared
    end

    # Yields, and puts back what is seen now: what is assigned inside has never been.
    #
    # @param at_rest [Boolean] whether it is known to be
    def keeping(at_rest)
      open = @state.seen unless at_rest || at_rest?
      yield
    ensure
      before = open || @rest
      @state.install(before) unless @state.at_rest?(before)
    end

    # As #leave, in the middle of a job.
    def settle(fiber)
      return if at_rest?

      now = @state.seen
      @base.count(@state) unless shared?
      settle_in(@run.assign(fiber.job, @start, now))
    end

    # True if no block of user code is open, and nothing was assigned since the job has begun.
    def at_rest? = @state.at_rest?(@rest)

    # Yields while the fiber is away, which it may be while it is away: what it reads for others then can have it read for more.
    # It comes back to what it left, unless no block of its own was open and no other job has assigned anything since.
    def away
      @rested = nil
      hosts = @hosts&.take
      taken = @state.set_aside(@rest)
      yield
    ensure
      @hosts.put(hosts) if hosts
      @state.install(taken) unless shared? && @base.known.equal?(taken)
    end

    # Yields where the fiber sees what +start+ says.
    def within(start, &block)
      outer, @pinned = @pinned, start
      start.equal?(@start) ? yield : at(start, &block)
    ensure
      @pinned = outer
    end

    # Yields while the fiber is away, where it may read for others.
    def between_fibers
      own = @start, @state, @rest
      settle_in(@base.known)
      yield
    ensure
      @start, @state, @rest = own if own # an interrupt can come before
    end

    private

    def at(start)
      outer = @start
      begin
        settle_in(start, false)
        yield
      ensure
        settle_in(outer, false)
      end
    end

    # True if it works on what all fibers do. See DynamicState#for_a_fiber.
    def shared? = @state.equal?(@base)

    # @param in_place [Boolean] whether the base is as it is known
    def settle_in(start, in_place = true)
      @start = start
      @state = @base.for_a_fiber(start)
      @rest = shared? ? start : @state.known
      @state.install(in_place && start.equal?(@base.known) ? nil : @rest)
    end

    def put_back(fiber, shared)
      now = @state.seen unless at_rest?
      @base.count(@state) unless shared
      now ? @run.assign(fiber.job, @start, now) : @base.install(@base.known)
    end
  end
end

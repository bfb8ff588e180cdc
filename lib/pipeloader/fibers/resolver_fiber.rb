# frozen_string_literal: true

module Pipeloader
  # The fiber that resolvers run on, as Pipeloader sees it: it may park, and it has dynamic state of its own.
  #
  # Found by `Thread.current[]`, which is fiber-local: a thread or an Enumerator#next fiber that a resolver starts
  # doesn't see it, so that its reads go at once.
  class ResolverFiber
    KEY = :pipeloader_fiber

    # Turns without anybody's getting on, after which nobody will. (One isn't always the last: fibers that have ended count
    # against the limit until it is over.)
    PATIENCE = 4
    private_constant :PATIENCE

    class << self
      #: () -> ResolverFiber?
      def current = Thread.current[KEY]

      # The current fiber as one of +loader+'s; nil where nothing may park.
      def of(loader)
        fiber = Thread.current[KEY]
        return fiber if fiber && fiber.loader.equal?(loader)

        Thread.current[KEY] = new(loader) if loader.pipeloader_run
      end

      # Runs the block, a read, for a fiber of user code's own (Enumerator#next) while +burst+ is being gathered.
      def stand_by(burst, &block) = as(Bystander.new(burst.response), &block)

      # Yields where +fiber+ is the current one; nil for none.
      def as(fiber)
        outer, Thread.current[KEY] = Thread.current[KEY], fiber
        yield
      ensure
        Thread.current[KEY] = outer
      end
    end

    # The Read that ActiveRecord is working on, if its burst brought it.
    attr_reader :replaying

    attr_reader :loader, :response

    # The job that this fiber is at. (A cohort's are made when somebody asks.)
    def job = @job ||= @cohort&.job(@member, @step)

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    def initialize(loader)
      @loader = loader
      @run = loader.pipeloader_run
      @response = @run.response
      @state = FiberState.new(@run)
      FieldPosition.adopt(@run.field_positions)
      @job = @cohort = nil
      @jobs = @without_parking = @uncoalesced = @locks = @compiled = 0
    end

    # Jobs begin and end with no block of user code open, so a difference from the start was assigned (`Current.user = …`), and
    # is seen by the jobs that a serial run would come to later. See Assignments.
    #
    # One job runs inside another where AsyncDataloader isolates a mutation field: not the end of the outer one.
    #
    # @param job [Job, nil] nil for the fetch of a source
    # @return [Job, nil] the outer job
    def begin_job(job)
      @run.step
      outer, @job, @cohort = self.job, job, nil
      if (@jobs += 1) == 1
        @without_parking = @uncoalesced = @locks = @compiled = 0
        @state.enter(self)
      end
      outer
    end

    def end_job(outer)
      @run.step
      @state.leave(self) if (@jobs -= 1).zero?
      @job = outer
    end

    # Yields, to go through a cohort, by one step after the other.
    def go_through
      outer = job
      @jobs += 1
      yield
    ensure
      @jobs -= 1
      @job, @cohort = outer, nil
    end

    # As #begin_job, of a cohort's next one.
    def begin_step(cohort, member, step)
      @run.step
      @job, @cohort, @member, @step = nil, cohort, member, step
      @without_parking = @uncoalesced = @locks = @compiled = 0
      @state.enter(self)
    end

    # @param quiet [Boolean] whether no code of the application's has run
    def end_step(quiet)
      @run.step
      @state.leave(self, quiet)
      @job&.drop
      @job = @cohort = nil
    end

    # Lets the other fibers go on, under their own dynamic state. (Meanwhile this one is in graphql-ruby's code: what that waits
    # for, by a Queue in AsyncDataloader, is no resolver's latch, and nobody gives way for it.)
    def away(&block)
      @state.set_aside
      @run.left(self)
      without_parking { FieldPosition.keep(&block) }
    ensure
      @run.back(self)
      @state.come_back
    end

    # How many locks it holds. With any it doesn't park: siblings that want it would wait for a fiber that waits for them.
    attr_accessor :locks

    # Takes note that its job has had something compiled: a file that is loaded, code that is evaluated.
    def compiled = @compiled += 1

    #: () -> bool
    def parks? = @without_parking.zero? && @locks.zero? && !Undivided.handler? && !(@compiled.positive? && Undivided.unfinished?)

    def without_parking
      @without_parking += 1
      yield
    ensure
      @without_parking -= 1
    end

    # Whether its reads may become one statement with others of the same SQL.
    def coalesces? = @uncoalesced.zero? && @loader.pipeloader_coalesces?

    def uncoalesced
      @uncoalesced += 1
      yield
    ensure
      @uncoalesced -= 1
    end

    # Until its job ends, all reads of this fiber go at once.
    def park_no_more = @without_parking += 1

    # Runs ActiveRecord's own code for a read that has been answered.
    def replay(read)
      @replaying = @replay = read
      yield
    ensure
      @replaying = @replay = nil
    end

    # What the next `with_raw_connection` of this fiber hands to ActiveRecord, once.
    #
    #: () -> Read?
    def take_replay
      read, @replay = @replay, nil
      read
    end

    # Whether what is to be replayed was asked for before +query_cache+ was last cleared.
    #
    #: (ActiveRecord::ConnectionAdapters::QueryCache::Store) -> bool
    def replays_outdated?(query_cache) = !@replay.nil? && @replay.cached_as_of != query_cache.pipeloader_clears

    # The rows of the read that is to be replayed, if they came as a part of another statement's.
    #
    #: () -> Slice?
    def slice_to_replay = @replay&.statement&.slice

    # Returns when +read+ is answered. If other fibers can go on meanwhile they do, and the first of all that wakes
    # sends the level for everybody; where this one must not park, it sends what is gathered along with its own.
    #
    #: (Read) -> void
    def park(read)
      @run&.step
      level = @response.gather(read, self)
      let_others_gather(read) if parks?
      take_batches_along(read)
      # What subscribers to our events read meanwhile must not park: the level is locked while it is sent.
      until read.answered?
        read.time_limit&.check
        without_parking { level.send_off }
      end
      @run&.step
    ensure
      # Interrupted: nobody waits for it any more.
      read.withdraw unless read.answered?
    end

    # Returns when every job is done that a serial run would have come to before this one. For a field that failed. (Or
    # when nothing else can be begun: thousands of failed fields that wait must not be all the fibers there are.)
    def await_turn
      return if job.nil? || !parks?

      @loader.pipeloader_yield until @run.turn?(job) || saturated?
    end

    # As #await_turn, for an exception that is about to leave the response.
    def await_turn_of(error) = @run.await_turn_of(error, self)

    # Yields each of +values+, so that what they read is one burst. (Inside a block that others wouldn't see, a field extension's
    # `Current.set { yield }` say, one after the other.)
    #
    # @return [Array] what the block returned
    def side_by_side(values, &block)
      return values.map(&block) if values.size < 2 || !parks? || !@state.at_rest?

      pinned = @state.pinned
      SideBySide.new(self, values, pinned ? within_pinned(pinned, block) : block).results
    end

    # Looks up along with all other fibers that look up the same: they come to it first.
    #
    # @param wanted [Array(Lookup, Array, Asker)] each with its keys, and who asks
    # @return [Array<Outcome>] for each, a Hash{Object => Array<Array>}: rows by key, possibly of more keys than were asked for
    def look_up(wanted)
      return look_up_here(wanted) unless parks? && @state.at_rest?

      batches = wanted.map { |lookup, keys, asker| @run.batch(lookup, @state.start).add(keys, asker) }
      @loader.pipeloader_yield
      @loader.pipeloader_yield until @loader.pipeloader_queued.zero? || saturated?
      @run.awaiting(batches) do
        side_by_side(batches.uniq(&:__id__).reject(&:begun?), &:read)
        @loader.pipeloader_yield until batches.all?(&:read?)
      end
      batches.each_with_index.map { |batch, index| Outcome.of { batch.rows(wanted[index][1]) } }
    ensure
      batches&.each(&:close)
    end

    # Waits until the flight of another fiber has landed. Where that fiber waits for this one, there is no waiting: both
    # read, as they would one after the other. Nor is there inside a transaction: whoever went on would be in it. And none where
    # nobody gets on: this one is a source's, and as long as that is loading no resolver's fiber is woken; or it is of a query
    # that a resolver executes, and that of the outer one, which goes on when the inner has ended.
    def wait_for(flight)
      pilot = flight.pilot
      return if pilot.equal?(self) || !pilot.response.equal?(@response) || pilot.waits_for?(self)
      return if !parks? || @response.in_new_transaction?

      @waiting_for = pilot
      let_others_go_on(PATIENCE) { flight.landed? }
    ensure
      @waiting_for = nil
    end

    # Until the block says so, or nobody has got on for so many turns.
    def let_others_go_on(turns = PATIENCE)
      steps, idle = @run.steps, 0
      until yield || idle == turns
        @loader.pipeloader_yield
        idle = steps == (steps = @run.steps) ? idle + 1 : 0
      end
    end

    # Somebody is about to write: what was asked for before is read first.
    def catch_up
      away { @state.between_fibers { @run.catch_up(self) } } if @run&.behind?
    end

    # A field's resolver has returned, so that no block of user code is open: siblings see what it has assigned before they go on.
    def settle = @state.settle(self)

    # Yields where this fiber, which must be at rest, sees what +start+ says.
    #
    #: [T] (Snapshot) { () -> T } -> T
    def within(start, &block) = @state.within(start, &block)

    # Lets the other fibers go on where this one can't. True if any of them got somewhere.
    def give_way
      return false if !parks? || @response.in_new_transaction? || Undivided.wait?

      before = @run.steps
      @loader.pipeloader_yield
      @run.steps != before
    end

    # No fiber may be begun for the jobs that are queued. (graphql-ruby keeps three of its limit for other purposes.)
    def saturated?
      @loader.pipeloader_queued.positive? && @run.fibers_away + 1 >= @loader.fiber_limit - 3
    end

    # True if it will never be woken.
    def abandoned? = @run.over?

    def waits_for?(fiber)
      pilot = self
      while (pilot = pilot.waiting_for)
        return true if pilot.equal?(fiber)
      end
      false
    end

    protected

    attr_reader :waiting_for

    private

    # @return [Proc] does +work+ so that it sees what this fiber sees now, on whichever fiber
    def within_pinned(pinned, work) = ->(value) { ResolverFiber.current.within(pinned) { work.call(value) } }

    # One after the other, up to the first that fails.
    def look_up_here(wanted)
      failed = nil
      wanted.map do |lookup, keys, asker|
        failed || Outcome.of { asker.read { lookup.call(keys) } }.tap { |outcome| failed = outcome if outcome.error }
      end
    end

    # graphql-ruby resumes parked fibers before it begins the jobs of lazy values (all but the first), so jobs that are
    # still queued are waited for; unless the limit of fibers is what keeps them there. And so are batches. As long as anybody
    # gets on: while a source is loading no resolver's fiber does.
    def let_others_gather(read)
      @loader.pipeloader_yield
      let_others_go_on(1) { read.answered? || saturated? || (@loader.pipeloader_queued.zero? && !@run.batches?) }
    end

    # Reads the batches that are left, so that they are in this level, for those who see what this fiber does: not if a block is
    # open here (a scope, another role).
    def take_batches_along(read)
      return unless @run

      while !read.answered? && @state.at_rest? && (batch = @run.next_batch(@state.start))
        batch.read
      end
    end
  end

  # A fiber that no loader knows, so that it can't park: its read goes at once, and takes along what is gathered.
  class Bystander < ResolverFiber
    def initialize(response) # rubocop:disable Lint/MissingSuper
      @response = response
      @without_parking = 1
      @locks = @compiled = 0
    end

    def coalesces? = false
  end
end

# frozen_string_literal: true

module Pipeloader
  # How one resolver fiber waits: for its reads, for its turn, for what a sibling is loading. Decides whether it may, and which
  # fibers go on meanwhile.
  class Parking
    # Idle turns after which no fiber can make progress. One isn't always the last: fibers that have ended count against the limit
    # until it is over.
    PATIENCE = 4
    # Of a Multiplex, while one goes on: itself, and its branch.
    RUNNING = 2
    private_constant :PATIENCE, :RUNNING

    # How many locks the fiber holds. With any it doesn't park: siblings that want it would wait for a fiber that waits for them.
    attr_accessor :locks

    alias inspect to_s

    # @param run [Run, nil] nil for a fiber that no loader knows
    def initialize(fiber, run)
      @fiber = fiber
      @run = run
      @loader = fiber.loader
      @response = fiber.response
      @native = Fiber.current if @response.scheduled? || @run&.branch
      @reads = [] # that it waits for, one inside the other
      begin_job
    end

    # Nothing that an earlier job did keeps this one from parking.
    def begin_job = @forbidden = @locks = @compiled = 0

    # The job has had something compiled: a file that is loaded, code that is evaluated.
    def compiled = @compiled += 1

    # True if the fiber holds any.
    def locked? = !@locks.zero?

    #: () -> bool
    def allowed? = @forbidden.zero? && @locks.zero? && !Undivided.handler? && !(@compiled.positive? && Undivided.unfinished?)

    # Yields where reads go at once.
    def without
      @forbidden += 1
      yield
    ensure
      @forbidden -= 1
    end

    # Yields. What the block waits for outside of the process, is waited for where other requests can go on, if a fiber scheduler
    # is there. Not where parking is forbidden: a lock that is held, or Timeout, which strikes the thread, isn't theirs.
    def openly(&block)
      return yield unless @response.scheduled? && @native && allowed? && Fiber.current_scheduler.nil?

      Waiting.by(->(wait) { hand_out(OutwardWait.new(wait)) }, &block)
    end

    # Sends what is gathered, and waits for it.
    def send_gathered = without { @response.send_gathered }

    # Until the job ends, all reads go at once.
    def forbid = @forbidden += 1

    # It will never get what it waits for.
    def abandon = @reads.each(&:withdraw)

    # True if a read needn't wait for others: nothing is gathered, and no other fiber, job, source or lazy value could ask for
    # anything before this fiber goes on.
    def alone?
      return false if @run.nil? || @response.gathering? || @run.behind?

      !allowed? || (@run.fibers_away.zero? && @loader.pipeloader_idle? && (@run.branch.nil? || @run.branch.parking.alone?))
    end

    # Returns when +read+ is answered. If other fibers can go on meanwhile they do, and the first of all that wakes
    # sends the level for everybody; where this one must not park, it sends what is gathered along with its own.
    #
    # @param state [FiberState, nil] whose view of the batches it shares
    def park(read, state)
      @reads.push(read)
      @run&.step
      level = @response.gather(read, @fiber)
      let_others_gather(read) if allowed?
      take_batches_along(read, state) if state
      # Subscribers to our events must not park: the level is locked while it is sent.
      until read.answered?
        read.time_limit&.check
        openly { without { level.send_off } }
      end
      @response.stop_if_failed
      @run&.step
    ensure
      # Interrupted: nobody waits for it any more.
      read.withdraw unless read.answered?
      @reads.pop
    end

    # Returns when every job is done that a serial run would have come to before +job+: its field has failed. Also when no other
    # fiber can begin: thousands of failed fields that wait must not be all the fibers there are.
    def await_turn(job)
      return if job.nil? || !allowed?

      @loader.pipeloader_yield until @run.turns.turn?(job) || saturated?
    end

    # As #await_turn, however few fibers can begin: those before either have begun, or are begun by whoever waits for them.
    def await_turn_to_act(job)
      @loader.pipeloader_sleep { @run.turns.turn?(job) } until !allowed? || @run.turns.turn?(job)
    end

    # Waits until another fiber's +flight+ has landed. Not where that fiber waits for this one: both read, as they would one
    # after the other. Not inside a transaction: the fibers that went on would be in it. And not where no fiber makes progress:
    # while a source is loading no resolver's fiber wakes, and a query that a resolver executes can't wait for the outer one.
    def wait_for(flight)
      return if flight.of?(@fiber) || !flight.response.equal?(@response) || flight.waits_for?(@fiber)
      return if !allowed? || @response.in_new_transaction?

      @waiting_for = flight
      let_others_go_on { flight.landed? }
      let_branches_go_on { |others| others.let_others_go_on { flight.landed? } } unless flight.landed?
    ensure
      @waiting_for = nil
    end

    # True if the fiber waits for a flight of +other+, or of one that does.
    def waits_for?(other)
      !@waiting_for.nil? && (@waiting_for.of?(other) || @waiting_for.waits_for?(other))
    end

    # Lets the other fibers begin what is queued.
    def let_others_begin
      @loader.pipeloader_yield
      @loader.pipeloader_yield until @loader.pipeloader_queued.zero? || saturated?
      let_branches_go_on(&:let_others_begin)
    end

    # Lets the other fibers go on until the block says so: they are about to.
    def let_others_finish(&done)
      until yield
        @loader.pipeloader_yield
        let_branches_go_on { |others| others.let_others_go_on(1, &done) } unless yield
      end
    end

    # Lets the other fibers go on until the block says so, or none has made progress for so many turns.
    def let_others_go_on(turns = PATIENCE)
      steps, idle = @run.steps, 0
      until yield || idle == turns
        @loader.pipeloader_yield
        idle = steps == (steps = @run.steps) ? idle + 1 : 0
      end
    end

    # Lets the other fibers go on where this one can't. True if any of them got somewhere.
    def give_way
      return false if !allowed? || @response.in_new_transaction? || Undivided.wait?

      before = @run.steps
      @loader.pipeloader_yield
      @run.steps != before
    end

    # Yields seconds for which this fiber may wait while all others stay where they are: those that the run has left.
    def patiently
      return if @run.nil? || !@run.patience.positive?

      start = TimeLimit.now
      yield @run.patience
    ensure
      @run.patience -= (TimeLimit.now - start) / 1000.0 if start
    end

    # No fiber may be begun for the jobs that are queued.
    def saturated?
      @loader.pipeloader_queued.positive? && (@run.fibers_away + 1 >= @loader.pipeloader_most || @run.crowded?(RUNNING))
    end

    # graphql-ruby resumes parked fibers before it begins the jobs of lazy values, all but the first. So jobs that are still
    # queued are waited for, unless the limit of fibers keeps them there; and so are batches, as long as any fiber makes progress.
    # Then whoever else reads along is waited for.
    def let_others_gather(read)
      @loader.pipeloader_yield
      let_others_go_on(1) { read.answered? || saturated? || !more_to_come? }
      let_branches_go_on { |branch| branch.let_others_gather(read) } unless read.answered?
    end

    private

    # Yields where this fiber's query is a branch's of a Multiplex: what the other branches do meanwhile.
    def let_branches_go_on
      return unless (branch = @run&.branch) && branch.parking.allowed?

      hand_out(OutwardWait::ToBranch.new(branch, -> { yield branch.parking }))
    end

    # A fiber of somebody else's, a dataloader without Pipeloader's maybe, doesn't know what to do with it.
    def hand_out(outward)
      return outward.here unless Fiber.current.equal?(@native)

      @fiber.away { Fiber.yield(outward) }
      outward.result
    end

    def more_to_come? = @loader.pipeloader_queued.positive? || @run.batches? || @loader.pipeloader_lazies?

    # Reads the batches that are left, so that they are in this level, for fibers that see what this one does: not if a block is
    # open here, a scope or another role.
    def take_batches_along(read, state)
      while !read.answered? && state.at_rest? && (batch = @run.next_batch(state.start))
        batch.read
      end
    end
  end
end

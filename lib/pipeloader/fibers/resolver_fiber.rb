# frozen_string_literal: true

module Pipeloader
  # The fiber that resolvers run on, as Pipeloader sees it: it may park, and it has dynamic state of its own.
  #
  # Found by `Thread.current[]`, which is fiber-local: a thread or an Enumerator#next fiber that a resolver starts
  # doesn't see it, so that its reads go at once.
  class ResolverFiber
    KEY = :pipeloader_fiber
    # How many Tasks inside one another a fiber does, and behind how many frames it does none: its stack is an eighth of a
    # thread's, and ends at some 900 frames of views.
    NESTED = 4
    FRAMES = 400
    private_constant :NESTED, :FRAMES

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

      # Yields where reads go at once.
      def at_once(&block) = (fiber = Thread.current[KEY]) ? fiber.without_parking(&block) : yield

      # Yields where +fiber+ is the current one; nil for none.
      def as(fiber)
        outer, Thread.current[KEY] = Thread.current[KEY], fiber
        yield
      ensure
        Thread.current[KEY] = outer
      end
    end

    attr_reader :loader, :response, :parking, :delivery

    # @return [Multiplex::Branch, nil] nil for one that resolves fields
    attr_accessor :branch

    # The Flight of what it loads, and the SourceRounds::Fetch of the source that it runs; nil for none.
    attr_accessor :flight, :fetch

    # An association that a sibling has changed while this fiber was loading it, and the record that this one has found.
    #
    # @return [Array(ActiveRecord::Associations::Association, ActiveRecord::Base), nil]
    attr_accessor :missed

    # The object that Execution::Next asks for a field; nil on the Interpreter, which says so itself.
    attr_accessor :subject

    # The Gathering whose block it is at; nil for none.
    attr_accessor :gathering

    # @return [Hash, nil] what its job has set in contexts, {GraphQL::Query::Context => {key => value}}; nil for nothing
    attr_reader :context_keys

    # @return [Hash] the same, to be added to, or to be shared with a Task
    def context_keys! = @context_keys ||= {}.compare_by_identity

    # @return [Task, nil] that it does
    attr_reader :task

    # By how many round trips a tree of rows comes, as `use Pipeloader, trips: …`. Where somebody measures, it doesn't depend on
    # what took less time.
    #
    #: () -> Symbol
    def trips
      trips = @loader.pipeloader_trips
      trips == :auto && @response.measured? ? :depth : trips
    end

    # The job that this fiber is at. One of an ObjectList's is made when somebody asks.
    def job = @job ||= @objects&.job(@member, @step)

    alias inspect to_s # else everything that it leads to: a NoMethodError asks for it

    def initialize(loader)
      @loader = loader
      @run = loader.pipeloader_run
      @response = @run.response
      @state = FiberState.new(@run)
      Host.current.adopt(@run.field_positions)
      @parking = Parking.new(self, @run)
      @delivery = Delivery.new
      @job = @objects = nil
      @subject = @followers = @branch = @gathering = @task = @missed = @settings = @context_keys = @brought = nil
      @jobs = @uncoalesced = @nested = 0
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
      outer, @job, @objects = self.job, job, nil
      start_afresh if (@jobs += 1) == 1
      outer
    end

    def end_job(outer)
      @run.step
      @state.leave(self) if (@jobs -= 1).zero?
      @job = outer
      leave_settings if @settings
    end

    # Yields, to go through an ObjectList one step after the other.
    def go_through
      outer = job
      @jobs += 1
      yield
    ensure
      @jobs -= 1
      @job, @objects = outer, nil
    end

    # One that it waits for has got on.
    def step = @run.step

    # As #begin_job, of an ObjectList's next step.
    def begin_step(objects, member, step)
      @run.step
      @job, @objects, @member, @step = nil, objects, member, step
      start_afresh
    end

    # @param quiet [Boolean] whether no code of the application's has run
    def end_step(quiet)
      @run.step
      @state.leave(self, quiet)
      @job&.drop
      @job = @objects = nil
      leave_settings if @settings
    end

    # Lets the other fibers go on, under their own dynamic state. Meanwhile this one is in graphql-ruby's code: what that waits
    # for, by a Queue in AsyncDataloader, is no resolver's latch, and nobody gives way for it.
    #
    # Where it comes back by an exception, a fiber scheduler's or #unwind's, what it reads in `ensure` goes at once.
    def away(&block)
      comes_back = false
      @state.away { @run.away(self) { without_parking { Host.current.keep_position(&block) } } }.tap { comes_back = true }
    ensure
      park_no_more unless comes_back
    end

    ## Parking

    #: () -> bool
    def parks? = @parking.allowed?

    def without_parking(&block) = @parking.without(&block)

    # Yields, to wait where other requests can go on.
    def openly(&block) = @parking.openly(&block)

    # Until its job ends, all reads of this fiber go at once.
    def park_no_more = @parking.forbid

    # True if a read needn't wait for others, and brings nothing along.
    def alone? = @followers.nil? && @parking.alone?

    # Returns when +read+ is answered.
    #
    #: (Read) -> void
    def park(read)
      read.followers, @followers = @followers, nil
      @parking.park(read, @state)
      @task.go_on if @task && parks? # not in what ends it: `ensure` may read
    end

    # Yields, to read something along with which +followers+ are looked up.
    def along(followers)
      @followers = followers
      yield
    ensure
      @followers = nil
    end

    # Returns in the turn of its job, whose field has failed.
    def await_turn = @parking.await_turn(job)

    # As #await_turn, for an exception that is about to leave the response.
    def await_turn_of(error) = @run.await_turn_of(error, self)

    # Yields, to do a Task. What that assigns ends with it.
    def for_task(task, &block)
      outer = [@task, @gathering, @subject, @context_keys]
      @task, @gathering, @subject, @context_keys = task, nil, task.subject, task.context_keys
      @nested += 1
      @state.keeping(task.at_rest, &block)
    ensure
      @nested -= 1
      @task, @gathering, @subject, @context_keys = outer
    end

    # True if it is so deep inside of Tasks, or of frames, that the next one needs another fiber.
    def deep? = @nested >= NESTED || !caller_locations(FRAMES, 1).nil?

    # @return [HostState, nil] that it takes along when it parks
    def host_state = @state&.hosts

    # Yields where it takes along what +hosts+ says.
    def with_host_state(hosts)
      outer, @state.hosts = @state.hosts, hosts
      yield
    ensure
      @state.hosts = outer
    end

    # Returns when a Task may do what others could notice: in its turn. The block of a Gathering comes after its Tasks.
    #
    # @raise [Canceled]
    def await_turn_to_act
      @gathering&.wait unless abandoned?
      return unless @task

      @parking.await_turn_to_act(job)
      @task.go_on
    end

    # As above, for what changes the session: no other fiber goes on until its job has ended.
    #
    # @return [LeftSettings] of the job
    def act_alone
      await_turn_to_act
      park_no_more
      @settings ||= LeftSettings.new
    end

    # As #await_turn_of, of a Task's, which has to be the first that fails.
    def await_turn_to_fail(error)
      @parking.await_turn_to_act(job)
      await_turn_of(error)
    end

    # How often any fiber of its run has got on.
    def steps = @run.steps

    # @return [Snapshot, nil] the state that it was put into, to work for others
    def pinned = @state.pinned

    # Lets the other fibers go on where this one can't. True if any of them got somewhere.
    def give_way = @parking.give_way

    # True if its reads may become one statement with others of the same SQL.
    def coalesces? = @uncoalesced.zero? && @loader.pipeloader_coalesces?

    def uncoalesced
      @uncoalesced += 1
      yield
    ensure
      @uncoalesced -= 1
    end

    # Yields each of +values+, so that their reads are one burst. Inside a block that others wouldn't see, such as a field
    # extension's `Current.set { yield }`, they go one after the other.
    #
    # @return [Array] what the block returned
    def side_by_side(values, &block)
      return values.map(&block) if values.size < 2 || !parks? || !@state.at_rest?

      pinned = @state.pinned
      SideBySide.new(self, values, pinned ? within_pinned(pinned, block) : block).results
    end

    # @param wanted [Array(Lookup, Array, Asker, Growth)] as LookUp's
    # @return [Array<Outcome>] for each, its rows by key
    def look_up(wanted)
      look_up = LookUp.new(self, @run, wanted)
      parks? && @state.at_rest? && !(wanted.one? && alone?) ? look_up.together(@state.start) : look_up.alone
    end

    # Somebody is about to write: what was asked for before is read first.
    def catch_up
      await_turn_to_act
      outdate
      send_gathered
    end

    # Sends what was asked for until now, and waits for it, over whichever connections: they may lead to the same data, as those
    # of several roles do.
    def send_gathered
      away { @state.between_fibers { @run.catch_up(self) } } if @run&.behind?
      @parking.send_gathered
    end

    # Somebody may have written: what has been read ahead is what was there before.
    def outdate = @response.outdate

    # @return [Flight::Planned, nil] of an association that a plan is about to load
    def planned(record, name) = @run&.planned&.[](record)&.for(name)

    # True if no block of user code is open, and the job has assigned nothing.
    def at_rest? = @state.at_rest?

    # A field's resolver has returned, so that no block of user code is open: siblings see what it has assigned before they go on.
    def settle = @state.settle(self)

    # What it has brought last, with no code of the application's since it has settled.
    attr_accessor :brought

    # Yields where this fiber, which must be at rest, sees what +start+ says.
    #
    #: [T] (Snapshot) { () -> T } -> T
    def within(start, &block) = @state.within(start, &block)

    # True if what it asks for isn't to be sent.
    def dry? = false

    # It will never be woken.
    def abandon
      @parking.abandon
      @flight&.abandon
    end

    # Ends what it was in the middle of: `ensure` runs. An error of that is reported: another one is about to leave the response.
    #
    # @param native [::Fiber] its own
    def unwind(native)
      return unless native.alive?

      # As all fibers find it when they come back: what equals that isn't put in place again.
      @run.base.install(@run.base.known)
      error = Outcome.of_block { @loader.pipeloader_raise_in(native, Canceled) }.error
      ActiveSupport.error_reporter.report(error, handled: true, source: "pipeloader") if error
    rescue Canceled
      nil
    end

    # True if it will never be woken.
    def abandoned? = @run.over?

    private

    def leave_settings
      settings, @settings = @settings, nil
      left = settings.left
      Attempt.current&.leave_settings(left) if left.any?
    end

    def start_afresh
      @uncoalesced = 0
      @context_keys = nil
      @parking.begin_job
      @state.enter(self)
    end

    # @return [Proc] does +work+ so that it sees what this fiber sees now, on whichever fiber
    def within_pinned(pinned, work) = ->(value) { ResolverFiber.current.within(pinned) { work.call(value) } }
  end
end

# frozen_string_literal: true

module Pipeloader
  # Extends a schema's dataloader class. Decides which fibers may park, and keeps their dynamic state apart.
  #
  # graphql-ruby resumes a fiber only when every job, source and lazy value has run or parked. So the first fiber that
  # wakes *is* the proof that a level is complete, and it sends it ("lazy flush on first resume", see ResolverFiber#park).
  # Nothing here decides when; that is graphql-ruby's own loop, in every version and in AsyncDataloader.
  module Loader
    # graphql-ruby's own default is no limit; 40,000 parked fibers end in "can't set a guard page" (vm.max_map_count).
    FIBER_LIMIT = 4096

    # Until 2.5.11 graphql-ruby takes no object for a job, but a block.
    TAKES_OBJECTS = GraphQL::Dataloader.instance_method(:append_job).parameters.any? { |kind, _| kind == :opt }
    private_constant :TAKES_OBJECTS

    NO_JOBS = [].freeze
    # Collects what is appended on this fiber, see #pipeloader_collect.
    WORK = :pipeloader_work
    # Where graphql-ruby keeps what a fiber works for.
    MULTIPLEX = :__graphql_current_multiplex
    # Takes the place of what is collected.
    module AtOnce
      def self.<<(work) = work.call

      def self.empty? = true
    end
    private_constant :NO_JOBS, :WORK, :MULTIPLEX, :AtOnce

    @classes = {}

    class << self
      # The class that adds this module to +base+, made once for each set of options.
      #
      #: (Class, fiber_limit: Integer?, coalesce: bool, forecast: bool, trips: Symbol, lanes: (Integer | Hash)?) -> Class
      def over(base, fiber_limit:, coalesce:, forecast: false, trips: :depth, lanes: nil)
        queues = base <= GraphQL::Dataloader::NullDataloader ? GraphQL::Dataloader : base
        @classes[[base, fiber_limit, coalesce, forecast, trips, lanes]] ||= Class.new(queues) do
          include Loader
          self.default_fiber_limit = fiber_limit || base.default_fiber_limit || FIBER_LIMIT
          self.default_nonblocking = base.default_nonblocking
          # In which order the schema would work without us.
          define_method(:pipeloader_depth_first?) { base <= GraphQL::Dataloader::NullDataloader }
          define_singleton_method(:pipeloader_base) { base }
          define_method(:pipeloader_coalesces?) { coalesce }
          define_method(:pipeloader_forecasts?) { forecast && coalesce && !pipeloader_branch? }
          define_method(:pipeloader_trips) { coalesce && !pipeloader_branch? ? trips : :depth }
          spread = Lanes.of(lanes)
          define_method(:pipeloader_lanes) { spread }
          # True if jobs wait in Dataloader's own queue: AsyncDataloader keeps them elsewhere, and begins all of them before any
          # fiber goes on.
          queued = queues.instance_method(:append_job).owner.equal?(GraphQL::Dataloader)
          define_method(:pipeloader_queues?) { queued }
          include LazyRounds if queued && LazyRounds.possible?
        end
      end
    end

    # The Run that is going on; nil where nothing may park.
    attr_reader :pipeloader_run

    # The Multiplex of which this runs the branches.
    attr_writer :pipeloader_multiplex

    # Also entered again from inside: by `run_isolated` (mutations), and by a query that a resolver executes.
    # The inner run shares the response (one set of levels), and starts from the state of the fiber that began it.
    def run(...)
      if Pipeloader.disabled?
        QuerySettings.check_disabled(Response.queries)
        return super
      end
      ResolverFiber.current&.await_turn_to_act
      outer = @pipeloader_run
      Response.within(pipeloader_lanes) do |response|
        inner = @pipeloader_run = Run.new(response, *pipeloader_multiplexed) { pipeloader_queued_jobs }
        begin
          super(...)
        ensure
          inner.over
        end
      end
    ensure
      @pipeloader_run = outer
    end

    # Until it yields for good: what a fiber of ours waits for, may be waited for out here.
    def run_fiber(fiber)
      return if @pipeloader_sleepers&.fetch(fiber, nil)&.call == false

      result = super
      result = result.serve(fiber) while OutwardWait === result
      result
    end

    def append_job(callable = nil, &block)
      work = Thread.current[WORK]
      return work << (callable || block) if work

      job = Job === callable || Job::Several === callable ? callable : pipeloader_job(callable || block)
      TAKES_OBJECTS ? super(job) : @pending_jobs.push(job)
      nil
    end

    # Queues the rest of what +parent+ has begun: before all that it has yet to come to. AsyncDataloader's come after them.
    #
    #: (^() -> void, Job?) -> void
    def pipeloader_go_on(work, parent)
      append_job(pipeloader_job(work, parent, part: true))
      @pending_jobs.unshift(@pending_jobs.pop) if pipeloader_queues?
    end

    # Queue what makes jobs of its own: behind all others, and before.
    #
    #: (^() -> void) -> void
    def pipeloader_put_last(work) = @pending_jobs.push(work)
    def pipeloader_put_first(work) = @pending_jobs.unshift(work)

    # Raises in a fiber that waits.
    def pipeloader_raise_in(fiber, error)
      result = fiber.raise(error)
      result = result.serve(fiber) while OutwardWait === result
    end

    # Until the block returns true, a fiber that waits isn't woken.
    def pipeloader_sleep(&block)
      sleepers = @pipeloader_sleepers ||= {}.compare_by_identity
      sleepers[Fiber.current] = block
      pipeloader_yield
    ensure
      sleepers.delete(Fiber.current)
    end

    # Does what is appended inside the block when that ends.
    def pipeloader_do_here(&block) = pipeloader_collect(&block).each(&:call)

    # The same, so that what is read becomes one burst.
    def pipeloader_do_side_by_side(&block) = ArgumentGroup.new(self, pipeloader_collect(&block)).call

    # Keeps what is appended inside the block.
    #
    # @param work [#<<] that collects it
    # @return [#<<] it
    def pipeloader_collect(work = [])
      outer, Thread.current[WORK] = Thread.current[WORK], work
      yield
      work
    ensure
      Thread.current[WORK] = outer
    end

    def pipeloader_collects? = !Thread.current[WORK].nil?

    # Does what the block around has appended so far.
    def pipeloader_do_collected
      return if (work = Thread.current[WORK]).nil? || work.empty?

      Thread.current[WORK] = nil
      ArgumentGroup.new(self, work.shift(work.size)).call
    ensure
      Thread.current[WORK] = work
    end

    # Does what is appended inside the block where it is.
    def pipeloader_at_once
      outer, Thread.current[WORK] = Thread.current[WORK], AtOnce
      yield
    ensure
      Thread.current[WORK] = outer
    end

    # @return [Job, Job::Several, nil] behind which the next one would be queued
    def pipeloader_last = pipeloader_queue.last

    # The rest of what stands for several jobs, which this fiber is about to begin with.
    #
    #: (Job::Several) -> void
    def pipeloader_leave(objects) = @pending_jobs.unshift(objects)

    # True if what stands for several jobs may be queued.
    def pipeloader_takes_object_lists? = pipeloader_queues? && !@pipeloader_run.turns.failing?

    # A job that is in its place, and not to be begun as yet: it will be appended, or released.
    #
    #: (Job) -> void
    def pipeloader_reserve(job) = @pipeloader_run.reserve(job)

    # It needn't be begun at all.
    #
    #: (Job) -> void
    def pipeloader_release(job)
      @pipeloader_run.release(job)
      job.drop
    end

    # AsyncDataloader doesn't queue this block by `append_job`. An argument's parts are isolated from nothing.
    def run_isolated(&block)
      return super { pipeloader_job(block).call } unless ArgumentGroup.under_way?(self)

      result = nil
      pipeloader_do_side_by_side { result = yield }
      result
    end

    def yield(*)
      fiber = ResolverFiber.current
      fiber ? fiber.away { super } : super
    end

    # Lets the other fibers go on while a read waits. Query traces are not told: they take a yield for the end of a slice that
    # a field or a source has begun on this fiber, and a relation is read when its field has ended (PerfettoTrace raises).
    def pipeloader_yield
      multiplex, Fiber[MULTIPLEX] = Fiber[MULTIPLEX], nil
      self.yield(nil)
    ensure
      Fiber[MULTIPLEX] = multiplex
    end

    # A new fiber starts unmarked: graphql-ruby hands the spawning fiber's variables on, and a manager fiber
    # that believed it could park would never terminate.
    def get_fiber_variables
      super.tap { |variables| [ResolverFiber::KEY, ArgumentGroup::KEY, WORK, Waiting::KEY].each { |key| variables.delete(key) } }
    end

    # Without a dataloader of the schema's own, Pipeloader is what sources work by.
    def with(...)
      @pipeloader_sourced = true
      super
    end

    # True if this executes one of a Multiplex' queries: these share statements, level by level, and nothing that one of them
    # asked for is foreseen for another.
    def pipeloader_branch? = !@pipeloader_run&.branch.nil?

    # True if a source was asked for.
    def pipeloader_sourced? = @pipeloader_sourced || false

    # What is known of sources. Their own variables are their authors', and shown by PerfettoTrace.
    #
    # @return [Hash{GraphQL::Dataloader::Source => SourceRounds}]
    def pipeloader_source_rounds = @pipeloader_source_rounds ||= {}.compare_by_identity

    # @return [Hash{GraphQL::Dataloader::ActiveRecordAssociationSource => FetchTurns}] of what isn't fetched yet
    def pipeloader_fetch_turns = @pipeloader_fetch_turns ||= {}.compare_by_identity

    # Plans have looked up for several objects what each would have read for itself.
    #
    # @param reads [Integer] that weren't needed
    def pipeloader_spare(reads) = @pipeloader_spared = pipeloader_spared + reads

    # @return [Integer] reads in all that weren't needed
    def pipeloader_spared = @pipeloader_spared || 0

    # How many jobs nobody has begun.
    def pipeloader_queued = pipeloader_queue.size

    # True if lazy values wait to begin.
    def pipeloader_lazies? = !!@lazies_at_depth&.any?

    # True if no job, source or lazy value waits to begin.
    def pipeloader_idle?
      pipeloader_queues? && !pipeloader_lazies? && @pending_jobs.none? { |job| !(Job::Several === job) || job.left? } &&
        @source_cache.each_value.none? { |sources| sources.each_value.any?(&:pending?) }
    end

    # @param parent [Job, nil] who asks for it
    def pipeloader_job(work, parent = ResolverFiber.current&.job, part: false)
      pipeloader_job_at(work, parent, parent ? parent.next_indexes(1) : pipeloader_root_index, part)
    end

    # @param index [Integer] as Job's
    def pipeloader_job_at(work, parent, index, part = false)
      Job.new(self, work, parent, index, part).tap { |job| @pipeloader_run&.turns&.add(job) }
    end

    private

    # @return [Array] as Run's
    def pipeloader_multiplexed
      @pipeloader_multiplex ? [nil, @pipeloader_multiplex] : [(ResolverFiber.current&.branch if pipeloader_queues?)]
    end

    def spawn_job_fiber(*) = (super unless @pipeloader_run&.crowded?)

    # Jobs that no job asked for are the queries of a multiplex, and lazy values: graphql-ruby comes to those when all jobs are
    # done.
    #
    # @return [Array(Integer, Integer)] how many times it has come to some, and a number
    def pipeloader_root_index
      steps = @pipeloader_run&.steps # fields that it comes to together are asked for at once
      @pipeloader_rounds = (@pipeloader_rounds || 0) + 1 unless steps == @pipeloader_asked
      @pipeloader_asked = steps
      [@pipeloader_rounds || 0, @pipeloader_roots = (@pipeloader_roots || 0) + 1]
    end

    def pipeloader_queue = pipeloader_queues? ? @pending_jobs : NO_JOBS

    # Splits the jobs of ObjectLists: a field has failed, and from now on each may have to wait for its turn.
    def pipeloader_queued_jobs
      queue = pipeloader_queue
      queue.replace(queue.flat_map { |job| job.is_a?(Job::Several) ? job.jobs : [job] }) if queue.any?(Job::Several)
      queue
    end
  end
end

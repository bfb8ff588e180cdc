# frozen_string_literal: true

module Pipeloader
  # Extends a scheduler: GraphQL::Dataloader (QueryLoader), or Scheduler where no query is executed. Decides which fibers may
  # park, and keeps their dynamic state apart.
  #
  # A scheduler resumes a fiber only when every job, source and lazy value has run or parked. So the first fiber that wakes *is*
  # the proof that a level is complete, and it sends it ("lazy flush on first resume", see ResolverFiber#park). Nothing here
  # decides when; that is the scheduler's own loop, in every version of graphql-ruby, in AsyncDataloader and in Scheduler.
  #
  # It has #run, #run_fiber, #append_job, #yield, #spawn_job_fiber, #get_fiber_variables and #fiber_limit, and in @pending_jobs
  # those that nobody has begun.
  module Loader
    # graphql-ruby's own default is no limit; 40,000 parked fibers end in "can't set a guard page" (vm.max_map_count).
    FIBER_LIMIT = 4096

    NO_JOBS = [].freeze
    private_constant :NO_JOBS

    @unshared = [ResolverFiber::KEY, Waiting::KEY, Task::RULES]

    class << self
      # Variables of a fiber that it doesn't hand on to those that begin.
      #
      #: () -> Array[Symbol]
      attr_reader :unshared
    end

    # The Run that is going on; nil where nothing may park.
    attr_reader :pipeloader_run

    # Also entered again from inside: by `run_isolated` (mutations), and by a query that a resolver executes.
    # The inner run shares the response (one set of levels), and starts from the state of the fiber that began it.
    def run(...)
      return super if Pipeloader.disabled?

      ResolverFiber.current&.await_turn_to_act
      outer = @pipeloader_run
      Response.within(pipeloader_lanes) do |response|
        inner = @pipeloader_run = Run.new(response, *pipeloader_multiplexed) { pipeloader_queued_jobs }
        begin
          super(...)
        ensure
          inner.left? ? pipeloader_abandon(inner) : inner.over
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

    def append_job(work) = super(pipeloader_as_job(work))

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

    def yield(*)
      fiber = ResolverFiber.current
      fiber ? fiber.away { super } : super
    end

    # Lets the other fibers go on while a read waits.
    def pipeloader_yield = self.yield(nil)

    # A new fiber starts unmarked: a scheduler hands the spawning fiber's variables on, and graphql-ruby's manager fiber would
    # never terminate if it believed that it could park.
    def get_fiber_variables = super.tap { |variables| Loader.unshared.each { |key| variables.delete(key) } }

    # True if this executes one of a Multiplex' queries: these share statements, level by level, and nothing that one of them
    # asked for is foreseen for another.
    def pipeloader_branch? = !@pipeloader_run&.branch.nil?

    # Plans have looked up for several objects what each would have read for itself.
    #
    # @param reads [Integer] that weren't needed
    def pipeloader_spare(reads) = @pipeloader_spared = pipeloader_spared + reads

    # @return [Integer] reads in all that weren't needed
    def pipeloader_spared = @pipeloader_spared || 0

    # How many jobs nobody has begun.
    def pipeloader_queued = pipeloader_queue.size

    # True if lazy values wait to begin.
    def pipeloader_lazies? = false

    # True if nothing waits to begin: no job, nor what else there is.
    def pipeloader_idle? = pipeloader_queues? && @pending_jobs.none? { |job| !(Job::Several === job) || job.left? }

    # How many fibers may do jobs.
    def pipeloader_most = fiber_limit

    # @param parent [Job, nil] who asks for it
    def pipeloader_job(work, parent = ResolverFiber.current&.job, part: false)
      pipeloader_job_at(work, parent, parent ? parent.next_indexes(1) : pipeloader_root_index, part)
    end

    # @param index [Integer] as Job's
    def pipeloader_job_at(work, parent, index, part = false)
      Job.new(self, work, parent, index, part).tap { |job| @pipeloader_run&.turns&.add(job) }
    end

    private

    # An exception leaves the +run+.
    def pipeloader_abandon(run)
      @pending_jobs = Abandonment::Nowhere.new
      run.over
    ensure
      @pending_jobs = []
    end

    # @return [Job, Job::Several]
    def pipeloader_as_job(work) = Job === work || Job::Several === work ? work : pipeloader_job(work)

    # @return [Array] as Run's
    def pipeloader_multiplexed = [(ResolverFiber.current&.branch if pipeloader_queues?)]

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

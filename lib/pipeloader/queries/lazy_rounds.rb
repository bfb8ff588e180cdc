# frozen_string_literal: true

module Pipeloader
  # Decides when lazy values begin. graphql-ruby begins them when every source has been loaded. Here they begin as soon as every
  # source waits for its rows, so that their reads share the sources' burst. Their fibers join those of the jobs, which
  # graphql-ruby resumes when the sources are done.
  module LazyRounds
    # One call of #run_pending_steps: its lists of fibers, how many it may have, and whether lazy values have begun in it.
    Steps = Struct.new(:job_fibers, :next_job_fibers, :limit, :lazies) do
      def fibers = job_fibers.size + next_job_fibers.size
    end
    private_constant :Steps

    HOOKS = %i[run_pending_steps spawn_source_fiber spawn_job_fiber enqueue_next_pending_lazies with_trace_query_lazy].freeze
    LISTS = %i[trace job_fibers next_job_fibers jobs_fiber_limit].freeze # what #run_pending_steps is given first
    private_constant :HOOKS, :LISTS

    # True if this graphql-ruby has rounds of lazy values, and the methods that are overridden here.
    def self.possible?
      HOOKS.all? { |name| GraphQL::Dataloader.private_method_defined?(name) } &&
        GraphQL::Dataloader.instance_method(:run_pending_steps).parameters.first(LISTS.size).map(&:last) == LISTS
    end

    def run(trace_query_lazy: nil)
      steps, traced_for = @pipeloader_steps, @pipeloader_lazies_traced_for
      @pipeloader_lazies_traced_for = trace_query_lazy
      super
    ensure
      @pipeloader_steps, @pipeloader_lazies_traced_for = steps, traced_for
    end

    private

    def run_pending_steps(trace, job_fibers, next_job_fibers, limit, *)
      @pipeloader_steps = Steps.new(job_fibers, next_job_fibers, limit, false)
      super
    end

    # Begins at most one round: deeper lazy values wait until these are done.
    def spawn_source_fiber(trace)
      fiber = super
      return fiber if fiber || @pipeloader_steps.lazies || @lazies_at_depth.empty? || !@pipeloader_run&.response&.gathering?

      pipeloader_begin_lazies(trace, @pipeloader_steps)
      super
    end

    def pipeloader_begin_lazies(trace, steps)
      steps.lazies = true
      with_trace_query_lazy(@pipeloader_lazies_traced_for) do
        enqueue_next_pending_lazies(@lazies_at_depth)
        while steps.fibers < steps.limit && (fiber = spawn_job_fiber(trace))
          run_fiber(fiber)
          steps.job_fibers.unshift(fiber) if fiber.alive?
        end
      end
    end

    # graphql-ruby adds a fiber for each round, beyond the limit for jobs. Parked fibers of earlier rounds still count, so that no
    # fiber could begin for a source, and its loop would never end. A round waits until there is room.
    def enqueue_next_pending_lazies(*)
      super if @pipeloader_steps.fibers <= @pipeloader_steps.limit
    end
  end
end

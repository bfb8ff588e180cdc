# frozen_string_literal: true

module Pipeloader
  # Lazy values in the burst of the sources beside them. graphql-ruby comes to lazy values when no source is left to be loaded;
  # with this they begin as soon as all sources wait for their rows.
  #
  # The fibers of lazy values go to those of the jobs, as graphql-ruby has them: it goes on with them when the sources are done.
  module EarlyLazies
    # One call of #run_pending_steps: where its fibers are kept, and how many there may be.
    Round = Struct.new(:job_fibers, :next_job_fibers, :limit, :begun) do
      def room? = job_fibers.size + next_job_fibers.size < limit
    end
    private_constant :Round

    HOOKS = %i[run_pending_steps spawn_source_fiber spawn_job_fiber enqueue_next_pending_lazies with_trace_query_lazy].freeze
    LISTS = %i[trace job_fibers next_job_fibers jobs_fiber_limit].freeze # what #run_pending_steps is given first
    private_constant :HOOKS, :LISTS

    # Whether this graphql-ruby has rounds of lazy values, and makes them as it is known here.
    def self.possible?
      HOOKS.all? { |name| GraphQL::Dataloader.private_method_defined?(name) } &&
        GraphQL::Dataloader.instance_method(:run_pending_steps).parameters.first(LISTS.size).map(&:last) == LISTS
    end

    def run(trace_query_lazy: nil)
      outer, @pipeloader_lazies_traced_for = @pipeloader_lazies_traced_for, trace_query_lazy
      super
    ensure
      @pipeloader_lazies_traced_for = outer
    end

    private

    def run_pending_steps(trace, job_fibers, next_job_fibers, limit, *)
      outer, @pipeloader_round = @pipeloader_round, Round.new(job_fibers, next_job_fibers, limit, false)
      super
    ensure
      @pipeloader_round = outer
    end

    # (A round of deeper ones comes when these are done.)
    def spawn_source_fiber(trace)
      fiber = super
      return fiber if fiber || @pipeloader_round.begun || @lazies_at_depth.empty? || !@pipeloader_run&.response&.gathering?

      pipeloader_begin_lazies(trace, @pipeloader_round)
      super
    end

    def pipeloader_begin_lazies(trace, round)
      round.begun = true
      with_trace_query_lazy(@pipeloader_lazies_traced_for) do
        enqueue_next_pending_lazies(@lazies_at_depth)
        while round.room? && (fiber = spawn_job_fiber(trace))
          run_fiber(fiber)
          round.job_fibers.unshift(fiber) if fiber.alive?
        end
      end
    end
  end
end

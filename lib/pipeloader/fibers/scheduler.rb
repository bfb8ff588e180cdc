# frozen_string_literal: true

module Pipeloader
  # Does jobs on fibers, in plain Ruby: what Loader needs of GraphQL::Dataloader, and no more. A fiber begins with the first job
  # that nobody has begun, and goes on with the next until one of them parks. A fiber that has parked goes on when all that were
  # before it have, and every job was begun that may be.
  #
  # It runs on the fiber of who calls `run`, whose variables (`Thread.current[…]`) each fiber begins with.
  class Scheduler
    # @return [Integer] how many fibers there may be
    attr_reader :fiber_limit

    #: (Integer) -> void
    def initialize(fiber_limit)
      @fiber_limit = fiber_limit
      @pending_jobs = []
    end

    alias inspect to_s

    #: (#call) -> void
    def append_job(job)
      @pending_jobs.push(job)
      nil
    end

    # Returns when all jobs are done. An exception of a job's leaves at once: nobody wakes the others' fibers then.
    #
    #: () -> void
    def run
      @variables = get_fiber_variables
      fibers = []
      until fibers.empty? && @pending_jobs.empty?
        fibers.each { |fiber| run_fiber(fiber) if fiber.alive? } # one that waited may have been ended by another
        fibers.select!(&:alive?)
        begin_jobs(fibers)
      end
    end

    # Lets others go on.
    def yield(*)
      Fiber.yield
      nil
    end

    private

    # Adds fibers that have parked.
    def begin_jobs(fibers)
      while fibers.size < @fiber_limit && (fiber = spawn_job_fiber)
        run_fiber(fiber)
        fibers << fiber if fiber.alive?
      end
    end

    def run_fiber(fiber) = fiber.resume

    # It blocks, as one of GraphQL::Dataloader's: a fiber scheduler doesn't know of it, see OutwardWait.
    def spawn_job_fiber
      return if @pending_jobs.empty?

      Fiber.new(blocking: true) do
        @variables.each { |key, value| Thread.current[key] = value }
        Host.current.begin_fiber
        while (job = @pending_jobs.shift)
          job.call
        end
      end
    end

    def get_fiber_variables = Thread.current.keys.to_h { |key| [key, Thread.current[key]] } # as a dataloader calls them
  end
end

# frozen_string_literal: true

module Pipeloader
  # Runs Tasks where they can't be a resolver's jobs.
  class TaskLoader < Scheduler
    include Loader

    #: (fiber_limit: Integer?, coalesce: bool, forecast: bool, trips: Symbol, lanes: (Integer | Hash)?) -> void
    def initialize(fiber_limit:, coalesce:, forecast:, trips:, lanes:)
      super(fiber_limit || FIBER_LIMIT)
      @coalesces = coalesce
      @forecasts = forecast && coalesce
      @trips = coalesce ? trips : :depth
      @lanes = Lanes.of(lanes)
    end

    # Does a Task, and all that it begins. An exception that ends this leaves nothing of it.
    def run(task)
      append_job(task)
      super()
    ensure
      task.cancel
    end

    def pipeloader_coalesces? = @coalesces
    def pipeloader_lanes = @lanes
    def pipeloader_depth_first? = false
    def pipeloader_queues? = true
    def pipeloader_forecasts? = @forecasts
    def pipeloader_trips = @trips
  end
end

# frozen_string_literal: true

module Pipeloader
  # Values that one job of a fiber goes through: as soon as one parks, another fiber goes on with the rest. Where no fiber can be
  # begun, this one does: all others may be waiting for theirs just so.
  class SideBySide
    # @param work [Proc] for each of +values+
    def initialize(fiber, values, work)
      @fiber = fiber
      @loader = fiber.loader
      @parent = fiber.job
      @asker = Asker.current
      @values = values
      @work = work
      @begun = @done = 0
      @results, @errors = [], []
    end

    # @return [Array] what the work has returned for each; of several errors the first value's is raised
    def results
      @loader.pipeloader_job(self, @parent, part: true).call
      until @done == @values.size
        call if @fiber.parking.saturated?
        @loader.pipeloader_yield unless @done == @values.size
      end
      raise @errors.min_by(&:first).last if @errors.any?

      @results
    end

    # The work of one of the fibers.
    def call
      @loader.pipeloader_go_on(self, @parent) if @begun < @values.size # it may find nothing left
      @asker.read { go_on }
    end

    private

    def go_on
      while (index = @begun) < @values.size
        @begun += 1
        work(index)
        @done += 1
      end
    end

    def work(index)
      @results[index] = @work.call(@values[index])
    rescue TimedOut
      raise
    rescue StandardError => e
      @errors << [index, e]
    end
  end
end

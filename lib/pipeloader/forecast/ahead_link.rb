# frozen_string_literal: true

module Pipeloader
  # As a Link of a plan: an association that is read ahead, and those that its records are expected to be asked for.
  class AheadLink
    # How many levels of them.
    DEEP = 5

    attr_reader :forecast

    # @return [Array<AheadLink>]
    attr_reader :links

    alias inspect to_s

    class << self
      # @param forecast [Forecast] of records that are there
      # @return [AheadLink] with all that is expected below, each place's once
      def of(forecast)
        top = new(forecast)
        seen = {}.compare_by_identity
        level = [top]
        DEEP.times do
          level.each { |link| seen[link.goal] = true }
          level = level.flat_map(&:grow).reject { |link| seen.key?(link.goal) }
        end
        top
      end
    end

    # @param preload [Preload, nil] of the forecast; nil for records that are there
    def initialize(forecast, preload = nil)
      @forecast = forecast
      @preload = preload
      @links = []
    end

    # The place that its records go on to.
    def goal = @forecast.goal

    def lookup = @preload.lookup
    def asker = @forecast.asker

    # @return [Array<AheadLink>] those below
    def grow = @links = goal.expected.filter_map { |below| (preload = below.preload) && AheadLink.new(below, preload) }

    # @return [AheadLink, nil] the one of a +forecast+
    def to(forecast) = @links.find { |link| link.forecast.equal?(forecast) }
  end
end

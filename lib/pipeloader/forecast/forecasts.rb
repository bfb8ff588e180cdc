# frozen_string_literal: true

module Pipeloader
  # The Forecasts of one Operation, by places of the document; or of a block of Pipeloader.map, and of those inside it, by block.
  class Forecasts
    # Bytes that a place takes, as estimated.
    BYTES = 1_500
    # Executions between two that are observed, once an operation is well known.
    SELDOM = 1_000
    # Executions of which the round trips are remembered, and in how many of them there may be more than without forecasts.
    MEMORY = 10
    MORE = 8
    NONE = [].freeze
    private_constant :BYTES, :SELDOM, :MEMORY, :MORE, :NONE

    # @param ground [GraphQL::Query, BlockSite]
    # @return [Forecasts, nil] nil where nothing is to be read ahead
    def self.of(ground)
      return ground.forecasts ||= new(ground) if BlockSite === ground

      operation = Operation.of(ground)
      return unless operation&.schema&.pipeloader_options&.fetch(:forecast)

      operation.forecasts ||= new(operation)
    end

    alias inspect to_s

    # @param ground [Operation, BlockSite]
    def initialize(ground)
      @ground = ground
      @places = {} # {place => Forecast}
      @executions = 0
      @last = nil
      @without = NONE # round trips of the last executions in which nothing was read ahead
      @trips = NONE # and of those in which something was
    end

    # An execution has ended.
    #
    # @param trips [Integer] that it took
    # @param ahead [Boolean] whether anything was read ahead
    def ended(trips, ahead)
      ahead ? @trips = [trips, *@trips].first(MEMORY) : @without = [trips, *@without].first(MEMORY)
    end

    # True if what is read ahead is too little: its level waits for the rest of what it reads, as it would have for all of it.
    def worthless? = @without.any? && @trips.size >= MORE && @trips.count { |it| it > @without.max } >= MORE

    # To be called when an +execution+ begins to read, as often as one likes.
    #
    # @return [Boolean] whether it is to be observed: the second execution, the fourth, the eighth, and now and then
    def observe?(execution)
      @executions += 1 unless @last == (@last = execution.__id__)
      count = @executions
      count > 1 && ((count & (count - 1)).zero? || (count % SELDOM).zero?)
    end

    # True if anything was ever learned.
    def any? = @places.any?

    # @param place [Array] what the ground takes: selections below a field, and its node; or a BlockSite, and a class
    # @return [Forecast, nil] of the records that come there
    def at(place) = @places[@ground.place(*place)]

    # @return [Forecast] as #at
    def begin_at(place) = @places[@ground.place(*place)] ||= Forecast.new(self).tap { @ground.grow(BYTES) }

    # @return [Preload, nil] as Forecast's
    def preload(reflection) = (BlockSite === @ground ? @ground : Plans.for(@ground)).preload(reflection)
  end
end

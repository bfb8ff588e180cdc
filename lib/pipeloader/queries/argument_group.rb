# frozen_string_literal: true

module Pipeloader
  # The arguments of one field or input object, or the items of one argument. They are coerced where they are asked for, side by
  # side, and each one ends in its turn: `rescue_from` hears of them, and the arguments are stored, in the order of a serial run.
  class ArgumentGroup
    # Who coerces an argument on this fiber: [the group, the argument's index].
    KEY = :pipeloader_arguments

    class << self
      # True if this fiber coerces an argument for +loader+.
      #
      #: (Loader) -> bool
      def under_way?(loader) = Thread.current[KEY]&.first&.loader.equal?(loader)

      # Yields, to load or prepare one argument, and returns in its turn.
      def in_turn
        return yield unless (group, index = Thread.current[KEY])

        begin
          result = yield
        rescue TimedOut
          raise
        rescue StandardError
          group.await_turn(index)
          ResolverFiber.current.await_turn
          raise
        end
        group.await_turn(index)
        result
      end

      # Yields, to go on with the field whose argument has failed.
      def outside
        outer, Thread.current[KEY] = Thread.current[KEY], nil
        yield
      ensure
        Thread.current[KEY] = outer
      end
    end

    attr_reader :loader

    # @param work [Array<#call>] that coerces one argument each
    def initialize(loader, work)
      @loader = loader
      @work = work
      @position = FieldPosition.current
      @ended = 0 # so many of the first ones
      @ends = []
    end

    def call = ResolverFiber.of(@loader).side_by_side(@work.each_index.to_a) { |index| coerce(index) }

    # Returns when those before have ended; unless one of them has failed, which ends the field.
    def await_turn(index)
      fiber = ResolverFiber.current
      @loader.pipeloader_yield until @ended >= index || !fiber.parks? || fiber.parking.saturated?
      raise @error if @error && @failed < index
    end

    private

    def coerce(index)
      outer, Thread.current[KEY] = Thread.current[KEY], [self, index]
      FieldPosition.put_back(@position)
      @work[index].call
    rescue StandardError => e
      @error, @failed = e, index if @error.nil? || index < @failed
      raise
    ensure
      Thread.current[KEY] = outer
      @ends[index] = true
      @ended += 1 while @ends[@ended]
    end
  end
end

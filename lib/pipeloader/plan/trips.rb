# frozen_string_literal: true

module Pipeloader
  # By how many round trips a plan's rows come: level by level, or all in one, which is more work for the server. What has taken
  # less time is done; now and then the other is tried.
  class Trips
    # The server is far away from so many milliseconds on. Nearer, one trip has nothing to gain.
    FAR = 0.5
    # Each time that the other way is tried, and how many times it must have been to be gone.
    TRY = 32
    ENOUGH = 3
    # It has to take so much less.
    LESS = 0.9
    private_constant :FAR, :TRY, :ENOUGH, :LESS

    # Milliseconds of one way, on average over the latest.
    Time = Struct.new(:average, :times) do
      def add(time)
        self.average = times.zero? ? time : average + ((time - average) / 8)
        self.times += 1
      end
    end
    private_constant :Time

    def initialize
      @one = true
      @executions = 0
      @times = { true => Time.new(0.0, 0), false => Time.new(0.0, 0) }
    end

    # Yields, to read.
    #
    # @param said [Symbol] as `use Pipeloader, trips: …`
    # @param model [Class] of the records that are read
    # @yieldparam one [Boolean] whether by one trip
    def as_said(said, model, &)
      said == :auto ? over(Learned.of(model.connection_pool).distance.to_f, &) : yield(said == :one)
    end

    # As :auto.
    #
    # @param distance [Float, nil] milliseconds to the server and back, if that is known
    # @yieldparam one [Boolean] whether by one trip
    def over(distance)
      return yield(false) if distance.nil? || distance < FAR

      one = (@executions += 1) % TRY == 0 ? !@one : @one
      began = now
      yield(one).tap { tell(one, now - began) }
    end

    private

    def tell(one, time)
      @times[one].add(time)
      mine, others = @times.values_at(@one, !@one)
      @one = !@one if others.times >= ENOUGH && others.average < mine.average * LESS
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)
  end
end

# frozen_string_literal: true

module Pipeloader
  # How long it takes to the server and back: the shortest of the latest bursts, whose statements took it no time.
  class Distance
    # Bursts after which an earlier one no longer counts, or after twice as many.
    LATEST = 64
    # As many are needed: the first of a process are slow.
    ENOUGH = 8
    private_constant :LATEST, :ENOUGH

    # @return [Float, nil] milliseconds; nil where too little is known
    def to_f = ([@before, @shortest].compact.min if @count >= ENOUGH)

    def initialize
      @before = @shortest = nil
      @count = 0
    end

    # Yields, to send a burst and to wait for its answers.
    def measure
      began = now
      yield.tap { tell(now - began) }
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)

    def tell(time)
      @before, @shortest = @shortest, nil if ((@count += 1) % LATEST).zero?
      @shortest = time if @shortest.nil? || time < @shortest
    end
  end
end

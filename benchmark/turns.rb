# frozen_string_literal: true

module Bench
  # Who runs when. Each contender gets as many runs as fit its budget; those of a slow one are spread evenly over the rounds,
  # so that a machine that gets slower or faster in the meantime does so for all. Within a round the order is random.
  class Turns
    include Enumerable

    # seconds: {name => how long one run takes, about}
    def initialize(seconds, budget:, least:, most:, random: Random.new)
      @runs = seconds.transform_values { |each| (budget / [each, 1e-6].max).to_i.clamp(least, most) }
      @random = random
    end

    attr_reader :runs

    def rounds = @runs.values.max

    # Yields the number of the round, and the names of those that run in it.
    def each
      rounds.times do |round|
        names = @runs.select { |_, runs| (round + 1) * runs / rounds > round * runs / rounds }.keys
        yield round, names.shuffle(random: @random)
      end
    end
  end
end

# frozen_string_literal: true

module Bench
  # Which contenders a growing list leaves in the race.
  class Stamina
    LIMIT = 6.0 # seconds for an answer

    def initialize(contenders)
      @contenders = contenders
      @seconds = {}
    end

    # Those whose answer to a list of this size won't take longer, if it grows as the list does.
    def left(size) = @contenders.reject { |name| (seconds, before = @seconds[name]) && seconds * size / before > LIMIT }

    def learn(size, contest)
      contest[:entries].each do |name, figures|
        samples = figures[:samples].values.first
        @seconds[name] = [Summary.new(samples).median / 1000, size] unless samples.nil? || samples.empty?
      end
    end
  end
end

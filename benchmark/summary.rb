# frozen_string_literal: true

require "enumerable/statistics"

module Bench
  # What the samples of one contender at one distance say. Milliseconds.
  class Summary
    attr_reader :runs

    # samples: [[wall, cpu, server, allocations], …], as Sample has them.
    def initialize(samples)
      @runs = samples.size
      @wall, @cpu, @server, @allocations = samples.transpose
    end

    def median = @wall.median * 1000
    def p99 = @wall.percentile(99) * 1000
    def least = @wall.min * 1000
    def cpu = @cpu.median * 1000
    def server = (@server.median * 1000 if @server.all?)
    def allocations = @allocations.median.round

    # The median's part of another's, measured in the same run.
    def of(other) = median / other.median

    def to_h = %i[runs median p99 least cpu server allocations].to_h { |name| [name, public_send(name)] }
  end
end

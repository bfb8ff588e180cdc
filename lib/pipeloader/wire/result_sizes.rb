# frozen_string_literal: true

module Pipeloader
  # How many bytes the results of each SQL had, so that a Pipeline knows how much may be under way. Kept from burst to burst
  # (Learned).
  class ResultSizes
    # One that isn't known yet counts as 128 kB, which lets 256 of them go; any counts as 8 kB at least, so 4,096. A fixed
    # window of 256 cost a burst of 374 statements a second round trip.
    UNKNOWN = 128 * 1024
    SMALLEST = 8 * 1024

    LIMIT = 1000
    LENGTH = 2000
    private_constant :UNKNOWN, :SMALLEST

    def initialize
      @averages = Bounded.new(LIMIT) # {SQL => bytes}
    end

    # @return [Integer, nil] bytes; nil where none is known
    def known(sql) = @averages[sql]

    def expect(sql) = [@averages.fetch(sql, UNKNOWN), SMALLEST].max

    # @param size [Integer] the average of +count+ results
    def remember(sql, size, count = 1)
      return if sql.size > LENGTH

      known = @averages[sql]
      @averages[sql] = known ? known + ((size - known) * [count, 8].min / 8) : size
    end

    # How many SQL texts it knows.
    def size = @averages.size
  end
end

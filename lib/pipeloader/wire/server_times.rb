# frozen_string_literal: true

module Pipeloader
  # How many milliseconds the server works on each SQL text, for Lanes. Kept from burst to burst (Learned).
  #
  # A moving average: where this process has something else to do, it sees one answer too late, and the next too soon after it.
  # One that took long by chance counts as twice what is known.
  class ServerTimes
    LIMIT = 1000
    LENGTH = 2000
    WEIGHT = 0.25
    LEAST = 0.5
    private_constant :LIMIT, :LENGTH, :WEIGHT, :LEAST

    def initialize
      @averages = Bounded.new(LIMIT) # {SQL => milliseconds}
    end

    # @return [Float, nil] nil where nothing is known
    def known(sql) = @averages[sql]

    #: (String, Float) -> void
    def remember(sql, milliseconds)
      return if sql.size > LENGTH

      known = @averages[sql]
      @averages[sql] = known ? known + (([milliseconds, (known * 2) + LEAST].min - known) * WEIGHT) : milliseconds
    end
  end
end

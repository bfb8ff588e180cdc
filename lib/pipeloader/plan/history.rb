# frozen_string_literal: true

module Pipeloader
  # How often something was tried, and how often that failed.
  class History
    # A trial that fails has read for nothing; fewer failures than these are no reason to give up.
    AT_LEAST = 3
    private_constant :AT_LEAST

    # @param bearable [Rational] the part of the trials that may fail
    def initialize(bearable)
      @bearable = bearable
      @tried = @failed = 0
    end

    def try = @tried += 1
    def fail = @failed += 1
    def worthless? = @failed >= AT_LEAST && @failed > @tried * @bearable
  end
end

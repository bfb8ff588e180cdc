# frozen_string_literal: true

module Pipeloader
  # How far something that was learned still holds.
  module Trust
    # Executions that are remembered, and in how many of them it may have been wrong before it is dropped.
    MEMORY = 10
    WRONG = 2

    # The part of what was read ahead that may remain unasked for without its being wrong.
    UNASKED = 0.05
    private_constant :MEMORY, :WRONG, :UNASKED

    # For whom it is read: the field whose resolver has asked.
    #
    #: () -> Asker?
    attr_accessor :asker

    # True if it is to be read ahead.
    def counts? = @counts || false

    # An execution was observed.
    #
    # @param counts [Boolean] whether every record that could ask has asked
    def learn(counts)
      @wrong = nil if counts && !@counts
      @counts = counts
    end

    # An execution has read it ahead.
    #
    # @param owners [Integer] for how many records
    # @param asked [Integer] how many of them have asked for it
    def judge(owners, asked)
      @wrong = [owners - asked > owners * UNASKED, *@wrong].first(MEMORY)
      @counts = false if @wrong.count(true) >= WRONG
    end
  end
end

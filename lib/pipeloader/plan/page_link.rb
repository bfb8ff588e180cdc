# frozen_string_literal: true

module Pipeloader
  # An association that is a Relay connection in the response, for each of its owners, with how many there are on all pages.
  class PageLink < Link
    # @return [Array<Calculation>] one for each of its plan's Totals
    attr_reader :calculations

    def initialize(key, plain, reflection, lookup, index, plan, calculations)
      super(key, plain, reflection, lookup, index, plan, nullable: false)
      @calculations = calculations
    end

    def build(row, frame, context)
      below = frame.below(self)
      @plan.list(below.of(row), below, context, (counts(row, frame) if @calculations.any?))
    end

    private

    def counts(row, frame)
      @plan.totals.zip(@calculations).to_h { |total, calculation| [total.key, calculation.answer(row, frame)] }
    end
  end
end

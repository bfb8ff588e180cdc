# frozen_string_literal: true

module Pipeloader
  # A value that a resolver method asks of one of its record's associations, asked for all records at once:
  #
  #     def hidden = object.comments.where(hidden: true).count
  class Calculation < Link
    NONE = [].freeze
    private_constant :NONE

    # @param plain [PlainField]
    # @param lookup [CalculationLookup]
    # @param plan [Plan] for no columns
    # @param coercion [Coercion] of what is calculated
    def initialize(key, plain, reflection, lookup, index, plan, coercion)
      super(key, plain, reflection, lookup, index, plan, nullable: true)
      @coercion = coercion
    end

    # It brings no objects.
    def fields = NONE
    def formulas = @coercion.formulas

    def build(row, frame, context) = @coercion.call(answer(row, frame), context)

    # @return what ActiveRecord would return, before the column's type makes it a value
    def answer(row, frame) = @lookup.answer(frame.below(self).of(row))
  end
end

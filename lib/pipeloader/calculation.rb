# frozen_string_literal: true

module Pipeloader
  # What a resolver method asks of one of its record's associations: `def hidden = object.comments.where(hidden: true).count`.
  # It is asked for all records at once.
  class Calculation < Link
    # @param type [Class, GraphQL::Schema::Wrapper] of the field
    # @param lookup [CalculationLookup]
    def initialize(key, type, reflection, lookup, index)
      super(key, nil, reflection, lookup, index, Plan.new(lookup.projection, []), nullable: true)
      @coercion = Coercion.new(type, lookup.value_type)
    end

    def build(row, branch, context)
      @coercion.call(@lookup.answer(branch.below(self).of(row[@index])), context)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # What a resolver method asks of one of its record's associations: `def hidden = object.comments.where(hidden: true).count`.
  # It is asked for all records at once.
  class Calculation < Link
    # @param reflection [ActiveRecord::Reflection::AbstractReflection]
    # @param calls [Array<Delegation::Call>] the association's reader and what is called of what it returns
    # @return [Boolean] whether that is a question of the server's
    def self.of?(reflection, calls)
      reflection.collection? && Lookup.objection(reflection).nil? && CalculationLookup.knows?(calls.last) &&
        reflection.klass.connection_db_config.adapter == "postgresql" &&
        !(reflection.has_cached_counter? && calls.size == 2 && COUNTERS.include?(calls.last.name))
    end

    # These look at a counter of the record's, if there is one.
    COUNTERS = %i[size any? empty? none?].freeze
    private_constant :COUNTERS

    # @param type [Class, GraphQL::Schema::Wrapper] of the field
    # @param lookup [CalculationLookup]
    def initialize(key, type, reflection, lookup, index) # rubocop:disable Metrics/ParameterLists
      super(key, nil, reflection, lookup, index, Plan.new(Projection.of(reflection.klass, []), []), nullable: true)
      @coercion = Coercion.new(type, lookup.value_type)
    end

    def build(row, branch, context)
      @coercion.call(lookup.answer(branch.below(self).of(row[@index])), context)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # The `authorized?` of an object type, a Formula, as a Plan asks it for each of its rows. All have to pass: what becomes of an
  # object that doesn't is graphql-ruby's to say, and there is no plan then.
  class Admission
    # How often objects of one type were refused, and how many were admitted, by one operation.
    class Record
      # A plan that gives up has read for nothing; so it is tried while it does so for few of the objects that it writes.
      FEW = 1r / 50
      AT_LEAST = 3
      private_constant :FEW, :AT_LEAST

      def initialize
        @refused = @admitted = 0
      end

      def admit = @admitted += 1
      def refuse = @refused += 1
      def worthless? = @refused >= AT_LEAST && @refused > @admitted * FEW
    end

    NO_ARGUMENTS = {}.freeze
    private_constant :NO_ARGUMENTS

    # @param formula [Formula] of Formula.of_guard
    # @param readings [Reach::Readings] what it asks of a row
    # @param record [Record] of the type
    def initialize(formula, readings, record)
      @formula = formula
      @readings = readings
      @record = record
    end

    # @return [Array<Reach>] that it has
    def reaches = @readings.reaches

    # True if it asks the context for anything.
    def asks? = @formula.contexts.any?

    # @raise [DoesNotFit] where that would be code of the application's
    def check(context) = @formula.contexts.each { |value| ContextAnswer.verify(value, context) }

    def worthless? = @record.worthless?

    # @param frame [Frame] of the +row+
    # @raise [DoesNotFit] where its object is refused
    def admit(row, frame, context)
      return @record.admit if @formula.call(@readings.of(row, frame), NO_ARGUMENTS, context)

      @record.refuse
      raise DoesNotFit
    end
  end
end

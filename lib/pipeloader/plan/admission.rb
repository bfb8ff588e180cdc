# frozen_string_literal: true

module Pipeloader
  # The `authorized?` of an object type, a Formula, as a Plan asks it for each of its rows. All have to pass: what becomes of an
  # object that doesn't is graphql-ruby's to say, and there is no plan then.
  class Admission
    # In how many executions of one operation there were objects of one type, and in how many of these one was refused. Several
    # places, and objects each by itself, may tell of one execution.
    class Refusals < History
      # They are tried while one seldom is.
      SELDOM = 1r / 50
      private_constant :SELDOM

      def initialize
        super(SELDOM)
        @came = @refused = nil
      end

      def try_in(query)
        try unless @came == query.__id__
        @came = query.__id__
      end

      def fail_in(query)
        fail unless @refused == query.__id__
        @refused = query.__id__
      end
    end

    # @param type [Class] object type
    # @param formula [Formula] of Formula.of_guard
    # @param readings [Reach::Readings] what it asks of a row
    # @param refusals [Refusals] of the type
    def initialize(type, formula, readings, refusals)
      @type = type
      @method = type.method(:authorized?)
      @formula = formula
      @readings = readings
      @refusals = refusals
      @contexts = readings.contexts_of(formula)
    end

    # @return [Array<Link>] that it has
    def links = @readings.links

    # As a Plan's.
    def asks? = @contexts.any?
    def check(context) = ContextAnswer.verify_all(@contexts, context)

    # True if the type has another method by now, or what that asks is another; or if it refuses too often.
    def over?
      @refusals.worthless? || @type.method(:authorized?) != @method || [@formula, *@readings.formulas].any?(&:over?)
    end

    # Rows have come.
    def come(context) = @refusals.try_in(context.query)

    # @param frame [Frame] of the +row+
    # @raise [DoesNotFit] where its object is refused
    def admit(row, frame, context)
      answer = @formula.call(@readings.of(row, frame), context)
      return if true.equal?(answer)

      raise DoesNotFit if !answer || context.schema.lazy?(answer)
    rescue DoesNotFit
      @refusals.fail_in(context.query)
      raise
    end
  end
end

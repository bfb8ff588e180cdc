# frozen_string_literal: true

module Pipeloader
  # The `authorized?` of an object type, a Formula, as a Plan asks it for each of its rows. All have to pass: what becomes of an
  # object that doesn't is graphql-ruby's to say, and there is no plan then.
  class Admission
    # In how many executions of one operation there were objects of one type, and in how many of these one was refused.
    class History
      # A plan that gives up has read for nothing; so it is tried while it seldom does.
      SELDOM = 1r / 50
      AT_LEAST = 3
      private_constant :SELDOM, :AT_LEAST

      def initialize
        @times = @refused = 0
        @came = @refusing = nil # several places, and objects each by itself, may tell of one execution
      end

      def come(context)
        @times += 1 unless @came == context.query.__id__
        @came = context.query.__id__
      end

      def refuse(context)
        @refused += 1 unless @refusing == context.query.__id__
        @refusing = context.query.__id__
      end

      def worthless? = @refused >= AT_LEAST && @refused > @times * SELDOM
    end

    # @param type [Class] object type
    # @param formula [Formula] of Formula.of_guard
    # @param readings [Reach::Readings] what it asks of a row
    # @param history [History] of the type
    def initialize(type, formula, readings, history)
      @type = type
      @method = type.method(:authorized?)
      @formula = formula
      @readings = readings
      @history = history
    end

    # @return [Array<Link>] that it has
    def links = @readings.links

    # As a Plan's.
    def asks? = @formula.contexts.any?
    def check(context) = ContextAnswer.verify_all(@formula.contexts, context)

    # True if the type has another method by now, or if it refuses too often.
    def over? = @history.worthless? || @type.method(:authorized?) != @method

    # Rows have come.
    def come(context) = @history.come(context)

    # @param frame [Frame] of the +row+
    # @raise [DoesNotFit] where its object is refused
    def admit(row, frame, context)
      answer = @formula.call(@readings.of(row, frame), context)
      return if true.equal?(answer)

      raise DoesNotFit if !answer || context.schema.lazy?(answer)
    rescue DoesNotFit
      @history.refuse(context)
      raise
    end
  end
end

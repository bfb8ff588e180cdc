# frozen_string_literal: true

module Pipeloader
  # A value that a resolver method asks of one of its record's associations, asked for all records at once:
  #
  #     def hidden = object.comments.where(hidden: true).count
  class Calculation < Link
    # What Ruby makes of a number, before it's the field's value: `.to_f.round(1)`.
    Made = Struct.new(:cast, :calls, :coercion) do
      def call(value, context) = coercion.of_attribute(of(value), context)
      def formulas = coercion.formulas

      private

      def of(value)
        work_out(value)
      rescue StandardError => e
        raise DoesNotFit.verdict(e) { work_out(value) }
      end

      def work_out(value) = calls.inject(cast.call(value)) { |it, call| it.nil? && call.safe ? (return nil) : call.on(it) }
    end
    NONE = [].freeze
    private_constant :Made, :NONE

    # True if a +call+ does nothing but to work something out.
    def self.known?(call) = KnownMethods.callable?(call.name) && call.keywords.empty? && KnownMethods.literal?(call.arguments)

    # @param type [Class, GraphQL::Schema::Wrapper] of the field
    # @param rest [Array<Chain::Call>] what is asked of the number
    # @return [Coercion, Made] of what is calculated
    def self.coercion(type, value_type, rest)
      rest.empty? ? Coercion.new(type, value_type) : Made.new(Cast.new(value_type), rest, Coercion.new(type))
    end

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

# frozen_string_literal: true

module Pipeloader
  # A record of which a Formula asks something, beside its own:
  #
  #     def signature = object.author&.name || "nobody"
  class Reach < Link
    NONE = [].freeze
    # Of one that is asked for no more than whether it is there.
    ONE = %i[there].freeze
    private_constant :NONE, :ONE

    # What a Formula would be told by a record: in the order of its names, the answers of Columns and Methods, of Reaches, and of
    # Asked.
    Readings = Struct.new(:answers, :reaches, :questions) do
      # @param frame [Frame] of the +row+
      # @return [Array]
      def of(row, frame)
        told = answers.map { |answer| answer.of(row, frame) }
        told.concat(reaches.map { |reach| reach.thing(row, frame) }) if reaches.any?
        told.concat(questions.map { |asked| asked.of(row, frame) }) if questions.any?
        told
      end

      # @return [Array<Link>]
      def links = reaches.map(&:link) + questions.flat_map(&:links)

      # @return [Array<Formula>] of all methods that answer
      def formulas = [*answers, *reaches, *questions].flat_map(&:formulas)

      # @param formula [Formula] that is told
      # @return [Array<ContextValue>] what it asks, and all that answer
      def contexts_of(formula) = [formula, *formulas].flat_map(&:contexts)

      # @param names [Array<String>] of the row's columns
      # @return [Array] as #of, of a record, where nothing is asked of others
      def of_record(record, names) = answers.map { |answer| answer.of_record(record, names) }
    end

    # What a reader of a column returns.
    #
    # index: its place in the row
    Column = Struct.new(:index, :cast) do
      def of(row, frame) = frame.coerced? ? cast.of_attribute(row[index]) : cast.call(row[index])
      def of_record(record, names) = cast.of_attribute(Coercion.attribute(record, names[index]))
      def formulas = NONE
    end

    # What is asked of an association by Chains.
    #
    # nodes: as Told's. questions: a Number, Values or Records for each
    Asked = Struct.new(:nodes, :questions) do
      def of(row, frame) = Told.new(nodes, questions.map { |question| question.of(row, frame) })
      def links = questions.map(&:link)
      def formulas = questions.flat_map(&:formulas)
    end

    # What is calculated of an association's records.
    Number = Struct.new(:link, :cast) do
      def of(row, frame) = cast.call(link.answer(row, frame))
      def formulas = NONE
    end

    # What ActiveStorage has attached, asked whether it is there.
    #
    # answer: There, or a Number
    Attached = Struct.new(:attachment, :answer) do
      def thing(row, frame) = THING.new(answer.of(row, frame))
      def link = answer.link
      def formulas = [attachment, *answer.formulas]
    end
    THING = Struct.new(Attachment::ASKED)

    # Whether a Reach leads to a record.
    There = Struct.new(:link) do
      def of(row, frame) = !link.thing(row, frame).nil?
      def formulas = link.formulas
    end
    private_constant :THING

    # What one of the model's own methods works out.
    Method = Struct.new(:formula, :readings) do
      def of(row, frame) = formula.call(readings.of(row, frame))
      def formulas = [formula, *readings.formulas]
      def of_record(record, names) = formula.call(readings.of_record(record, names))
    end

    # What a column tells of each of an association's rows: `object.tags.pluck(:name)`.
    class Values < Link
      # @param answer [Column] of their rows
      def initialize(plain, reflection, lookup, index, plan, answer)
        super(nil, plain, reflection, lookup, index, plan, nullable: true)
        @answer = answer
      end

      # It brings no objects.
      def fields = NONE
      def link = self
      def formulas = @answer.formulas

      # @return [Array]
      def of(row, frame)
        below = frame.below(self)
        below.of(row).map { |its| @answer.of(its, below) }
      end
    end

    # @param plan [Plan] for rows that aren't written
    # @param names [Array<Symbol>] of the +readings+
    def initialize(plain, reflection, lookup, index, plan, names, readings)
      super(nil, plain, reflection, lookup, index, plan, nullable: true)
      @thing = Struct.new(*(names.empty? ? ONE : names))
      @readings = readings
    end

    # It brings no objects.
    def fields = NONE
    def link = self
    def formulas = @readings.formulas

    # @return [Struct, nil] nil for an owner that has none
    def thing(row, frame)
      below = frame.below(self)
      found = below.of(row).first
      made(found, below) if found
    end

    private

    def made(row, frame) = @thing.new(*@readings.of(row, frame))

    # One of an association's: `object.items.order(:price).last&.name`.
    class One < Reach
      # @return [Struct, nil]
      def of(row, frame) = thing(row, frame)
    end

    # Those of an association of which a method asks something by blocks: `object.items.sum { |item| item.price }`.
    class Records < Reach
      # @return [Array<Struct>]
      def of(row, frame)
        below = frame.below(self)
        below.of(row).map { |its| made(its, below) }
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # A record of which a Formula asks something, beside its own:
  #
  #     def signature = object.author&.name || "nobody"
  class Reach < Link
    # What a Formula would be told by readers of a record: in the order of its names, columns' values and Reaches.
    #
    # columns: [[place in the record's row, Cast], …]
    Readings = Struct.new(:columns, :reaches) do
      # @param frame [Frame] of the +row+
      # @return [Array]
      def of(row, frame)
        values = columns.map { |index, cast| frame.coerced? ? cast.of_attribute(row[index]) : cast.call(row[index]) }
        reaches.empty? ? values : values.concat(reaches.map { |reach| reach.thing(row, frame) })
      end

      # @return [Array] as #of, of a record, where nothing is asked of others
      def of_record(record, names)
        columns.map { |index, cast| cast.of_attribute(Coercion.attribute(record, names[index])) }
      end
    end

    NONE = [].freeze
    private_constant :NONE

    # @param plan [Plan] for rows that aren't written
    # @param names [Array<Symbol>] of the +readings+
    def initialize(plain, reflection, lookup, index, plan, names, readings)
      super(nil, plain, reflection, lookup, index, plan, nullable: true)
      @thing = Struct.new(*names)
      @readings = readings
    end

    # It brings no objects.
    def fields = NONE

    # @return [Struct, nil] nil for an owner that has none
    def thing(row, frame)
      below = frame.below(self)
      found = below.of(row[@index]).first
      @thing.new(*@readings.of(found, below)) if found
    end
  end
end

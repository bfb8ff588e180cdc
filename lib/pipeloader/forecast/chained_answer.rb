# frozen_string_literal: true

module Pipeloader
  # What a ChainedQuestion has brought, in place of the Coalesced that a Slice is a part of.
  class ChainedAnswer
    # See Slice.
    attr_accessor :template

    # @return [Coalesced::Columns] of the question's own SQL
    attr_reader :columns

    # @return [Array(Array<Array>)] the rows
    attr_reader :rows

    # @return [Hash{Integer => Object}] the parameters that it was asked by, by index
    attr_reader :cells

    alias inspect to_s

    # @param result [PG::Result, Slice] its rows' columns, whether there is such a row, and the parameters
    # @param indexes [Array<Integer>] of these among the question's own
    def initialize(result, indexes)
      width = result.fields.size - indexes.size - 1
      @columns = Coalesced::Columns.new(result.fields.first(width), Array.new(width) { |index| result.ftype(index) },
                                        Array.new(width) { |index| result.fmod(index) })
      found = result.values
      @cells = indexes.zip(found.first.last(indexes.size)).to_h
      @rows = [found.select { |row| row[width] }.map { |row| row.first(width) }]
    end

    # @param read [Read] that it answers, of the question's own SQL
    # @param position [Integer] as Read#deliver
    def deliver(read, position)
      read.deliver(Statement.new(read).tap { |statement| statement.answer(Slice.new(self, 0)) }, position)
    end
  end
end

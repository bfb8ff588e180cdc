# frozen_string_literal: true

module Pipeloader
  # Reads of one SQL that one resolver sends in a row. They are a loop if they ask for one after the other of the rows that an
  # earlier read has brought, and none needs what the one before has brought.
  #
  # Limits: it is told by binds, so with prepared statements alone; not where what has come for one owner happens to contain the
  # next one's key; and a loop that ends as soon as it has found something, is one, too.
  class ReadLoop
    # So many reads are no chance.
    LENGTH = 3
    private_constant :LENGTH

    # @param results [Integer] how many had come before the first of them
    def initialize(results)
      @results = results
      @length = 1
    end

    # Takes note of a read, Strict's.
    #
    # @param results [Array<ActiveRecord::Result>] all that have come in the response
    # @return [Boolean] whether they are a loop by now
    def add?(call, result, results)
      @length = @call && one_by_one?(call, results) ? @length + 1 : 1
      @call = call
      @result = result
      @length == LENGTH
    end

    private

    # True if it could have been read with the one before: they differ in one value, which is that of two rows in a row of a
    # result that had come before both.
    def one_by_one?(call, results)
      return false if call.burst && call.burst == @call.burst

      changed = call.params.each_index.select { |index| call.params[index] != @call.params[index] }
      return false unless changed.one? && (name = name_of(call.binds[changed.first]))

      values = [@call, call].map { |it| it.params[changed.first].to_s }
      !brought?(values.last) && results.first(@results).any? { |result| in_a_row?(result, name, values) }
    end

    def name_of(bind) = (bind.name if bind.respond_to?(:name))

    def brought?(value) = @result.rows.any? { |row| row.any? { |cell| cell.to_s == value } }

    def in_a_row?(result, name, values)
      columns = result.columns.each_index.select { |index| leads?(result.columns[index], name) }
      columns.any? { |index| result.rows.each_cons(2).any? { |rows| rows.map { |row| row[index].to_s } == values } }
    end

    # True if a column's values may be those that a read asks for by the attribute +name+.
    def leads?(column, name)
      column == name || (name.end_with?("_id") && column == "id") || (name == "id" && column.end_with?("_id"))
    end
  end
end

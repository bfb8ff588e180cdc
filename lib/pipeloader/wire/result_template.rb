# frozen_string_literal: true

module Pipeloader
  # Columns and types that ActiveRecord worked out for one result. Others differ from it in their rows alone: those of the other
  # parts of a Coalesced, so that this is done once; and those that a look-up has brought for many owners.
  class ResultTemplate
    # @param result [ActiveRecord::Result]
    # @param columns [Array<String>] the first of its columns, if others don't have all
    def initialize(result, columns = result.columns)
      @columns = columns
      # As the constructor takes them: what is public of ActiveRecord 8.1's is made of them anew for each result.
      @types = result.instance_variable_get(:@column_types)
    end

    # @param rows [Array<Array>]
    # @return [ActiveRecord::Result]
    def of_rows(rows) = ActiveRecord::Result.new(@columns, rows, @types)

    # @return [ActiveRecord::Result]
    if ActiveRecord::Result.instance_method(:initialize).parameters.include?(%i[key affected_rows])
      def result_of(slice) = ActiveRecord::Result.new(@columns, slice.values, @types, affected_rows: slice.cmd_tuples)
    else
      def result_of(slice) = of_rows(slice.values)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Columns and types that ActiveRecord worked out for the first part of a Coalesced. The others' results differ from it in their
  # rows alone, so that this is done once.
  class ResultTemplate
    # @param result [ActiveRecord::Result]
    def initialize(result)
      @columns = result.columns
      # As the constructor takes them: what is public of ActiveRecord 8.1's is made of them anew for each result.
      @types = result.instance_variable_get(:@column_types)
    end

    # @return [ActiveRecord::Result]
    if ActiveRecord::Result.instance_method(:initialize).parameters.include?(%i[key affected_rows])
      def result_of(slice) = ActiveRecord::Result.new(@columns, slice.values, @types, affected_rows: slice.cmd_tuples)
    else
      def result_of(slice) = ActiveRecord::Result.new(@columns, slice.values, @types)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # The rows of a result, as somebody's own.
  module Rows
    # The query cache gives out once more what it keeps, so its strings are copied.
    #
    # @param result [ActiveRecord::Result, Array] an empty Array where there is nothing to ask
    # @return [Array<Array>]
    def self.of(model, result)
      return result if result.is_a?(Array)
      return result.rows unless model.connection_pool.query_cache_enabled

      result.rows.map { |row| row.map { |value| value.is_a?(String) ? value.dup : value } }
    end
  end
end

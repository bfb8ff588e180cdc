# frozen_string_literal: true

module Pipeloader
  # The rows of a result, as somebody's own.
  module Rows
    # The query cache gives out once more what it keeps, so that is copied.
    #
    # @param result [ActiveRecord::Result, Array] an empty Array where there is nothing to ask
    # @return [Array<Array>]
    def self.of(model, result)
      return result if result.is_a?(Array)
      model.connection_pool.query_cache_enabled ? copy(result.rows) : result.rows
    end

    # @return [Array<Array>] with copies of all values that can be changed in place
    def self.copy(rows)
      rows.map { |row| row.map { |value| value.is_a?(String) || value.is_a?(Time) ? value.dup : value } }
    end
  end
end

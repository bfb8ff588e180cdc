# frozen_string_literal: true

module Pipeloader
  # Open transactions: in one, a statement that fails ends more than itself.
  module Transactions
    class << self
      # True if one is open in the database of a +model+.
      def open?(model) = model.connection_pool.active_connection?&.transaction_open?

      # True if one is open where a plan, or a part of one, would read.
      #
      # @param part [#databases]
      def around?(part) = part.databases.any? { |model| open?(model) }
    end
  end
end

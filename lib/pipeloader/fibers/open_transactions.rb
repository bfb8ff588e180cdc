# frozen_string_literal: true

module Pipeloader
  # Transactions in which no plan reads: a resolver has opened it, so that no fiber parks; or a statement that fails would end it.
  module OpenTransactions
    class << self
      # True if any is open in the database of a +model+.
      def any?(model) = model.connection_pool.active_connection?&.transaction_open? || false

      # True if such a one is.
      def in?(model)
        return false unless any?(model)

        response = ResolverFiber.current&.response
        response.nil? || response.in_new_transaction? || !Transactions.spared?
      end

      # True if one is open where a plan, or a part of one, would read.
      #
      # @param part [#databases]
      def around?(part) = part.databases.any? { |model| in?(model) }
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Transactions in which no plan reads: those that a resolver has opened, as no fiber parks in them; those that a statement would
  # end if it failed; and any, outside of a response.
  module OpenTransactions
    class << self
      # True if a transaction is open in the database of a +model+.
      def any?(model) = model.connection_pool.active_connection?&.transaction_open? || false

      # True if one is open there in which no plan reads.
      def in?(model)
        return false unless any?(model)

        response = ResolverFiber.current&.response
        response.nil? || response.in_new_transaction? || !response.restartable?
      end

      # True if one is open where a plan, or a part of one, would read.
      #
      # @param part [#databases]
      def around?(part) = part.databases.any? { |model| in?(model) }
    end
  end
end

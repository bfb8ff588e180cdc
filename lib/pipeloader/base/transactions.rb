# frozen_string_literal: true

module Pipeloader
  # Transactions that were open before a response: in one, a statement that fails ends more than itself. Where the response's
  # queries can be executed again, each of its statements goes inside a Savepoint there. If one fails, graphql-ruby executes them
  # by itself, in a transaction that is as it was.
  module Transactions
    # Ends an execution, for graphql-ruby to execute its queries by itself. See SafeExecution.
    class Failed < Exception # rubocop:disable Lint/InheritException -- code that rescues its own errors has nothing to do with it
    end

    class << self
      # True if all of it can be done again.
      def restartable? = Attempt.current&.restarts? || false

      # A statement has failed in one, to which that did nothing.
      #
      # @raise [Failed] unless something was written meanwhile
      def restart
        return unless restartable?

        Attempt.current.fail
        raise Failed
      end
    end
  end
end

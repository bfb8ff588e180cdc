# frozen_string_literal: true

module Pipeloader
  # Transactions that were open before a response: in one, a statement that fails ends more than itself. Where the response's
  # queries can be executed again, each of its statements goes behind a Savepoint there. If one fails, graphql-ruby executes the
  # queries by itself, in a transaction that is as it was. See Response#restartable?.
  module Transactions
    # Ends an execution, for graphql-ruby to execute its queries by itself. See SafeExecution.
    class Failed < Exception # rubocop:disable Lint/InheritException -- code that rescues its own errors has nothing to do with it
    end
  end
end

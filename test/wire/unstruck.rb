# frozen_string_literal: true

# ActiveRecord's own gaps, not to be taken for ours, closed for tests that strike a thread at any time.
module Unstruck
  # A thread struck on the way from the pool, or back, or while it configures a new connection, leaves one behind that
  # nobody has, or half of one.
  module Pool
    def lease_connection = Thread.handle_interrupt(Object => :never) { super }
    def release_connection(...) = Thread.handle_interrupt(Object => :never) { super }
    def checkout(...) = Thread.handle_interrupt(Object => :never) { super.tap(&:connect!) }

    # Where no fiber of ours asks, in an Enumerator's, `with_connection` takes one from here, and is struck before it has put it down.
    def find_lost
      Thread.handle_interrupt(Object => :never) do
        mine = ActiveSupport::IsolatedExecutionState.context
        connections.each { |it| checkin(it) if it.owner.equal?(mine) && !it.equal?(connection_lease.connection) }
      end
    end
  end

  # A transaction that the server has begun, or ended, and ActiveRecord hasn't.
  module Transactions
    singleton_class.attr_accessor :on

    def begin_transaction(...) = Transactions.undisturbed { super }
    def materialize_transactions(...) = Transactions.undisturbed { super }
    def commit_transaction(...) = Transactions.undisturbed { super }
    def rollback_transaction(...) = Transactions.undisturbed { super }

    def self.undisturbed(&block) = on ? Thread.handle_interrupt(Object => :never, &block) : yield
  end
  ActiveRecord::ConnectionAdapters::TransactionManager.prepend(Transactions)

  # For tests in which responses begin and end transactions.
  module WithTransactions
    def setup
      super
      Transactions.on = true
    end

    def teardown
      Transactions.on = false
      super
    end
  end

  # The answer to `;`, by which it sees that the server is there, is left unread for the next statement.
  module Verification
    def active? = Transactions.undisturbed { super }
  end
  ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.prepend(Verification)
end

# frozen_string_literal: true

require_relative "wire_case"

# Pools with prepared statements and without, for tests that do all in both ways.
module BothWays
  class Prepared < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(TestDatabase.hash)
  end

  class Unprepared < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(TestDatabase.hash(prepared_statements: false))
  end

  private

  # Of the transaction: how deep, what ActiveRecord thinks of it, what the server does.
  def state_of(model)
    connection = model.lease_connection
    [connection.open_transactions, connection.current_transaction.state&.then { |state| [state.invalidated?, state.rolledback?] },
     connection.raw_connection.transaction_status]
  end
end

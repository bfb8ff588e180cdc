# frozen_string_literal: true

module Pipeloader
  # What a Response asks of a connection, answered by one that has no pipeline: SQLite is in this process, so that a round trip
  # is a call, and there is nothing to gather. Each read is answered where it is asked for; projections narrow it as any other.
  module Inline
    # True if all threads are given this connection, in a transaction of its own: a test suite's.
    if ActiveRecord::ConnectionAdapters::AbstractAdapter.method_defined?(:pinned)
      def pipeloader_pinned? = pinned
    else
      def pipeloader_pinned? = pool.instance_variable_get(:@pinned_connection).equal?(self)
    end

    # Nothing is gathered that could be left.
    def pipeloader_abandon(_response) = nil
  end
end

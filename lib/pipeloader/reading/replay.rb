# frozen_string_literal: true

module Pipeloader
  # Stands in for PG::Connection while ActiveRecord "executes" a read that its burst has already brought: answers the
  # one call that would go to the server. Everything else goes to the real connection.
  class Replay < BasicObject
    # @param read [Read, nil] nil where nothing has been brought
    # @param closed [Boolean] whether nothing may be asked of the connection itself, which doesn't have the read's Settings
    def initialize(read, closed = false) # a keyword would allocate a Hash
      @read = read
      @closed = closed
    end

    def closed? = @closed

    # ActiveRecord may come again, with another connection (a retry).
    #
    #: (PG::Connection) -> Replay
    def over(connection)
      @connection = connection
      self
    end

    def exec_prepared(*arguments, &block)
      answered? ? fetch : @connection.exec_prepared(*arguments, &block)
    end

    def exec_params(*arguments, &block)
      answered? ? fetch : @connection.exec_params(*arguments, &block)
    end

    def async_exec(*arguments, &block)
      answered? ? fetch : @connection.async_exec(*arguments, &block)
    end

    # ActiveRecord doesn't know the statement: PREPARE was what failed, and that is this read's answer.
    def prepare(*arguments)
      @read&.statement&.unprepared? ? fetch : @connection.prepare(*arguments)
    end

    # True if nothing needs to be prepared for it. A read that failed without a name may have failed to parse: PREPARE's error.
    #
    #: () -> bool
    def executed? = answered? && !(@read.statement.failed? && @read.statement.nameless?)

    # True if no connection is needed: what the server has answered stays, wherever the server is now.
    #
    #: () -> bool
    def in_hand? = answered? && !@read.statement.failed?

    #: () -> String?
    def statement_name = @read.statement.name

    private

    # What pg refused to send, it refuses once more, in the fiber that asked for it: what that was doing is the error's cause, and
    # not what the fiber was doing that sent the level.
    def answered? = @read && (@closed || !@read.statement.refused?)

    # Once: what ActiveRecord retries, goes to the server.
    def fetch
      read = @read
      @read = nil unless @closed
      read.statement.fetch
    end

    def method_missing(...) = @connection.__send__(...)

    def respond_to_missing?(...) = @connection.respond_to?(...)
  end
end

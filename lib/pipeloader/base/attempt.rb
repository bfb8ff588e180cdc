# frozen_string_literal: true

module Pipeloader
  # The execution that is going on: the outermost one, with all that its resolvers execute. Knows whether it has written, so that
  # nothing is written twice.
  #
  # Limits: what is written to PostgreSQL on a thread of the resolver's own is only seen if the connection is the response's, and
  # what goes anywhere else (HTTP, Redis, a queue) isn't seen at all.
  class Attempt
    # Of a fiber, and those of its dataloader.
    KEY = :pipeloader_attempt
    private_constant :KEY

    class << self
      #: () -> Attempt?
      def current = Thread.current[KEY]

      # A statement that may write is about to go, or one that takes a lock, or BEGIN.
      def written = Thread.current[KEY]&.written
    end

    # @yieldparam error [Exception] of Bugs
    # @yieldreturn [Boolean] whether what failed will be executed again, so that nobody else needs to handle it
    def initialize(&repeated)
      @repeated = repeated
    end

    alias inspect to_s

    # Yields while it goes on.
    def around
      outer, Thread.current[KEY] = Thread.current[KEY], self
      yield
    ensure
      Thread.current[KEY] = outer
    end

    def written = @written = true
    def written? = @written || false

    # @param query [GraphQL::Query, nil] in which +error+ was raised
    # @return [Boolean] whether it is to leave the execution, past the application's handlers
    def let_out?(error, query)
      return false unless Bugs === error

      @failed ||= query
      @repeated.call(error)
    end

    # @return [GraphQL::Query, nil] in which a bug was met; nil if that isn't known
    attr_reader :failed
  end
end

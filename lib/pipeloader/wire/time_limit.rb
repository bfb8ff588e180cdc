# frozen_string_literal: true

module Pipeloader
  # The limit of GraphQL::Schema::Timeout for the reads of one field that has begun in time.
  #
  # A serial run ends the one field that it is at when the time is up, and begins no other. Here many have begun: the one whose
  # statement runs ends, the others get the error that they would have got before they began.
  #
  # Limits: a source's fetch isn't a field's, and ends as it does serially.
  class TimeLimit
    class << self
      # @param error [Class] GraphQL::Schema::Timeout::TimeoutError
      # @return [TimeLimit, nil] nil where there is none for this query
      def of(timeout, query, field, error)
        new(timeout, query, field, error) if query.context.namespace(timeout)[:state]
      end

      # In milliseconds, as graphql-ruby counts them.
      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :millisecond)
    end

    def initialize(timeout, query, field, error)
      @timeout = timeout
      @query = query
      @field = field
      @error = error
    end

    alias inspect to_s

    # @return [Numeric, nil] the first moment that is too late; nil if somebody has switched it off
    def at = (state = self.state) && (state.fetch(:timeout_at) + 1)

    # True if the time is up, and this isn't the field that may end.
    def passed? = (state = self.state) && TimeLimit.now > state.fetch(:timeout_at) && !state[:pipeloader_running].equal?(self)

    # True if no statement may go on: `def pipeloader_cancel?(query) = true` in a subclass of GraphQL::Schema::Timeout.
    def cancels? = @timeout.respond_to?(:pipeloader_cancel?) && @timeout.pipeloader_cancel?(@query)

    # Lets this field end, if no other may.
    #
    # @return [Boolean] whether it may
    def spare
      return false unless (state = self.state) && state[:pipeloader_running].nil? && !cancels?

      state[:pipeloader_running] = self
      true
    end

    # To be called where the application's code may run.
    #
    # @raise [GraphQL::Schema::Timeout::TimeoutError] if the field is to have no answer
    def check
      return if !passed? || spare

      error = @error.new(@field)
      unless state[:timed_out]
        state[:timed_out] = true
        @timeout.handle_timeout(error, @query)
      end
      raise error if state
    end

    private

    # {timeout_at: 123_456, timed_out: false}, graphql-ruby's own; false if `disable_timeout` was called
    def state = @query.context.namespace(@timeout)[:state]
  end
end

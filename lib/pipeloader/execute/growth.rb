# frozen_string_literal: true

module Pipeloader
  # What a plan's links lead to, to be looked up along with the rows that they are links of.
  class Growth
    # @return [Followers, nil] what was looked up; nil where nothing was, or could be
    attr_accessor :followers

    alias inspect to_s

    # @param plan [Plan, AheadLink] for the rows
    def initialize(plan, context)
      @plan = plan
      @context = context
    end

    # Yields, to read the rows by +connection+.
    def along(connection)
      followers = Followers.of(@plan, @context, connection) if PostgreSQL.adapter?(connection.class)
      return yield unless followers

      rows = ResolverFiber.current.along(followers) { yield }
      followers.take(connection)
      @followers = followers
      rows
    end

    # True if it is for the same plan, and query.
    def like?(other) = !other.nil? && place.zip(other.place).all? { |one, another| one.equal?(another) }

    protected

    def place = [@plan, @context]
  end
end

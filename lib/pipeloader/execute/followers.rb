# frozen_string_literal: true

module Pipeloader
  # What is looked up for rows in the round trip that brings them: a Follower for each link of their plan that can be followed
  # without looking at them.
  #
  # Limits: links by one column, in the same database; of a polymorphic one, those to classes that it has led to before.
  class Followers
    # Statements of one tree.
    MOST = 64
    # What a tree has so far.
    Count = Struct.new(:statements, :settings)
    private_constant :MOST, :Count

    class << self
      # @param connection [ActiveRecord::ConnectionAdapters::PostgreSQLAdapter] that the rows are read by
      # @return [Followers, nil] nil where nothing can be looked up along with them
      def of(plan, context, connection)
        followers = new(plan.links, context, connection, Count.new(1, 0))
        followers if followers.any?
      end
    end

    alias inspect to_s

    # @param count [Count] of the whole tree
    def initialize(links, context, connection, count)
      @connection = connection
      @count = count
      @left = {} # {[quoted column, SQL type, of which owners] => number of the setting}
      @followers = {}.compare_by_identity # {Link => Follower}
      links.each { |link| PolymorphicLink === link ? grow_known(link, context) : grow(link, context) }
    end

    # @return [Follower, nil]
    def [](link) = @followers[link]

    def any? = @followers.any?

    # @return [Array<Read>] each behind the one that leaves its keys
    def reads = @followers.each_value.flat_map { |follower| [follower.read, *follower.below.reads] }

    # Takes what was brought.
    def take(connection) = @followers.each_value { |follower| follower.take(connection) }

    # @return [String] +sql+ that leaves the keys, too
    def leave(sql) = any? ? KeySettings.leave(sql, @left, Lookup::MOST) : sql

    private

    def grow_known(polymorphic, context)
      column = @connection.quote_column_name(polymorphic.type_column)
      polymorphic.known.each { |name, link| grow(link, context, " AND #{column} = #{@connection.quote(name)}") }
    end

    # @param only [String, nil] SQL: of which owners
    def grow(link, context, only = nil)
      lookup = link.lookup.for(context)
      return unless lookup.along?(@connection) && lookup.equal?(link.lookup.for(context)) && (@count.statements += 1) <= MOST

      number = number_of(lookup.owners_key, only)
      below = Followers.new(link.links, context, @connection, @count)
      @followers[link] = Follower.new(link, lookup, number, below, @connection)
    rescue Foreseen # whoever looks it up later meets it
      nil
    end

    def number_of(key, only)
      @left[[@connection.quote_column_name(key.columns.first), key.types.first, only]] ||= @count.settings += 1
    end
  end
end

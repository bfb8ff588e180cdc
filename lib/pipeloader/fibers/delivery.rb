# frozen_string_literal: true

module Pipeloader
  # The answered read that one fiber's ActiveRecord code is working on, and which it takes once.
  class Delivery
    # @return [Read, nil] while ActiveRecord works on it
    def read = (@read unless @telling)

    # Runs ActiveRecord's own code for a +read+ that has been answered.
    def of(read, &) = working_on(read, read, &)

    # Runs ActiveRecord's own code, which sends +read+ itself.
    def told(read, &) = working_on(read, nil, &)

    # True if ActiveRecord sends it itself.
    def lone? = @lone

    # Yields. While subscribers hear of the read, what is sent isn't the read.
    #
    # @param telling [Boolean] whether they hear of it, or ActiveRecord goes on with it
    def telling(telling)
      outer, @telling = @telling, telling
      yield
    ensure
      @telling = outer
    end

    # The read that the next statement of +adapter+ is, which is handed to ActiveRecord.
    #
    #: (ActiveRecord::ConnectionAdapters::PostgreSQLAdapter) -> Read?
    def take(adapter)
      return unless untaken?(adapter)

      read, @untaken = @untaken, nil
      read
    end

    # True if there is one.
    def untaken?(adapter) = !@telling && !@untaken.nil? && @untaken.adapter.equal?(adapter)

    # True if the next statement of +adapter+ is the read, which ActiveRecord sends itself.
    def sent_by?(adapter) = !@telling && @lone && @read.adapter.equal?(adapter)

    # True if the next statement of +adapter+ is the read, whoever sends it.
    def of?(adapter) = untaken?(adapter) || sent_by?(adapter)

    # True if the untaken read was asked for before +query_cache+, +adapter+'s, was last cleared.
    #
    #: (ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, ActiveRecord::ConnectionAdapters::QueryCache::Store) -> bool
    def outdated?(adapter, query_cache) = untaken?(adapter) && @untaken.cached_as_of != query_cache.pipeloader_clears

    # The untaken read's rows, if they came as a part of another statement's.
    #
    #: (ActiveRecord::ConnectionAdapters::PostgreSQLAdapter) -> Slice?
    def slice(adapter) = (@untaken.statement&.slice if untaken?(adapter))

    private

    # A subscriber of ActiveRecord's events may read meanwhile.
    def working_on(read, untaken)
      outer_read, outer_untaken, outer_lone, outer_telling = @read, @untaken, @lone, @telling
      @read, @untaken, @lone, @telling = read, untaken, untaken.nil?, false
      yield
    ensure
      @read, @untaken, @lone, @telling = outer_read, outer_untaken, outer_lone, outer_telling
    end
  end
end

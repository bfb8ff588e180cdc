# frozen_string_literal: true

module Pipeloader
  # The answered read that one fiber's ActiveRecord code is working on, and which it takes once.
  class Delivery
    # @return [Read, nil] while ActiveRecord works on it
    attr_reader :read

    # Runs ActiveRecord's own code for a +read+ that has been answered.
    def of(read, &) = working_on(read, read, &)

    # Runs ActiveRecord's own code, which sends +read+ itself.
    def told(read, &) = working_on(read, nil, &)

    # True if ActiveRecord sends it itself.
    def lone? = @lone

    # The read that the fiber's next `with_raw_connection` hands to ActiveRecord.
    #
    #: () -> Read?
    def take
      read, @untaken = @untaken, nil
      read
    end

    # True if there is one.
    def untaken? = !@untaken.nil?

    # True if the untaken read was asked for before +query_cache+ was last cleared.
    #
    #: (ActiveRecord::ConnectionAdapters::QueryCache::Store) -> bool
    def outdated?(query_cache) = !@untaken.nil? && @untaken.cached_as_of != query_cache.pipeloader_clears

    # The untaken read's rows, if they came as a part of another statement's.
    #
    #: () -> Slice?
    def slice = @untaken&.statement&.slice

    private

    # A subscriber of ActiveRecord's events may read meanwhile.
    def working_on(read, untaken)
      outer_read, outer_untaken, outer_lone = @read, @untaken, @lone
      @read, @untaken, @lone = read, untaken, untaken.nil?
      yield
    ensure
      @read, @untaken, @lone = outer_read, outer_untaken, outer_lone
    end
  end
end

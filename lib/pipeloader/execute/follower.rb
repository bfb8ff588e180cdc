# frozen_string_literal: true

module Pipeloader
  # What a link of a plan leads to, looked up along with its owners' rows, which leave the keys.
  class Follower
    # @return [Followers] what is looked up for its rows
    attr_reader :below

    # @return [Read]
    attr_reader :read

    alias inspect to_s

    # @param lookup [Lookup]
    # @param number [Integer] of the setting that has its keys
    # @param below [Followers]
    def initialize(link, lookup, number, below, connection)
      @link = link
      @lookup = lookup
      @below = below
      @read, @asked = lookup.along(connection, number) { |sql| below.leave(sql) }
    end

    # Takes what was brought, if it was: ActiveRecord makes a result of it while the connection is at hand. An error is for those
    # who ask for it, unless it's an interrupt.
    def take(connection)
      return unless @read.statement

      @result = Outcome.of { @link.asker.read { connection.pipeloader_brought(@read) } }
      @result.value unless @result.error.nil? || Foreseen === @result.error
      @below.take(connection)
    end

    # True if it has what +lookup+ is asked for, by keys of the rows that it was sent along with.
    def brought?(lookup) = lookup.equal?(@lookup) && !@result.nil?

    # True if it would still be asked for in the same words.
    def current? = @lookup.asks?(@asked)

    # @return [Hash{Object => Array<Array>}] as Lookup#call
    def rows(keys) = @lookup.found(@result.value, @asked.at, keys)
  end
end

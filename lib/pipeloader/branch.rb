# frozen_string_literal: true

module Pipeloader
  # The rows that one response has for one Plan, at one place of its tree.
  class Branch
    NONE = [].freeze
    private_constant :NONE

    attr_reader :plan

    # @return [Array<Array>]
    attr_reader :rows

    alias inspect to_s

    # The root's.
    #
    # @param coerced [Boolean] whether the values are as records' readers give them, and not as they came from the database
    def self.of(plan, rows, coerced:) = new(plan, nil, nil, coerced: coerced).tap { |it| it.take(rows) }

    # @param link [Link, nil] by which the records come to their +owners+, a Branch
    def initialize(plan, link, owners, coerced: false)
      @plan = plan
      @link = link
      @owners = owners
      @coerced = coerced
    end

    def coerced? = @coerced

    def take(rows)
      @rows = rows
      @below = @plan.links.map { |link| Branch.new(link.plan, link, self) }
    end

    # @return [Array(Lookup, Array)] what its rows are found by, and the keys of all owners
    def wanted(context) = [@link.lookup.for(context), @keys = @link.keys(@owners.rows)]

    # @return [GraphQL::Schema::Field, nil] that its rows are for
    def field = @link.field

    # @param found [Hash{Object => Array<Array>}] the rows of these owners, and others maybe, by key
    def take_own(found)
      @by_key = found.slice(*@keys)
      take(@by_key.values.flatten(1))
    end

    # @return [Array<Branch>] of the associations that are selected
    def branches = @below

    # @return [Branch] of one of them
    def below(link) = @below[link.at]

    # @return [Array<Array>] the rows of one owner
    def of(key) = @by_key.fetch(key, NONE)
  end
end

# frozen_string_literal: true

module Pipeloader
  # The rows that one response has for one Plan, at one place of its tree.
  class Frame
    NONE = [].freeze
    private_constant :NONE

    attr_reader :plan

    # @return [Array<Array>] those that are shown
    attr_reader :rows

    # @return [Array(Lookup, Array, Asker, Growth)] as #want has found it
    attr_reader :wanted

    # @return [PageRange, nil] which of the rows that are read a connection shows; nil for all
    attr_reader :range

    alias inspect to_s

    # @return [Hash{String => Integer}, nil] how many a root's connection has, by the key of a ConnectionPlan::Total
    attr_reader :counts

    # The root's.
    #
    # @param coerced [Boolean] whether the values are as records' readers give them, and not as they came from the database
    # @param growth [Growth, nil] what was looked up along with the rows
    def self.of(plan, rows, coerced:, growth: nil, range: nil, counts: nil)
      new(plan, nil, nil, coerced: coerced, growth: growth, range: range, counts: counts).tap { |it| it.take([rows]) }
    end

    # @param link [Link, nil] by which the records come to their +owners+, a Frame
    def initialize(plan, link, owners, coerced: false, growth: nil, range: nil, counts: nil)
      @plan = plan
      @link = link
      @index = link&.index
      @owners = owners
      @root = owners ? owners.root : self
      @coerced = coerced
      @growth = growth
      @range = range
      @counts = counts
    end

    def coerced? = @coerced

    # @param read [Array<Array<Array>>] the rows of each owner
    def take(read)
      @read = read
      @rows = (@range ? read.map { |rows| @range.shown(rows) } : read).flatten(1)
      @plan.verify(@rows)
      @plan.verify_untouched(@rows) unless coerced?
      @below = @plan.links.map { |link| PolymorphicLink === link ? Fork.new(link, self) : Frame.new(link.plan, link, self) }
    end

    # Says what its rows are found by, the keys of all owners, who asks, and what is to come along.
    #
    # @param one [Boolean] whether what they lead to is to be looked up along with them
    def want(context, one)
      raise DoesNotFit if OpenTransactions.around?(@link)

      lookup = @link.lookup.for(context)
      @range = lookup.range
      @growth = Growth.new(@plan, context) if one && @plan.links.any?
      @wanted = [lookup, @keys = @link.keys(@owners.rows), @link.asker, @growth]
      @follower = @owners.followers&.[](@link)
      @follower = nil unless @follower&.brought?(lookup)
    end

    # True if what it wants was looked up along with its owners.
    def brought? = !@follower.nil?

    # @return [Outcome] the rows by key
    def brought
      Outcome.of { @link.asker.read { @follower.rows(@keys) } }
    end

    # @return [StandardError, nil] why something below its root can't be had
    def error = @root.failure

    # The first error counts.
    def fail(error) = @root.failure ||= error

    # @return [Array<GraphQL::Schema::Field>] that its rows are for
    def fields = @link.fields

    # @return [Array, Hash] what the root's rows are in the response
    def build(context) = @plan.list(@read.first, self, context)

    # @param found [Hash{Object => Array<Array>}] the rows of these owners, and others maybe, by key
    def take_own(found)
      @by_key = @keys.to_h { |key| [key, found[key]] }.compact # a list of arguments has its limits
      take(@by_key.values)
    end

    # @return [Array<Frame>] of the associations that are selected
    def children = @below.flat_map(&:frames)

    # As a Fork's.
    def frames = [self]

    # @return [Frame, Fork] of one of them
    def below(link) = @below[link.at]

    # @return [Hash{Object => Array<Array>}] the rows of each owner that has any
    attr_reader :by_key

    # @param owner [Array] a row
    # @return [Array<Array>] the rows of this owner
    def of(owner) = @by_key.fetch(@index.of(owner), NONE)

    protected

    # What has been looked up along with its rows.
    def followers = @follower ? @follower.below : @growth&.followers

    attr_reader :root
    attr_accessor :failure
  end
end

# frozen_string_literal: true

module Pipeloader
  # Which rows a connection shows, by the arithmetic of graphql-ruby's RelationConnection.
  #
  #     (after: "Mg", first: 3)      # offset 2, most 3
  #     (before: "NQ", last: 2)      # offset 2, most 2
  #     (first: 5, last: 2)          # offset 3, most 2, even where there are only four
  #     (last: 2)                    # no offset until it is known how many there are
  class PageRange
    # Where a row that is read from the end has its place among all: in front of how many there are, and of its owner's key.
    PLACE = -3
    # {argument => what a connection makes of it}
    READERS = { after: :after_offset, before: :before_offset, first: :first, last: :last }.freeze
    SIZES = %i[first last].freeze
    private_constant :PLACE, :READERS, :SIZES

    class << self
      # @param plan [ConnectionPlan]
      # @yieldreturn [GraphQL::Pagination::ActiveRecordRelationConnection]
      # @return [PageRange] raises DoesNotFit where graphql-ruby has something to say, or its answer isn't known beforehand
      def of(plan, &connection)
        range = new(bounds(&connection), plan.peeks?)
        range.undecided? && plan.peeks_early? ? raise(DoesNotFit) : range
      end

      private

      def bounds(&connection)
        known(connection.call)
      rescue StandardError => e # of a cursor, or the application's, which may say how long a page is
        raise DoesNotFit.verdict(e) { known(connection.call) }
      end

      def known(connection)
        bounds = READERS.transform_values { |reader| connection.send(reader) }
        raise DoesNotFit unless ReturnedValue.connection?(connection) && bounds.all? { |name, value| fits?(name, value) }

        bounds
      end

      # A cursor begins at one.
      def fits?(name, value) = value.nil? || (value.is_a?(Integer) && value >= (SIZES.include?(name) ? 0 : 1))
    end

    # @return [Integer, nil] nil where it isn't known yet, as it is counted from the end
    attr_reader :offset

    # @return [Integer, nil] how many it shows; nil for all
    attr_reader :most

    # @return [Integer] how many are left out in front
    attr_reader :start

    # @return [Hash{Symbol => Integer, nil}] what its arguments come to, by name
    attr_reader :bounds

    # @param peeks [Boolean] whether it is asked if there is another page
    def initialize(bounds, peeks)
      @bounds = bounds
      after, @before, @first, @last = bounds.values_at(*READERS.keys)
      @start = after || 0
      @peeks = peeks
      @offset, @most = @last && !@first && !@before ? [nil, @last] : cut
    end

    # True if graphql-ruby's `hasNextPage` depends on whether it has the nodes.
    def undecided? = !!(@before.nil? && @first && @last && @last < @first)

    # @return [Boolean, nil] nil where a row more than it shows tells whether there is another page
    def next_page
      return true if @before

      false if @first.nil? || undecided?
    end

    # @return [Integer, nil] how many rows are read; nil for all. The last one tells how many there are
    def limit
      return [@most, 1].max unless @offset

      @peeks && @most && next_page.nil? ? @most + 1 : @most
    end

    # True if there is nothing to read.
    def nothing? = limit == 0

    # @param relation [ActiveRecord::Relation]
    # @return [ActiveRecord::Relation] what is to be read of it; where there is no offset, all from which the last are taken
    def on(relation) = @offset ? relation.offset(@offset).limit(limit) : relation.offset(@start)

    # @return [PageRange] the same where it is known how many there are behind the start
    def ending(count) = dup.tap { |it| it.offset = @start + count - [count, @most].min }

    # @param rows [Array<Array>] that were read
    # @return [Array<Array>] those of them that it shows
    def shown(rows) = @most ? rows.first(@most) : rows

    # @param rows [Array<Array>] that were read
    # @return [Integer] how many there are in front of those that it shows
    def offset_of(rows) = @offset || (@start + (rows.empty? ? 0 : rows.last[PLACE] - shown(rows).size))

    protected

    attr_writer :offset

    private

    def cut
      most = [between, @first].compact.min
      @last && @last <= most ? [@start + most - @last, @last] : [@start, most]
    end

    # How many there may be in front of `before`.
    def between = @before && [@before - @start - 1, 0].max
  end
end

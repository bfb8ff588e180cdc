# frozen_string_literal: true

module Pipeloader
  # As ChainLookup, for the rows that a Relay connection shows of an association, or of some of its records.
  class PageLookup < ChainLookup
    # The numbers that its arguments come to.
    BOUNDS = %i[after before first last].to_h { |name| [name, :"the connection's #{name}"] }.freeze
    BOUNDED = %w[first last].freeze
    # Methods by which graphql-ruby reads a page.
    INSIDE = %i[offset limit unscope count].freeze
    # True if a cursor is its edge's place; before, it was that of the first record that equals the edge's.
    POSITIONAL = GraphQL::Pagination::Connection::Edge.method_defined?(:graphql_connection_position)
    private_constant :BOUNDS, :BOUNDED, :INSIDE, :POSITIONAL

    class << self
      # The chain that is asked of the association, with places for the page.
      #: (Chain) -> Chain
      def chain(chain)
        places = BOUNDS.values
        page = Chain::Call.new(:page, places.map { |place| Chain::Parameter.new(place) }, {})
        Chain.new([*chain.calls, page], { **chain.parameters, **places.to_h { |place| [place, Bytecode::REQUIRED] } })
      end

      # True if +relation+ is what a connection may be of: its pages are cut by offset and limit, from all of it.
      def whole?(relation)
        relation.limit_value.nil? && relation.offset_value.nil? &&
          (POSITIONAL || (relation.joins_values.empty? && relation.left_outer_joins_values.empty?))
      end
    end

    def initialize(...)
      super
      @page = @queries.pop
    end

    # Which rows it shows of those that it reads, once it has its arguments.
    #
    #: () -> PageRange
    def range = @range ||= PageRange.new(BOUNDS.keys.zip(@page.arguments).to_h, @arguments.peeks?)

    # With neither `first` nor `last`, graphql-ruby has all records loaded, and no others.
    def whole? = @queries.empty? && !@arguments.bounded?

    def call(keys, growth = nil) = range.nothing? ? {} : super

    private

    def inside = INSIDE
    # graphql-ruby counts groups, and not always all of them.
    def queries = super - GROUPING
    def clauses = super - GROUPING
    def fits?(relation) = super && PageLookup.whole?(relation)
    def ask(relation) = super(range.on(relation))

    # Where the offset is counted from the end, the rows tell it.
    def compile(arel, connection)
      sql, binds, preparable = super
      range.offset ? [sql, binds, preparable] : [Shape.last_rows(sql, binds.size), [*binds, range.limit], preparable]
    end

    # The arguments of a connection's field, and the page that they ask for.
    class Arguments < FieldArguments
      # @param page [ConnectionPlan]
      def initialize(field, node, chain, page)
        super(field, node, chain)
        @page = page
      end

      def peeks? = @page.peeks?
      def bounded? = @node.arguments.any? { |argument| BOUNDED.include?(argument.name) }

      # graphql-ruby's own connection, without items, says what it makes of them.
      def of(context)
        given = super
        connections = context.schema.connections
        context.namespace(:connections)[:all_wrappers] ||= connections.all_wrappers
        range = PageRange.of(@page) { connections.wrap(@field, nil, @page.model.unscoped, given, context) }
        { **given.except(*BOUNDS.keys), **range.bounds.transform_keys(BOUNDS) }
      end
    end
  end
end

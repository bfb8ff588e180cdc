# frozen_string_literal: true

module Pipeloader
  # As ChainLookup, for the rows that a Relay connection shows of an association, or of some of its records.
  class PageLookup < ChainLookup
    OFFSET, LIMIT = :"the connection's offset", :"the connection's limit"
    # True if a cursor is its edge's place; before, it was that of the first record that equals the edge's.
    POSITIONAL = GraphQL::Pagination::Connection::Edge.method_defined?(:graphql_connection_position)
    private_constant :POSITIONAL

    class << self
      # The chain that is asked of the association, with places for the page.
      #: (Chain) -> Chain
      def chain(chain)
        pages = { offset: OFFSET, limit: LIMIT }.map { |name, place| Chain::Call.new(name, [Chain::Parameter.new(place)], {}) }
        Chain.new(chain.calls + pages, { **chain.parameters, OFFSET => Chain::REQUIRED, LIMIT => Chain::REQUIRED })
      end

      # True if +relation+ is what a connection may be of: its pages are cut by offset and limit, from all of it.
      def whole?(relation)
        relation.limit_value.nil? && relation.offset_value.nil? &&
          (POSITIONAL || (relation.joins_values.empty? && relation.left_outer_joins_values.empty?))
      end
    end

    def initialize(...)
      super
      @offset, @limit = @queries.pop(2)
    end

    # Which rows it shows of those that it reads, once it has its arguments.
    #
    #: () -> PageRange
    def range = @arguments.range(*[@offset, @limit].flat_map(&:arguments))

    private

    def fits?(relation) = super && PageLookup.whole?(relation)
    def ask(relation) = super([@offset, @limit].inject(relation) { |it, call| call.on(it) })

    # The arguments of a connection's field, and the page that they ask for.
    class Arguments < FieldArguments
      PAGES = %i[after before first last].freeze
      BACKWARDS = %w[last before].freeze
      OPEN = [GraphQL::Language::Nodes::VariableIdentifier, GraphQL::Language::Nodes::NullValue].freeze
      private_constant :PAGES, :BACKWARDS, :OPEN

      # True if the document itself asks for a page from the end.
      def self.backwards?(node)
        node.arguments.any? { |argument| BACKWARDS.include?(argument.name) && !OPEN.include?(argument.value.class) }
      end

      # @param peeks [Boolean] whether it has to be known if there is another page
      def initialize(field, node, chain, model, peeks)
        super(field, node, chain)
        @model = model
        @peeks = peeks
      end

      # graphql-ruby's own connection, without items, says what it makes of them.
      def of(context)
        given = super
        connections = context.schema.connections
        context.namespace(:connections)[:all_wrappers] ||= connections.all_wrappers
        range = PageRange.of { connections.wrap(@field, nil, @model.unscoped, given, context) }
        { **given.except(*PAGES), OFFSET => range.offset, LIMIT => range.limit(@peeks) }
      end

      def range(offset, limit) = PageRange.new(offset, limit && @peeks ? limit - 1 : limit)
    end
  end
end

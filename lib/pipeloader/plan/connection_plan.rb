# frozen_string_literal: true

module Pipeloader
  # A Plan for a Relay connection of which nothing is selected but what graphql-ruby's own types say, and how many there are: its
  # nodes' plan, and what is written around them.
  #
  #     { comments(first: 3) { totalCount edges { cursor node { body } } pageInfo { hasNextPage } } }
  class ConnectionPlan < Plan
    # One connection's rows, as its fields ask for them, and what its Totals have counted, by key.
    Content = Struct.new(:all, :frame, :counts) do
      def rows = @rows ||= range.shown(all)
      def has_next_page = range.next_page.nil? ? all.size > rows.size : range.next_page
      def has_previous_page = offset.positive?
      def start_cursor = (cursor(0) unless rows.empty?)
      def end_cursor = (cursor(rows.size - 1) unless rows.empty?)
      def cursor(index) = GraphQL::Schema::Base64Encoder.encode((offset + index + 1).to_s, nonce: true)

      private

      def range = frame.range
      def offset = @offset ||= range.offset_of(all)
    end

    Edges = Struct.new(:key, :parts) do
      def build(content, context)
        columns = parts.map { |part| [part.key, part.of_edges(content, context)] }
        Array.new(content.rows.size) { |index| columns.to_h { |key, values| [key, values[index]] } }
      end

      def formulas = parts.flat_map(&:formulas)
    end

    Nodes = Struct.new(:key, :plan) do
      def build(content, context) = plan.list(content.rows, content.frame, context)
      alias_method :of_edges, :build
      def formulas = NONE
    end

    Cursor = Struct.new(:key, :coercion) do
      def of_edges(content, context)
        Array.new(content.rows.size) { |index| coercion.call(content.cursor(index), context) }
      end

      def formulas = coercion.formulas
    end

    # A field of the application's that computes from the cursor and from columns of the node, or from nothing.
    #
    # names: what it asks of the node. made: makes Reach::Readings of the places of columns
    Computed = Struct.new(:key, :formula, :names, :made, :coercion) do
      def formulas = [formula, *coercion.formulas]
      def build(_content, context) = value([], context)

      def of_edges(content, context)
        content.rows.each_with_index.map { |row, index| value([*cursor(content, index), *node(row, content.frame)], context) }
      end

      private

      def value(told, context) = coercion.of_attribute(formula.call(told, context), context)
      def cursor(content, index) = formula.readers.map { content.cursor(index) }
      def node(row, frame) = names.empty? ? names : [thing.new(*readings(frame).of(row, frame))]
      def thing = @thing ||= Struct.new(*names)
      def readings(frame) = @readings ||= made.call(frame.plan.projection.columns)
    end

    Info = Struct.new(:key, :facts) do
      def build(content, context) = facts.to_h { |fact| [fact.key, fact.build(content, context)] }
      def peeks? = facts.any? { |fact| fact.is_a?(Fact) && fact.name == :has_next_page }
      def formulas = facts.flat_map(&:formulas)
    end

    # How many there are on all pages: `def total_count = object.items.size`.
    #
    # plain: PlainField of it. question: the Chain::Call that counts
    Total = Struct.new(:key, :plain, :question, :coercion) do
      # True if +chain+ does no more than to count a connection's items.
      def self.of?(chain)
        chain.reader == :items && chain.calls.size == 2 && %i[size count].include?(chain.calls.last.name) &&
          chain.calls.last.alone?
      end

      def formulas = coercion.formulas
      def build(content, context) = coercion.of_attribute(content.counts.fetch(key), context)

      # @param items [ActiveRecord::Relation]
      # @return [Integer]
      def count(items) = plain.asker(false).read { question.on(items) }
    end

    Fact = Struct.new(:key, :name, :coercion) do
      def formulas = coercion.formulas
      def build(content, context) = coercion.call(content.public_send(name), context)
    end

    # @return [Array<GraphQL::Schema::Field>] of the connection, and of its edges, that bring objects
    attr_reader :fields

    # A connection is read when its edges, or its nodes are asked for.
    #
    #: () -> Asker
    attr_reader :asker

    # @return [Hash{String => String, nil}] why some of its fields are graphql-ruby's, by key in the response
    attr_reader :reasons

    # @return [Array<Total>]
    attr_reader :totals

    # @param nodes [Plan]
    # @param entries [Array<Edges, Nodes, Info, Total, Plan::Constant>] in the order of the response
    def initialize(nodes, entries, fields, reasons = {}, permits: NONE, captured: NONE)
      @nodes = nodes
      @projection = nodes.projection
      @links = nodes.links
      @models = nodes.models
      computed = entries.flat_map { |entry| entry.is_a?(Edges) ? entry.parts : [entry] }.grep(Computed)
      @formulas = [*entries, *computed.map { |entry| entry.made.call(@projection.columns) }].flat_map(&:formulas)
      @permits = permits
      @captured = captured
      @spoilable = [*(self if spoilable?), *nodes.spoilable]
      @parts = entries.freeze
      @totals = entries.grep(Total).freeze
      @fields = fields
      @asker = Asker.new(fields.find { |field| TypeWrappers.nullable(field.type).list? })
      @reasons = reasons
      @peeks = entries.index { |entry| entry.is_a?(Info) && entry.peeks? }
    end

    # True if it has to be known if there is another page.
    def peeks? = !@peeks.nil?

    # True if that is asked before the nodes are.
    def peeks_early? = peeks? && @parts.first(@peeks).none? { |entry| entry.is_a?(Edges) || entry.is_a?(Nodes) }
    def connection? = true

    # True if nothing of it is graphql-ruby's alone: then it was a plan already, which didn't fit. Or if that may put something
    # into the context.
    def empty? = @reasons.empty? || asks?
    def asks? = @permits.any? || @nodes.asks?
    def verify(rows) = @nodes.verify(rows)
    def verify_untouched(rows) = @nodes.verify_untouched(rows)
    def check(context) = [*@permits, @nodes].each { |it| it.check(context) }
    def takes?(_connection) = true

    def size = @nodes.size + @totals.size
    def bytes = (@parts.size + @reasons.size) * 1_000
    def use(context, coerced: false) = @nodes.use(context, coerced: coerced)
    def compile = @nodes.compile
    def come(context) = @nodes.come(context)

    # @param rows [Array<Array>] as many as have been read for one connection
    # @param counts [Hash{String => Integer}] of its Totals, by key
    # @return [Hash] the connection
    def list(rows, frame, context, counts = frame.counts)
      content = Content.new(rows, frame, counts)
      @parts.to_h { |part| [part.key, part.build(content, context)] }
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # A document as it is run with certain values for @skip and @include, by those who see certain types: what is selected, as
  # graphql-ruby sees it. Kept by its text, or by the document where there is no text, so that what is executed again costs a
  # look-up.
  class Operation
    # How many a document has, and how long a text is that a schema keeps.
    LIMIT = 16
    LENGTH = 50_000

    class << self
      # @param query [GraphQL::Query, GraphQL::Query::Partial]
      # @return [Operation, nil] nil where the schema doesn't use Pipeloader, and of a part that is none of its query's document
      def of(query)
        schema = query.schema
        return unless schema.respond_to?(:pipeloader_footprints)
        return of_part(query) unless query.is_a?(GraphQL::Query)

        query.instance_variable_get(:@pipeloader_operation) ||
          query.instance_variable_set(:@pipeloader_operation, find(query, schema))
      end

      # @param text [String, nil] of a document, or
      # @param document [GraphQL::Language::Nodes::Document, nil] itself
      # @return [Hash, nil] what is kept of it: {asked:, text:, trials:, [schema, values, seen] => Operation}
      def kept_of(schema, text, document)
        text ? schema.pipeloader_operations[text] : document&.instance_variable_get(:@pipeloader_operations)
      end

      private

      # A node that somebody brings along has the place of another, names types that the document doesn't, and asks variables
      # that it doesn't have.
      def of_part(part)
        return part.instance_variable_get(:@pipeloader_operation) if part.instance_variable_defined?(:@pipeloader_operation)

        whole = of(part.query)
        part.instance_variable_set(:@pipeloader_operation, (whole if whole && QueryDocument.holds?(part)))
      end

      # @return [Operation, nil] as .of, which a query keeps
      def find(query, schema)
        document = query.document or return
        QueryDocument.forget_trace(document)
        text = text(query, document)
        kept = kept(schema, text, document)
        asked = kept[:asked] ||= Conditions.asked(document)
        values, seen = asked.values(query), asked.seen(query)
        forget(schema, kept) if kept.size > LIMIT
        kept[[schema, values, seen]] ||= new(schema, document, Conditions.new(schema, values, seen), text)
      end

      # A query that was given a document says a text, too, once somebody has asked for it: one that was printed, where things
      # stand elsewhere. The document keeps it, unless it is frozen.
      #
      # @return [String, nil] that +document+ was parsed from
      def text(query, document)
        return if document.frozen? || document.instance_variable_get(:@query_string)

        query.instance_variable_get(:@query_string)
      end

      # The document holds them as long as it is executed, whether or not the schema keeps them. One that is shared between
      # Ractors can't be written to.
      def kept(schema, text, document)
        document.instance_variable_get(:@pipeloader_operations) || begin
          kept = text && text.size <= LENGTH ? schema.pipeloader_operations.fetch(text) : {}
          document.frozen? ? kept : document.instance_variable_set(:@pipeloader_operations, kept)
        end
      end

      def forget(schema, kept)
        bytes = kept.each_value.grep(Operation).sum(&:bytes)
        schema.pipeloader_operations.grow(kept[:text], -bytes)
        kept.keep_if { |name, _| name.is_a?(Symbol) }
      end
    end

    attr_reader :schema

    alias inspect to_s

    # @param conditions [Conditions]
    # @param text [String, nil] that all of the document is from
    def initialize(schema, document, conditions, text)
      @text = text
      @bytes = 0
      @schema = schema
      @document = document
      @conditions = conditions
      @depths = {} # of fragments
      @fragments = document.definitions.grep(GraphQL::Language::Nodes::FragmentDefinition).to_h { |it| [it.name, it] }
    end

    # Of its plans, as they are estimated.
    attr_reader :bytes

    # It has another plan, of so many bytes.
    def grow(bytes)
      @bytes += bytes
      @schema.pipeloader_operations.grow(@text, bytes) if @text
    end

    # Made by Plans.of when they are first asked for.
    attr_accessor :plans

    # Made by Forecasts.of when they are first asked for.
    attr_accessor :forecasts

    # @return [Hash] as FamilyPlan's, of a union or an interface, and records of a +model+
    def came(type, model) = (@came ||= {})[[type, model]] ||= {}

    # @return [Admission::Refusals] of an object type
    def refusals(type) = (@refusals ||= {})[type] ||= Admission::Refusals.new

    # @return [Demands, nil] nil where no record is narrowed
    def demands
      @demands ||= Demands.new(self) if @schema.pipeloader_narrows_any?
    end

    # The key of +selections+: where they stand in the text, so that they are known when it is parsed again.
    #
    # @param node [GraphQL::Language::Nodes::Field, nil] the field, if +selections+ are its own
    def place(selections, node = nil)
      node && node.selections.equal?(selections) ? place_of(node) : selections.map { |it| place_of(it) }
    end

    # True if directives of the application's see any part of it: those may split a selection, and merge the results.
    def foreign_directives?
      return @foreign_directives if defined?(@foreign_directives)

      @foreign_directives = @document.definitions.any? { |definition| @conditions.foreign_within?(definition) }
    end

    # @return [Integer] how many levels of fields there are, one for those without anything below
    def depth(selections)
      selections.map do |node|
        case node
        when GraphQL::Language::Nodes::FragmentSpread then @depths[node.name] ||= depth(@fragments.fetch(node.name).selections)
        when GraphQL::Language::Nodes::InlineFragment then depth(node.selections)
        else 1 + depth(node.selections)
        end
      end.max || 0
    end

    # Yields each field that is selected of a +type+, with its definition: several where it has several, nil where none.
    #
    # @yield [GraphQL::Language::Nodes::Field, (GraphQL::Schema::Field, String)] or why it isn't known
    def each_field(type, selections)
      each_selected(type, selections) { |node| yield(node, definition(type, node)) unless node.name == "__typename" }
    end

    # Yields each field, and __typename, that is selected of a +type+, in the order of the response.
    #
    # @yield [GraphQL::Language::Nodes::Field]
    def each_selected(type, selections, &block)
      selections.each do |node|
        next unless @conditions.met?(node)

        case node
        when GraphQL::Language::Nodes::Field then yield(node)
        when GraphQL::Language::Nodes::InlineFragment
          each_selected(type, node.selections, &block) if node.type.nil? || @conditions.of_type?(type, node.type.name)
        when GraphQL::Language::Nodes::FragmentSpread
          fragment = @fragments.fetch(node.name)
          each_selected(type, fragment.selections, &block) if @conditions.of_type?(type, fragment.type.name)
        end
      end
    end

    # @return [GraphQL::Schema::Field, String] or why it isn't known
    def definition(type, node)
      return "directive @#{node.directives.first.name}" if @conditions.foreign?(node)

      return "`get_field` is its own" unless Provenance.graphql?(type.method(:get_field))

      owners = type.ancestors.select { |ancestor| ancestor.respond_to?(:own_fields) && ancestor.own_fields.key?(node.name) }
      return "unknown field" if owners.empty?

      field = owners.first.own_fields.fetch(node.name)
      return "it has several definitions" if field.is_a?(Array)
      return "who asks may see another definition" unless owners.one? || (owners.first.is_a?(Class) && for_everyone?(field))

      field.ensure_loaded
    end

    # @return [String, nil] why __typename isn't what graphql-ruby says; nil if it is
    def objection_to_typename
      owner = @schema.introspection_system.dynamic_field(name: "__typename").owner
      methods = [owner.instance_method(:__typename)]
      methods << owner.method(:__typename) if owner.respond_to?(:__typename)
      own = methods.find { |method| !Provenance.graphql?(method) }
      "`__typename` on #{own.owner.inspect}" if own
    end

    # All that there can be, whoever asks.
    #
    #: (Class) -> Array[Class]
    def possible_types(type)
      type.kind.abstract? ? @schema.pipeloader_all_types.members(type) : [type]
    end

    private

    # A node that somebody has added stands nowhere in the text.
    def place_of(node) = @text && node.line ? (node.line << 32) + node.col : node

    # True if nobody decides who sees it.
    def for_everyone?(field)
      Provenance.of_host?(field.method(:visible?), GraphQL::Schema::Field) &&
        Provenance.of_host?(field.type.unwrap.method(:visible?), GraphQL::Schema::Member::BaseDSLMethods) &&
        Provenance.graphql?(@schema.method(:visible?))
    end
  end
end

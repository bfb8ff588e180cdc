# frozen_string_literal: true

module Pipeloader
  # What a query says, in each form that GraphQL::Schema.multiplex takes: a Hash of options, a GraphQL::Query, a part of one.
  module QueryDocument
    class << self
      # @return [Hash, GraphQL::Query] of a GraphQL::Query::Partial, the query that it is a part of
      def whole(query) = query.is_a?(Hash) || query.is_a?(GraphQL::Query) ? query : query.query

      # True if what a part of a query selects is in that query's document. By a path it is; a node may be another document's.
      #
      # @param part [GraphQL::Query::Partial]
      def holds?(part)
        return true if part.field_definition

        definitions = part.query.document&.definitions # nil where the query isn't GraphQL
        part.ast_nodes.all? { |node| definitions&.any? { |it| within?(node, it) } }
      end

      # @param query [Hash, GraphQL::Query]
      # @return [Array<GraphQL::Language::Nodes::OperationDefinition>, nil] nil for a text that isn't GraphQL
      def operations(query)
        document = query.is_a?(Hash) ? query[:document] || GraphQL.parse(query[:query].to_s) : query.document
        document.definitions.grep(GraphQL::Language::Nodes::OperationDefinition)
      rescue GraphQL::ParseError
        nil
      end

      # Has a document that is kept lead to nothing of the query that it was parsed for. Its nodes ask their parser for their
      # lines, that has the query's trace, and this has the query, with its context and what it has answered.
      #
      # @param document [GraphQL::Language::Nodes::Document]
      def forget_trace(document)
        parser = document.instance_variable_get(:@source)
        return unless parser.instance_of?(GraphQL::Language::Parser) && !parser.frozen?

        parser.instance_variable_set(:@trace, GraphQL::Tracing::NullTrace)
      end

      private

      # @param whole [GraphQL::Language::Nodes::AbstractNode]
      def within?(node, whole) = whole.equal?(node) || whole.children.any? { |it| within?(node, it) }
    end
  end
end

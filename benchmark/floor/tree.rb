# frozen_string_literal: true

require_relative "node"

module Bench
  module Floor
    # The query of a workload as a tree of Nodes: for plain trees of columns and associations only.
    class Tree
      attr_reader :root

      def initialize(workload)
        @dataset = workload.dataset
        @variables = workload.variables
        field = GraphQL.parse(workload.query).definitions.first.selections.fetch(0)
        type = @dataset.query_type.own_fields.fetch(field.name).type.unwrap
        @root = node(field, type, nil)
      end

      private

      def node(field, type, reflection)
        model = @dataset.model(type)
        node = Node.new(field.alias || field.name, model, reflection, root: reflection ? nil : source(field))
        field.selections.each { |selection| add(node, selection, type.own_fields.fetch(selection.name), model) }
        node
      end

      def add(node, selection, definition, model)
        reflection = model.reflect_on_association(definition.method_sym)
        return node.column(selection.alias || selection.name, column(definition)) unless reflection

        node.child(node(selection, definition.type.unwrap, reflection))
      end

      # An ID is text in a response.
      def column(definition)
        "#{definition.method_sym}#{"::text" if definition.type.unwrap == GraphQL::Types::ID}"
      end

      # "FROM … WHERE … ORDER BY … LIMIT 25" of the root field.
      def source(field) = format(@dataset.roots.fetch(field.name), **@variables)
    end
  end
end

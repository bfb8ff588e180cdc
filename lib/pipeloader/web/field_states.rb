# frozen_string_literal: true

module Pipeloader
  # Says of each field of an operation whether it can be compiled, by what explain_schema says of its type. Nothing is executed.
  #
  #     [{key: "posts", field: "Query.posts", state: "once", fields: [{key: "title", field: "Post.title", state: "compiled"}, …]}]
  #
  # Its states:
  #
  # compiled::  a plan can write it
  # projected:: by graphql-ruby, from records with the columns that are asked for; reason, obstacle and location say why
  # opaque::    by graphql-ruby, from whole records; the same say why
  # once::      a field of the query or mutation itself, which graphql-ruby resolves
  # around::    of connections, edges and page info, which are as their nodes
  # unknown::   no model is known for its type
  class FieldStates
    MOST = 1_000
    DEEPEST = 40
    private_constant :MOST, :DEEPEST

    @lock = Mutex.new

    class << self
      # @return [Array<Hash>]
      # @raise [StandardError] of the schema's own code
      def of(schema, text, name) = new(schema, text, name).to_a

      # @return [Hash{String => Integer}] how many of its fields are "compiled", "projected" and "opaque"
      def tally(schema, text, name)
        fields = of(schema, text, name)
        all = []
        all.concat(fields) && fields = fields.flat_map { |it| it[:fields] || [] } until fields.empty?
        all.map { |it| it[:state] }.tally.slice("compiled", "projected", "opaque")
      end

      # What a schema says of its types, which takes it long: once. The schema keeps that, to go with it when code is reloaded.
      def types(schema)
        @lock.synchronize do
          schema.instance_variable_get(:@pipeloader_field_types) ||
            schema.instance_variable_set(:@pipeloader_field_types, SchemaExplanation.new(schema, {}).to_h[:types])
        end
      end
    end

    def initialize(schema, text, name)
      @schema = schema
      @query = GraphQL::Query.new(schema, text, operation_name: name)
      @types = self.class.types(schema)
      @left = MOST
    end

    def to_a
      operation = @query.selected_operation or return []
      root = @schema.root_type_for_operation(operation.operation_type)
      below(root, operation.selections, true, 0)
    end

    private

    def below(type, nodes, root, depth)
      return [] if depth > DEEPEST

      fields_in(type, nodes, depth).group_by { |owner, node| [owner, node.alias || node.name] }.filter_map do |(owner, key), same|
        describe(owner, key, same.map(&:last), root, depth) if (@left -= 1) >= 0
      end
    end

    # @return [Array<Array(Class, GraphQL::Language::Nodes::Field)>] with the type that each is of
    def fields_in(type, nodes, depth)
      return [] if depth > DEEPEST

      nodes.flat_map do |node|
        case node
        when GraphQL::Language::Nodes::Field then [[type, node]]
        when GraphQL::Language::Nodes::InlineFragment then fields_in(conditioned(type, node.type), node.selections, depth + 1)
        else
          fragment = @query.fragments[node.name]
          fragment ? fields_in(conditioned(type, fragment.type), fragment.selections, depth + 1) : []
        end
      end
    end

    def conditioned(type, condition) = (condition && @schema.get_type(condition.name)) || type

    def describe(owner, key, nodes, root, depth)
      name = nodes.first.name
      field = @schema.get_field(owner, name)
      told = { key: key, field: "#{owner.graphql_name}.#{name}", **state(owner, name, root) }
      returned = field&.type&.unwrap
      return told unless returned&.kind&.composite?

      { **told, fields: below(returned, nodes.flat_map(&:selections), false, depth + 1) }
    end

    def state(owner, name, root)
      return { state: "compiled" } if name == "__typename"
      return { state: "once" } if root
      return { state: "around" } if around?(owner)

      said = @types.dig(owner.graphql_name, :fields, name) or return { state: "unknown" }
      return { state: "compiled" } if said[:compiled]

      { state: @schema.pipeloader_narrows?(owner) ? "projected" : "opaque", **said.slice(:reason, :obstacle, :location) }
    end

    def around?(type)
      ConnectionSelection.connection?(type) || type < ConnectionSelection::EDGE || type <= GraphQL::Types::Relay::PageInfo
    end
  end
end

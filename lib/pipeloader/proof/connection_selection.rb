# frozen_string_literal: true

module Pipeloader
  # The part of a Relay connection's selection that asks its nodes: what is selected below `nodes` and `edges { node }`, where
  # these are graphql-ruby's own. Other fields get the connection or the edge, and may do with its records what they like, unless
  # they say by `selects:` what they read.
  class ConnectionSelection
    CONNECTION = GraphQL::Types::Relay::ConnectionBehaviors
    EDGE = GraphQL::Types::Relay::EdgeBehaviors
    PLAIN = %w[pageInfo cursor].freeze
    private_constant :PLAIN

    class << self
      def connection?(type) = type < CONNECTION && !type.node_type.nil?

      # True if its edges are as graphql-ruby's.
      def plain_edges?(type) = type.edge_class.nil? || ReturnedValue.edge?(type.edge_class)
    end

    def initialize(demands, type, selections)
      @demands = demands
      @type = type
      @selections = selections
      @sources = []
      @whole = nil
    end

    # @return [Array(Array, String)]
    def sources
      @demands.each_field(@type, @selections) do |node, field|
        case node.name
        when "nodes" then nodes(@type, node, field, CONNECTION)
        when "edges" then edges(node, field)
        else other(@type, node, field)
        end
      end
      [@sources, @whole]
    end

    private

    def edges(node, field)
      return other(@type, node, field) unless known?(field) && plain_edges?

      edge = field.type.unwrap
      @demands.each_field(edge, node.selections) do |below, its_field|
        below.name == "node" ? nodes(edge, below, its_field, EDGE) : other(edge, below, its_field)
      end
    end

    def nodes(type, node, field, host)
      return other(type, node, field) unless known?(field) && Provenance.hosted?(type, node.name.to_sym, host)

      @sources |= [[field.type.unwrap, node.selections]]
    end

    # A column that they declare is asked of every node.
    def other(type, node, field)
      return if PLAIN.include?(node.name) && untouched?(type, field)
      return @sources |= [[type, [node]]] if declared?(field)

      @whole ||= "#{type.graphql_name}.#{node.name} may read the nodes"
    end

    def plain_edges? = Provenance.hosted?(@type, :edges, CONNECTION) && ConnectionSelection.plain_edges?(@type)

    def known?(field) = field.is_a?(GraphQL::Schema::Field)

    def declared?(field) = known?(field) && field.pipeloader_selects

    def untouched?(type, field)
      known?(field) && field.resolver.nil? && !type.method_defined?(field.resolver_method)
    end
  end
end

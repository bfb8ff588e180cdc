# frozen_string_literal: true

module Pipeloader
  # The Demands of one document, as it is run with certain values for @skip and @include: what is selected, as graphql-ruby
  # sees it. Kept by the document, so that a document that is executed again costs a look-up.
  class Demands
    LIMIT = 16

    class << self
      # @param query [GraphQL::Query]
      # @return [Demands, nil] nil where nothing is narrowed
      def of(query)
        schema = query.schema
        return unless schema.respond_to?(:pipeloader_footprints)

        query = query.query unless query.is_a?(GraphQL::Query) # Query::Partial
        document = query.document or return
        kept = kept_by(document)
        names = kept[:conditions] ||= Conditions.variables(document)
        values = names.empty? ? nil : names.to_h { |name| [name, query.variables[name]] }
        kept.clear.update(conditions: names) if kept.size > LIMIT
        kept[[schema, values]] ||= new(schema, document, values || {})
      end

      private

      # (A document that is shared between Ractors can't be written to.)
      def kept_by(document)
        document.instance_variable_get(:@pipeloader_demands) ||
          (document.frozen? ? {} : document.instance_variable_set(:@pipeloader_demands, {}))
      end
    end

    attr_reader :schema

    alias inspect to_s

    # @param conditions [Hash{String => Object}] values of the variables that @skip and @include ask
    def initialize(schema, document, conditions)
      schema.pipeloader_check_columns
      @schema = schema
      @conditions = conditions
      @fragments = document.definitions.grep(GraphQL::Language::Nodes::FragmentDefinition).to_h { |it| [it.name, it] }
      @by_node = {}.compare_by_identity # {a node's own selections => {type => Demand}}
      @merged = {} # {selections of several nodes => {type => Demand}}
      @known = {} # {[sources, whole] => Demand}
      @objections = {}.compare_by_identity
    end

    # What +selections+ ask of a value of +type+.
    #
    # @param node [GraphQL::Language::Nodes::Field, nil] the field, if +selections+ are its own
    def at(type, selections, node = nil)
      by_type = node && node.selections.equal?(selections) ? (@by_node[selections] ||= {}) : (@merged[selections] ||= {})
      by_type[type] ||= of(*sources(type, selections))
    end

    # Notes on what a field's resolver has returned, what is selected below it.
    def expect(value, type, selections, node = nil)
      case value
      when ActiveRecord::Base, ActiveRecord::Relation, Array then at(type, selections, node).expect(value)
      when GraphQL::Pagination::RelationConnection then value.pipeloader_expect(at(type, selections, node))
      end
    end

    # One Demand for equal sources.
    def of(sources, whole = nil)
      @known[[sources, whole]] ||= Demand.new(self, sources, whole)
    end

    # Where the records are that a value of +type+ is made of: itself, or its nodes.
    #
    # @return [Array(Array, String)] sources, and why the records are to be whole
    def sources(type, selections)
      return [[[type, selections]], nil] unless ConnectionSelection.connection?(type)

      ConnectionSelection.new(self, type, selections).sources
    end

    # Yields each field that is selected of a +type+, with its definition: several where it has several, nil where none.
    #
    # @yield [GraphQL::Language::Nodes::Field, (GraphQL::Schema::Field, String)] or why it isn't known
    def each_field(type, selections, &block)
      selections.each do |node|
        next unless Conditions.met?(node, @conditions)

        case node
        when GraphQL::Language::Nodes::Field
          yield(node, definition(type, node)) unless node.name == "__typename"
        when GraphQL::Language::Nodes::InlineFragment
          each_field(type, node.selections, &block) if node.type.nil? || of_type?(type, node.type.name)
        when GraphQL::Language::Nodes::FragmentSpread
          fragment = @fragments.fetch(node.name)
          each_field(type, fragment.selections, &block) if of_type?(type, fragment.type.name)
        end
      end
    end

    #: (Class) -> Array[Class]
    def possible_types(type)
      type.kind.abstract? ? @schema.possible_types(type) : [type]
    end

    # @return [String, nil] why records of this type are taken whole
    def objection(type)
      @objections.fetch(type) do
        @objections[type] = opted_in?(type) ? PlainType.objection(type) : "#{type.graphql_name} hasn't opted in"
      end
    end

    private

    # (A connection is as its nodes are.)
    def opted_in?(type)
      @schema.pipeloader_field_exact? || type.pipeloader_field_exact? ||
        (ConnectionSelection.connection?(type) && opted_in?(type.node_type))
    end

    def definition(type, node)
      return "directive @#{node.directives.first.name}" if Conditions.foreign?(node)

      owner = type.ancestors.find { |ancestor| ancestor.respond_to?(:own_fields) && ancestor.own_fields.key?(node.name) }
      return "unknown field" unless owner

      field = owner.own_fields.fetch(node.name)
      field.is_a?(Array) ? "it has several definitions" : field.ensure_loaded
    end

    def of_type?(type, name)
      type.graphql_name == name || (condition = @schema.get_type(name)) && possible_types(condition).include?(type)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # The Demands of one Operation.
  class Demands
    alias inspect to_s

    #: (Operation) -> void
    def initialize(operation)
      operation.schema.pipeloader_check_columns
      @operation = operation
      @places = {} # {place => {type => Demand}}
      @known = {} # {[sources, whole] => Demand}
      @objections = {}.compare_by_identity
    end

    def schema = @operation.schema
    def each_field(...) = @operation.each_field(...)
    def possible_types(type) = @operation.possible_types(type)

    # The demand of +selections+ on a value of +type+.
    #
    # @param node [GraphQL::Language::Nodes::Field, nil] the field, if +selections+ are its own
    def at(type, selections, node = nil)
      (@places[@operation.place(selections, node)] ||= {})[type] ||= of(*sources(type, selections))
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

    # @return [String, nil] why records of this type are taken whole
    def objection(type)
      @objections.fetch(type) do
        @objections[type] = schema.pipeloader_narrows?(type) ? PlainType.objection(type) : "#{type.graphql_name} hasn't opted in"
      end
    end
  end
end

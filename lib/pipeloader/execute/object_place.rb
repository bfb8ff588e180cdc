# frozen_string_literal: true

module Pipeloader
  # Where in the document objects stand that are made of records without anybody's seeing it, and what all of them have in common.
  #
  # partial: what is plain of them. type: theirs. non_null: whether a null may not stand there. selections: below their field,
  # whose first node is +node+. watched: whether a monitor hears of each that is wrapped
  ObjectPlace = Struct.new(:partial, :field, :type, :non_null, :node, :selections, :arguments, :runtime, :watched) do
    # True if objects can be made of these records.
    def takes?(records) = records.all? { |record| partial.takes?(record) }

    # @param objects [ObjectList, nil] that they are to be members of
    def maker(objects = nil) = ObjectMaker.new(self, objects)

    # True if it's there.
    def at?(field, node, selections, arguments)
      self.field.equal?(field) && self.node.equal?(node) && self.selections.equal?(selections) && self.arguments.equal?(arguments)
    end

    # Makes the list that records are to be in.
    #
    # @param parent [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash] of which it's the +key+
    # @return [GraphQL::Execution::Interpreter::Runtime::GraphQLResultArray]
    def list_in(parent, key)
      list = runtime.class::GraphQLResultArray.new(key, TypeWrappers.nullable(field.type), parent.graphql_application_value,
                                                   parent, field.type.non_null?, selections, false, node, arguments, field)
      parent.set_child_result(key, list) unless parent.graphql_dead
      list
    end
  end
end

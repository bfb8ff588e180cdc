# frozen_string_literal: true

module Pipeloader
  # Makes the objects of an ObjectPlace, as graphql-ruby would, and puts them where they belong.
  class ObjectMaker
    attr_reader :place

    # @return [Hash] as ObjectList#add's, once an object has been made
    attr_reader :fields

    # @param objects [ObjectList, nil]
    def initialize(place, objects)
      @place = place
      @objects = objects
      @runtime = place.runtime
      @context = @runtime.context
      @hash = @runtime.class::GraphQLResultHash
    end

    # Adds one to the list.
    #
    # @param holder [#job] as ObjectList::Member's, and so +index+
    def make(record, parent, name, holder, index = nil) = @objects.add(result(record, parent, name), @fields, holder, index)

    # @param parent [GraphQL::Execution::Interpreter::Runtime::GraphQLResult] where it is to be
    # @param name [String, Integer] as what
    # @return [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash]
    def result(record, parent, name)
      place = @place
      result = @hash.new(name, place.type, wrap(record), parent, place.non_null, place.selections, false, place.node,
                         place.arguments, place.field)
      parent.set_child_result(name, result) unless parent.graphql_dead
      gather(result) unless @keys
      result.ordered_result_keys = @keys
      result
    end

    private

    def wrap(record) = @place.watched ? @place.type.wrap(record, @context) : @place.type.scoped_new(record, @context)

    def gather(result)
      @runtime.each_gathered_selections(result) { |fields, _, keys| @fields, @keys = fields, keys }
    end
  end
end

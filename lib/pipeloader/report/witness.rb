# frozen_string_literal: true

module Pipeloader
  # Records what graphql-ruby does itself while a query is explained: objects it makes, and fields it resolves, by where they
  # are in the response. All else that the response has, a plan has written.
  class Witness
    NONE = {}.freeze
    private_constant :NONE

    class << self
      # Patches the engines, so that they tell a Witness what they do. Set by the patches; called when a query is first explained.
      attr_accessor :installation

      # @param query [GraphQL::Query]
      # @return [Witness, nil] nil if nobody wants it explained
      def of(query) = query.context.namespace(:pipeloader)[:witness]

      # Watches +query+, which is yet to be executed.
      def watch(query)
        installation.call
        query.context.pipeloader_types = {}.compare_by_identity
        query.context.namespace(:pipeloader)[:witness] = new
      end
    end

    def initialize
      @seen = {} # {["posts", "author"] => {Types::User => {"name" => true, …}}}
    end

    # @param path [Array<String, Integer>] of an object of +type+
    def made(path, type) = (@seen[path.grep(String)] ||= {})[type] ||= {}

    # @param key [String] of a field of that object
    def resolved(path, type, key) = made(path, type)[key] = true

    # @return [Array<Class>] of the objects that were made
    def types(path) = @seen.fetch(path, NONE).keys

    def made?(path, type) = @seen.fetch(path, NONE).key?(type)

    def resolved?(path, type, key) = @seen.fetch(path, NONE).fetch(type, NONE).key?(key)
  end
end

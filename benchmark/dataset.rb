# frozen_string_literal: true

module Bench
  # Tables with their rows, models and plain GraphQL types over them, the same for all contenders. Nothing is loaded before
  # #define.
  class Dataset
    def self.named(name)
      require_relative "datasets/#{name}"
      Datasets.const_get(name.to_s.split("_").map(&:capitalize).join).new(name)
    end

    attr_reader :name

    def initialize(name)
      @name = name
    end

    # The PostgreSQL schema that its tables are in.
    def namespace = "bench_#{@name}"

    # Makes the tables and fills them, each time with the same rows.
    def seed(connection) = raise(NotImplementedError)

    # Requires or makes the models and types.
    def define
      require "active_record"
      require "graphql"
      require "graphql/schema" # before GraphQL::Schema::Object
      require_relative "datasets/#{@name}/schema"
    end

    # A new schema of these types, which the contender may change at will.
    def schema
      query, mutation = query_type, mutation_type
      Class.new(GraphQL::Schema) do
        query(query)
        mutation(mutation) if mutation
      end
    end

    def query_type = types.fetch("Query")
    def mutation_type = types["Mutation"]

    # {"Post" => Types::Post, …}
    def types = types_module.constants.to_h { |name| [name.to_s, types_module.const_get(name)] }

    # The model of a type has its name.
    def model(type) = type.name[/\w+\z/].then { |name| models_module.const_get(name) unless name == "Query" }

    # Where to find both, when they are defined.
    def types_module = models_module.const_get(:Types)
    def models_module = raise(NotImplementedError)

    # What each query is given for its context.
    def context = {}

    # What the floors put after the columns for a root field, its variables in place: {"posts" => "FROM … LIMIT %<limit>d"}.
    def roots = {}

    # What of it can be batched beyond associations, as {["Post", :comment_count] => ->(posts, **arguments) { values }}.
    def batches = {}

    # Yields type, field (a Symbol) and reflection of each field without arguments that stands for an association.
    def associations
      types.each_value do |type|
        next unless (model = model(type))
        type.own_fields.each_value do |field|
          reflection = model.reflect_on_association(field.method_sym)
          yield type, field.original_name, reflection if reflection && field.all_argument_definitions.empty?
        end
      end
    end
  end
end

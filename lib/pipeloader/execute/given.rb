# frozen_string_literal: true

module Pipeloader
  # What an execution was given, so that the same can be executed again: its queries, and their contexts as they were before.
  #
  # Limits: a context's Hash is copied, and not the objects in it.
  class Given
    LIMITS = %i[max_depth max_complexity].freeze
    private_constant :LIMITS

    # @param queries [Array<Hash, GraphQL::Query>] as GraphQL::Schema.multiplex takes them
    # @param context [Hash, GraphQL::Query::Context] of the multiplex; the latter for GraphQL::Query#result
    # @return [Given, nil] nil where it can't be executed again
    def self.of(queries, context)
      known = context.instance_of?(Hash) || (context.is_a?(GraphQL::Query::Context) && queries.one?)
      new(queries, context) if known && context[:dataloader].nil? && queries.all? { |query| again?(query) }
    end

    # A subclass of GraphQL::Query may want to be made otherwise. A dataloader that somebody has brought keeps what it has loaded.
    def self.again?(query)
      case query
      when Hash then query[:context].nil? || (query[:context].instance_of?(Hash) && query[:context][:dataloader].nil?)
      when GraphQL::Query then query.method(:initialize).owner.equal?(GraphQL::Query) && query.context[:dataloader].nil?
      end
    end

    # @param queries [Array<Hash, GraphQL::Query, GraphQL::Query::Partial>]
    # @return [Boolean] whether they are there to read alone, as far as their documents tell
    def self.queries?(queries)
      queries.all? do |query|
        whole = QueryDocument.whole(query)
        whole.is_a?(Hash) ? query?(whole) : whole.query?
      end
    end

    def self.query?(options)
      operations = QueryDocument.operations(options)
      !operations.nil? && operations.any? && operations.all? { |operation| [nil, "query"].include?(operation.operation_type) }
    end
    private_class_method :again?, :query?

    def initialize(queries, context)
      @queries = queries
      @context = context
      @reads = nil
      @contexts = queries.map { |query| provided(query)&.dup }
      @own = context.dup if context.instance_of?(Hash)
    end

    alias inspect to_s

    def queries?
      @reads = Given.queries?(@queries) if @reads.nil?
      @reads
    end

    # To be executed in its place: with the application's own Hashes, which are as they were.
    #
    # @return [Array(Array<Hash, GraphQL::Query>, Hash)]
    def restored
      @queries.zip(@contexts) { |query, before| provided(query).replace(before) if before && !provided(query).frozen? }
      again(@queries.map { |query| provided(query) }, @own.dup)
    end

    # To be executed beside it.
    #
    # @return [Array(Array<Hash, GraphQL::Query>, Hash)]
    def copied = again(@contexts.map(&:dup), @own.dup)

    # Gives the application's own GraphQL::Query objects the results of those that were executed in their place.
    #
    # @param results [Array<GraphQL::Query::Result>]
    # @return [Array<GraphQL::Query::Result>]
    def adopt(results)
      @queries.zip(results).map { |query, result| query.is_a?(Hash) ? result : adopted(query, result) }
    end

    private

    # The context's `to_h` is a copy.
    def provided(query) = query.is_a?(Hash) ? query[:context] : query.context.instance_variable_get(:@provided_values)

    def again(contexts, own)
      queries = @queries.zip(contexts).map do |query, context|
        query.is_a?(Hash) ? { **query, context: context } : made_anew(query, context)
      end
      [queries, own || queries.first.context]
    end

    # As its maker would.
    def made_anew(query, context)
      text = query.instance_variable_get(:@query_string)
      given = LIMITS.to_h { |name| [name, query.instance_variable_get(:"@#{name}")] }
      query.class.new(query.schema, text, document: (query.document unless text), context: context, validate: query.validate,
                                          variables: query.provided_variables, operation_name: query.operation_name,
                                          root_value: query.root_value, static_validator: query.static_validator, **given)
    end

    def adopted(query, result)
      query.context.errors.replace(result.context.errors)
      query.instance_variable_set(:@result_values, result.to_h)
      query.instance_variable_set(:@executed, true)
      query.result
    end
  end
end

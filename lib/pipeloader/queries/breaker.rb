# frozen_string_literal: true

module Pipeloader
  # Keeps the operations that Pipeloader has answered otherwise than graphql-ruby does, or in which it has raised an error of its
  # own: in this process they are executed without it from then on. See docs/proof.md.
  #
  #     Pipeloader.breaker.open    # => [#<struct schema="AppSchema", operation="Posts", reason="NoMethodError: …", at=…>]
  #     Pipeloader.breaker.reset
  #
  # An operation is known by its schema, the text of its document, and its name where the document has several.
  class Breaker
    # How many are kept; the oldest goes first.
    LIMIT = 1_000
    # Characters that are kept of a document.
    SHOWN = 2_000
    private_constant :SHOWN

    # operation: its name. document: its text, as far as that is kept. plain: whether it is executed without Pipeloader; false
    # where the schema has `settings:` or `snapshot:`, which it would go without.
    Opened = Struct.new(:schema, :operation, :document, :reason, :at, :plain, keyword_init: true)

    class << self
      # The one that there is.
      attr_reader :of_process
    end

    def initialize
      @lock = Mutex.new
      @opened = {}.freeze # {[object id of the schema, hash of the text, name] => Opened}
    end

    # @return [Array<Opened>] the oldest first
    #
    #: () -> Array[Opened]
    def open = @opened.values.uniq(&:__id__)

    # Executes all with Pipeloader again.
    #
    #: () -> void
    def reset
      @lock.synchronize { @opened = {}.freeze }
      nil
    end

    # True if one of the queries is of an operation that is executed without Pipeloader.
    #
    # @param queries [Array<Hash, GraphQL::Query>] as GraphQL::Schema.multiplex takes them
    def stops?(schema, queries) = queries.any? { |query| !stopping(schema, query).nil? }

    # @return [Opened, nil] why a +query+ is executed without Pipeloader; nil if it isn't
    def stopping(schema, query)
      opened = @opened[key(schema, QueryDocument.whole(query))] unless @opened.empty?
      opened if opened&.plain
    end

    # From now on its operation is executed without Pipeloader. What it is already, isn't said again.
    #
    # @param query [Hash, GraphQL::Query]
    def open!(schema, query, reason, plain: true)
      query = QueryDocument.whole(query)
      keys = keys(schema, query) or return
      opened = Opened.new(schema: schema.name || schema.to_s, operation: keys.last.last, document: text(query)[0, SHOWN],
                          reason: reason, at: Time.now, plain: plain).freeze
      tell(opened) if add(keys, opened)
    end

    private

    # @return [Boolean] whether it is new
    def add(keys, opened)
      @lock.synchronize do
        next false if keys.all? { |key| @opened.key?(key) }

        @opened = latest.merge(keys.to_h { |key| [key, opened] }).freeze
        true
      end
    end

    # @return [Hash] with room for one more; an operation goes with all its keys
    def latest
      surplus = open[0...-(LIMIT - 1)] || []
      surplus.empty? ? @opened : @opened.reject { |_, opened| surplus.include?(opened) }
    end

    def tell(opened)
      outcome = opened.plain ? "is executed without Pipeloader from now on, in this process" : "goes on with Pipeloader"
      Notice.warn("#{[opened.schema, opened.operation].compact.join(" ")}: #{opened.reason}. The operation #{outcome}: " \
                  "#{opened.document.squish[0, 200]}")
    end

    # @return [Array, nil] nil where there is no document
    def key(schema, query, name = name(query))
      text = text(query)
      [schema.__id__, text.hash, name] if text
    end

    # @return [Array<Array>, nil] of its operation; of the only one of a document, also without its name
    def keys(schema, query) = (names(query)&.map { |name| key(schema, query, name) } if text(query))

    def name(query) = query.is_a?(Hash) ? query[:operation_name] : query.operation_name

    # @return [String, nil] of the document. One that was given without a text keeps no text: see Operation.
    def text(query)
      if query.is_a?(Hash)
        query[:query] || (print(query[:document]) if query[:document])
      else
        query.instance_variable_get(:@query_string) || (print(query.document) if query.document)
      end
    end

    def print(document) = GraphQL::Language::Printer.new.print(document)

    def names(query)
      operations = QueryDocument.operations(query) or return
      operations.one? ? [nil, operations.first.name].uniq : [name(query)]
    end

    @of_process = new
  end
end

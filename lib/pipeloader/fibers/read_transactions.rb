# frozen_string_literal: true

module Pipeloader
  # Where a response reads if its schema has `use Pipeloader, snapshot: true`: a ReadTransaction for each pool.
  class ReadTransactions
    TWICE = "GraphQL #{GraphQL::VERSION} resolves lazy values when all else of a query is done, and its snapshot over (`use " \
            "Pipeloader, snapshot: true`): read what they need before that, or use GraphQL 2.6".freeze
    private_constant :TWICE

    class << self
      # @param queries [Array<GraphQL::Query, GraphQL::Query::Partial>] those of one response
      # @return [ReadTransactions, nil] nil if none of them asks for it, or one is there to write
      def of(queries)
        return unless queries.any? { |query| QuerySettings.option(query.schema, :snapshot) }

        queries = queries.map { |query| GraphQL::Query === query ? query : query.query }
        new(queries.first.context.namespace(:pipeloader_snapshot)) if queries.all?(&:query?)
      end
    end

    # @param kept [Hash] as long as the query
    def initialize(kept)
      @kept = kept
      @transactions = {}.compare_by_identity
    end

    # @raise [SnapshotError] once they are over
    #
    #: (ActiveRecord::ConnectionAdapters::ConnectionPool) -> ReadTransaction
    def [](pool)
      raise SnapshotError, TWICE if @kept[:over]

      @transactions[pool] ||= ReadTransaction.new
    end

    # All has been read.
    def ask_end
      @transactions.each_value(&:ask_end)
      @kept[:over] = true
    end

    def give_up = @transactions.each_value(&:give_up)
  end
end

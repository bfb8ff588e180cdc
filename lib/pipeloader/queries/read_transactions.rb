# frozen_string_literal: true

module Pipeloader
  # Where a response reads if its schema has `use Pipeloader, snapshot: true`: a ReadTransaction for each pool.
  class ReadTransactions
    # GraphQL 2.5 runs the dataloader once more, for lazy values.
    RUNS_TWICE = GraphQL::Dataloader.instance_method(:run).parameters.empty?
    OVER = "GraphQL #{GraphQL::VERSION} resolves lazy values when all else of a query is done, and its snapshot over (`use " \
           "Pipeloader, snapshot: true`): read what they need before that, or use GraphQL 2.6".freeze
    private_constant :RUNS_TWICE, :OVER

    class << self
      # @param multiplex [GraphQL::Execution::Multiplex, nil] of which a response is
      # @return [ReadTransactions, nil] nil if none of its queries asks for it, or one is there to write
      def of(multiplex)
        return unless multiplex && multiplex.queries.any? { |query| QuerySettings.option(query.schema, :snapshot) }

        queries = multiplex.queries.map { |query| GraphQL::Query === query ? query : query.query }
        new(multiplex) if queries.all?(&:query?)
      end
    end

    def initialize(multiplex)
      @multiplex = multiplex
      @transactions = {}.compare_by_identity
    end

    # @raise [SnapshotError] once they are over
    #
    #: (ActiveRecord::ConnectionAdapters::ConnectionPool) -> ReadTransaction
    def [](pool)
      raise SnapshotError, OVER if @multiplex.instance_variable_defined?(:@pipeloader_read)

      @transactions[pool] ||= ReadTransaction.new
    end

    # Called when the response has read all that it asks for.
    def ask_end
      @transactions.each_value(&:ask_end)
      @multiplex.instance_variable_set(:@pipeloader_read, true) if RUNS_TWICE && @transactions.any?
    end

    def give_up = @transactions.each_value(&:give_up)
  end
end

# frozen_string_literal: true

module Pipeloader
  # What the engine asks of graphql-ruby.
  class QueryHost < Host
    MULTIPLEX = :__graphql_current_multiplex
    private_constant :MULTIPLEX

    if defined?(GraphQL::Execution::FieldResolveStep)
      def step?(work) = GraphQL::Execution::FieldResolveStep === work
    end

    def multiplex = Fiber[MULTIPLEX]
    def queries = multiplex&.queries || super
    def one_by_one? = queries.size > 1 && queries.grep(GraphQL::Query).any?(&:mutation?)
    def settings = QuerySettings.of(queries)
    def check_inner(response) = QuerySettings.check_inner(queries, response)
    def read_transactions = ProofSnapshot.current || ReadTransactions.of(multiplex)
    def positions = FieldPosition.of_run
    def adopt(positions) = FieldPosition.adopt(positions)
    def keep_position(&) = FieldPosition.keep(&)
    def apart(&) = FieldPosition.apart(&)
    def begin_fiber = FieldPosition.forget

    Host.current = new
  end
end

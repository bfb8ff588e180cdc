# frozen_string_literal: true

module Pipeloader
  # Tells what an execution has sent when it is over: `response.pipeloader`, with {queries: [#<GraphQL::Query>, …], reads: 128,
  # statements: 10, bursts: 4, rows: 120, waited: 0.046}, the last in seconds. What a resolver executes is a part of its own
  # execution.
  #
  # Limits: an execution that an exception has ended isn't told of, nor one that has read nothing.
  module Summary
    # @param results [Array<GraphQL::Query::Result>]
    # @return [Array<GraphQL::Query::Result>] the same
    def self.tell(results)
      return results unless Counters.watched?

      queries = results.filter_map { |result| result.query if GraphQL::Query::Result === result }
      counts = queries.first&.context&.namespace(:pipeloader)
      return results if counts.nil? || counts.fetch(:bursts, 0).zero?

      payload = { queries: queries, **Counters.totals(queries.first), **counts.slice(:reads, :statements, :bursts) }
      Counters.recorder&.response(payload)
      ActiveSupport::Notifications.instrument(Counters::RESPONSE, payload)
      results
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Tells what an execution has sent when it is over: `response.pipeloader`, with {queries: [#<GraphQL::Query>, …], reads: 128,
  # statements: 10, bursts: 4, waited: 0.046}, the last in seconds. What a resolver executes is a part of its own execution.
  #
  # Limits: an execution that an exception has ended isn't told of, nor one that has read nothing.
  module Summary
    # @param results [Array<GraphQL::Query::Result>]
    # @return [Array<GraphQL::Query::Result>] the same
    def self.tell(results)
      return results unless Counters.watched?

      queries = results.grep(GraphQL::Query::Result).map(&:query)
      counts = queries.first&.context&.namespace(:pipeloader)&.slice(:reads, :statements, :bursts)
      return results if counts.nil? || counts.fetch(:bursts, 0).zero?

      payload = { queries: queries, waited: Counters.waited(queries.first), **counts }
      ActiveSupport::Notifications.instrument(Counters::RESPONSE, payload)
      results
    end
  end
end

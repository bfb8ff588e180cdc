# frozen_string_literal: true

module Pipeloader
  # GraphQL::Schema::Timeout, which looks at the clock when a field begins, as far as plans go. See TimeLimit for what is read.
  module FieldClock
    TRACE = GraphQL::Schema::Timeout::Trace
    private_constant :TRACE

    class << self
      # True if a +trace+ looks at it.
      #
      #: (GraphQL::Tracing::Trace) -> bool
      def watched?(trace) = trace.is_a?(TRACE)

      # True if a +method+ of a trace does that, and nothing else.
      #
      #: (Method) -> bool
      def watches?(method) = TRACE.ancestors.include?(method.owner) && Provenance.graphql_alone?(method)

      # Yields for what graphql-ruby would begin one field after the other: in time, all of it is done by then.
      #
      # @return what the block has returned; nil where the time is up before or behind it, as each field is to say
      def within(query)
        trace = query.current_trace
        return yield unless watched?(trace)

        done = yield unless up?(trace, query)
        done unless up?(trace, query)
      end

      private

      def up?(trace, query)
        state = query.context.namespace(trace.instance_variable_get(:@timeout))[:state]
        state && TimeLimit.now > state.fetch(:timeout_at)
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # A query's trace, as far as it looks at fields. What an application's own does at a field can't be known: it is to see each.
  # Those that graphql-ruby makes for monitoring (AppSignal, Datadog, New Relic, Prometheus, Scout, Sentry, StatsD) measure the
  # fields that bring objects, and are told of a plan's once for all objects, as Execution::Next tells of all fields. That of
  # GraphQL::Schema::Timeout looks at the clock, where nobody else looks.
  class FieldTrace
    # From graphql 2.6 on it is asked for `objects`.
    HOOKS = (%i[begin_execute_field execute_field end_execute_field begin_authorized authorized end_authorized objects
                begin_resolve_type resolve_type end_resolve_type] &
             GraphQL::Tracing::Trace.public_instance_methods).freeze
    MONITORS = GraphQL::Tracing::MonitorTrace.method(:create_module).source_location.first
    NO_ARGUMENTS = {}.freeze
    private_constant :HOOKS, :MONITORS, :NO_ARGUMENTS

    class << self
      # True if it has to see each field.
      def of_each?(trace)
        return true if trace.instance_variable_get(:@trace_scalars) || HOOKS.any? { |name| someones?(trace.method(name)) }

        FieldClock.watched?(trace) && measures?(trace)
      end

      # @param query [GraphQL::Query]
      # @return [FieldTrace, nil] nil if nobody looks
      def of(query)
        trace = query.current_trace
        new(trace, query) if measures?(trace)
      end

      private

      # True if it is told of a field that brings objects.
      def measures?(trace)
        method = trace.method(:begin_execute_field)
        method = method.super_method while FieldClock.watches?(method)
        !method.owner.equal?(GraphQL::Tracing::Trace)
      end

      def someones?(method)
        until method.nil? || method.owner.equal?(GraphQL::Tracing::Trace)
          return true unless method.source_location&.first == MONITORS || FieldClock.watches?(method)

          method = method.super_method
        end
      end
    end

    def initialize(trace, query)
      @trace = trace
      @query = query
    end

    # Tells of +field+ around the block.
    def over(field)
      @trace.begin_execute_field(field, nil, NO_ARGUMENTS, @query)
      yield
    ensure
      @trace.end_execute_field(field, nil, NO_ARGUMENTS, @query, nil)
    end
  end
end

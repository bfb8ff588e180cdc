# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Schema::Timeout::Trace
    # Since:: graphql 2.5.2
    # Why no public seam does it:: it looks at the clock when a field begins, and says nowhere which field and until when; fields
    #   that wait side by side have all begun. See TimeLimit.
    # Falls through when:: the current fiber is not a resolver's.
    module SchemaTimeout
      if GraphQL::Schema::Timeout::Trace.method_defined?(:begin_execute_field)
        def begin_execute_field(field, _arguments, _objects, query)
          super
          pipeloader_began(field, query)
        end
      else
        def execute_field(query:, field:, **_rest)
          pipeloader_began(field, query)
          super
        end
      end

      private

      def pipeloader_began(field, query)
        ResolverFiber.current&.job&.time_limit = TimeLimit.of(@timeout, query, field, GraphQL::Schema::Timeout::TimeoutError)
      end
    end
  end
end

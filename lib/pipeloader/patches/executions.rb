# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter's and GraphQL::Execution::Next's own run_all
    # Since:: graphql 2.5.2
    # Why no public seam does it:: `GraphQL::Query#result` and `#run_partials` don't pass the schema.
    # Falls through when:: the schema doesn't use Pipeloader; or this is another Ractor.
    module Executions
      def run_all(schema, queries, context: {}, **options)
        unless schema.respond_to?(:pipeloader_options) && Pipeloader.main_ractor?
          pipeloader_executing(queries)
          return super
        end

        Switch.around(queries) do
          SafeExecution.around(schema, queries, context) do |given, its|
            pipeloader_executing(given)
            Summary.tell(pipeloader_directed(schema, given, its) { |them, own| super(schema, them, context: own, **options) })
          end
        end
      end

      private

      # Execution::Next asks directives itself.
      def pipeloader_directed(schema, queries, context, &)
        return yield(queries, context) unless equal?(GraphQL::Execution::Interpreter)

        SafeExecution.directed(schema, queries, context, &)
      end

      def pipeloader_executing(queries) = Attempt.current&.executing { Given.queries?(queries) }
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter's and GraphQL::Execution::Next's own run_all
    # Since:: graphql 2.5.2
    # Why no public seam does it:: `GraphQL::Query#result` and `#run_partials` don't pass the schema.
    # Falls through when:: the schema doesn't use Pipeloader; or this is another Ractor.
    module Executions
      def run_all(schema, queries, context: {}, **options)
        return super unless schema.respond_to?(:pipeloader_options) && Pipeloader.main_ractor?

        Switch.around(queries) do
          SafeExecution.around(schema, queries, context) do |given, its|
            Summary.tell(super(schema, given, context: its, **options))
          end
        end
      end
    end
  end
end

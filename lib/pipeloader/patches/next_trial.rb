# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Next::SchemaExtension
    # Since:: graphql 2.6.0
    # Why no public seam does it:: a schema gets this method by `use GraphQL::Execution::Next`, before `use Pipeloader` or
    #   after it. See Schema#multiplex.
    # Falls through when:: the schema doesn't use Pipeloader; or its operation isn't known as yet, or is executed with Pipeloader.
    module NextTrial
      def multiplex_next(queries, context: {}, **options)
        return super unless respond_to?(:pipeloader_options)

        pipeloader_around(queries, context) { |given, its| super(given, context: its, **options) }
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter::Runtime, when a query is first explained
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a trace that sees each field switches plans off, and isn't told of what is resolved as a
    #   ResolverCall.
    # Falls through when:: the query isn't explained.
    module RuntimeWitness
      def evaluate_selections(_fields, result, _target, _runtime_state)
        pipeloader_makes(result)
        super
      end

      def evaluate_selection(name, _nodes, result)
        pipeloader_calls(result, name)
        super
      end

      def pipeloader_makes(result) = Witness.of(query)&.made(result.path, result.graphql_result_type)

      def pipeloader_calls(result, key)
        Witness.of(query)&.resolved(result.path, result.graphql_result_type, key) unless result.graphql_dead
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::FieldResolveStep (Execution::Next)
    # Since:: graphql 2.6; put on when projection is first asked for
    # Why no public seam does it:: see RuntimeProjection. Here the values of a field for all its objects come at once.
    # Falls through when:: the values are leaves.
    module StepProjection
      def build_results
        type = @field_definition.type.unwrap
        pipeloader_expect(type) if type.kind.composite?
        super
      end

      private

      def pipeloader_expect(type)
        query = @selections_step.query
        return unless ResolverFiber.current && pipeloader_one_for_each? && (demands = Operation.of(query)&.demands)

        selections = pipeloader_selections
        @field_results.each { |value| demands.expect(value, type, selections, @ast_node) }
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter::Runtime
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a field's value comes here before graphql-ruby begins with what is selected below it. An
    #   extension would be one more object for every field, and `raw_value` has another interface in Execution::Next.
    # Falls through when:: there is no plan for the value, it is an item of a list, somebody watches every field (Watched), or
    #   the current fiber is not a resolver's.
    module RuntimePlan
      def continue_field(value, owner_type, field, current_type, ast_node, next_selections, is_non_null, owner_object, # rubocop:disable Metrics/ParameterLists
                         arguments, result_name, selection_result, was_scoped, runtime_state)
        if field && next_selections && !next_selections.empty? && result_name.is_a?(String) && (plans = pipeloader_plans)
          tree = plans.grow(value, current_type, next_selections, ast_node, context)
          return set_result(selection_result, result_name, tree, false, is_non_null) if tree
        end
        super
      end

      private

      def pipeloader_plans
        return @pipeloader_plans if defined?(@pipeloader_plans)

        @pipeloader_plans = (Plans.of(@query) if ResolverFiber.current)
      end
    end
  end
end

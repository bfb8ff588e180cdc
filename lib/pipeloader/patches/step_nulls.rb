# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::FieldResolveStep (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: errors are listed as they come, and the first null that may not be there decides for its
    #   siblings. See InterpreterRuntime.
    # Falls through when:: the current fiber is not a resolver's; otherwise, too, graphql-ruby's own code does it, in its turn.
    module StepNulls
      def add_non_null_error(...)
        ResolverFiber.current&.await_turn
        super
      end

      # An error where no null may be: what is selected beside it isn't begun. Without a dataloader, what comes before is over.
      def propagate_nulls
        fiber = ResolverFiber.current
        fiber.await_turn if fiber&.loader&.pipeloader_depth_first?
        super
      end
    end
  end
end

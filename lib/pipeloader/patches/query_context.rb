# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Query::Context
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a resolver may list an error without returning it; see InterpreterRuntime.
    # Falls through when:: the current fiber is not a resolver's.
    module QueryContext
      # @return [Hash{Hash => Class}, nil] of which type an object of the response is, where that is one of several: Execution::Next
      #   wants to know, and whoever explains the query
      attr_accessor :pipeloader_types

      # What is below a null isn't begun without Pipeloader, and lists nothing.
      def add_error(error)
        return super unless (fiber = ResolverFiber.current)

        fiber.await_turn
        super unless namespace(:interpreter_runtime)[:runtime]&.pipeloader_unbegun?
      end
    end
  end
end

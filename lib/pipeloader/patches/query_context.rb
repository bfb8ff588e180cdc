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

      def add_error(error)
        ResolverFiber.current&.await_turn
        super
      end
    end
  end
end

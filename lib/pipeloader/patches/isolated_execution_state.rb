# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveSupport::IsolatedExecutionState
    # Since:: ActiveSupport 7.2; put on when a response first begins under `isolation_level = :fiber`
    # Why no public seam does it:: ActiveRecord leases a connection, and keeps a query cache, per context. Were each
    #   resolver fiber one, four parked fields would take four connections, and the fifth request of a pool of five none.
    # Falls through when:: the current fiber is not a resolver's.
    module IsolatedExecutionState
      def context
        (fiber = Thread.current[ResolverFiber::KEY]) ? fiber.response.context : super
      end
    end
  end
end

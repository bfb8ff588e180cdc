# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Lazy
    # Since:: graphql 2.5.2
    # Why no public seam does it:: one that several fields share is resolved by the first that asks, and looks resolved from then
    #   on.
    # Falls through when:: it has been resolved, or the current fiber is no resolver's.
    module SharedLazy
      def value
        fiber = ResolverFiber.current
        fiber && (!@resolved || @pipeloader_flight) ? Flight.over(self, fiber) { super() } : super
      end
    end
  end
end

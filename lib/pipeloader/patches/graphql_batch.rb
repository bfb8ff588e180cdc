# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Batch::Loader (gem graphql-batch)
    # Since:: graphql-batch 0.6
    # Why no public seam does it:: a loader that parks in `perform` is asked for its promises by another fiber meanwhile,
    #   and answers Promise::BrokenError. So it reads at once, and takes along what is gathered.
    # Falls through when:: the current fiber is not a resolver's.
    module GraphQLBatch
      def resolve
        ResolverFiber.at_once { super }
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Pagination::RelationConnection
    # Since:: graphql 2.5.2
    # Why no public seam does it:: `nodes`, `edges` and `pageInfo` are sibling fields, so sibling fibers, and each finds
    #   the page not loaded yet (measured: 5 queries instead of 1, 9 instead of 2 with `last:`).
    # Falls through when:: the current fiber is not a resolver's.
    module RelationConnection
      def has_next_page = pipeloader_alone { super }

      def has_previous_page = pipeloader_alone { super }

      private

      def load_nodes = pipeloader_alone { super }

      def limited_nodes = pipeloader_alone { super }

      def pipeloader_alone(&block)
        fiber = ResolverFiber.current
        fiber ? Flight.over(self, fiber, &block) : yield
      end
    end
  end
end

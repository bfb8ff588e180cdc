# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Pagination::RelationConnection
    # Since:: graphql 2.5.2
    # Why no public seam does it:: `nodes`, `edges` and `pageInfo` are sibling fields, so sibling fibers, and each finds
    #   the page not loaded yet (measured: 5 queries instead of 1, 9 instead of 2 with `last:`).
    # Falls through when:: the current fiber is not a resolver's.
    module RelationConnection
      # With `first` and `last` the answer differs by whether the nodes are there: they must be exactly if they would be in a
      # serial run.
      def has_next_page
        ResolverFiber.current&.await_turn if first && last
        pipeloader_alone do |fiber|
          nodes = @nodes
          @nodes = nil if first && last && pipeloader_loaded_later_than?(fiber)
          super()
        ensure
          @nodes ||= nodes
        end
      end

      def has_previous_page = pipeloader_alone { super }

      private

      # graphql-ruby holds a Monitor over the read under its AsyncDataloader, and who holds a lock doesn't park. A flight does
      # the same.
      def async_dataloader? = ResolverFiber.current ? false : super

      def load_nodes
        pipeloader_alone do |fiber|
          pipeloader_asked_by(fiber&.job)
          super()
        end
      end

      def limited_nodes = pipeloader_alone { super }

      def pipeloader_alone
        fiber = ResolverFiber.current
        fiber ? Flight.over(self, fiber) { yield fiber } : yield
      end

      # Keeps the first of all that have asked for the nodes, in the order of a serial run.
      def pipeloader_asked_by(job)
        @pipeloader_loader = job if job && (@pipeloader_loader.nil? || job.compare(@pipeloader_loader).negative?)
      end

      def pipeloader_loaded_later_than?(fiber)
        @pipeloader_loader && fiber&.job && fiber.job.compare(@pipeloader_loader).negative?
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Associations::Association
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: two fields that read `post.author` are two fibers; the second must find the target
    #   loaded, as it does when they run one after the other.
    # Falls through when:: the current fiber is not a resolver's, or no other fiber is loading this association.
    module Association
      def load_target
        fiber = Thread.current[ResolverFiber::KEY]
        return super if fiber.nil? || @loaded

        Flight.over(self, fiber) { super }
      end

      # Whoever asks while another fiber loads, waits: `size`, `empty?`, `ids` and the readers all ask this first.
      def loaded?
        @pipeloader_flight&.await
        super
      end
    end

    # Host:: ActiveRecord::Associations::CollectionAssociation, which has a `load_target` of its own; see Association.
    module CollectionAssociation
      def load_target
        fiber = Thread.current[ResolverFiber::KEY]
        return super if fiber.nil? || @loaded

        Flight.over(self, fiber) { super }
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Relation
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: as for associations: one relation object, iterated by several fields, is read once.
    # Falls through when:: the current fiber is not a resolver's, or no other fiber is loading this relation.
    module Relation
      def load(&block)
        fiber = Thread.current[ResolverFiber::KEY]
        return super if fiber.nil? || @loaded

        Flight.over(self, fiber) { super }
      end

      # `size`, `empty?`, `first`, `pluck` and others ask this before they read.
      def loaded?
        @pipeloader_flight&.await
        super
      end
    end
  end
end

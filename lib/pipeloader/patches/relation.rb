# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Relation
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: as for associations: one relation object, iterated by several fields, is read once.
    #   A relation that is extended with another `load` is read at once.
    # Falls through when:: the current fiber is not a resolver's, or no other fiber is loading this relation.
    module Relation
      def load(&block)
        fiber = Thread.current[ResolverFiber::KEY]
        # `load_async` sets `@loaded` before the records are there.
        return super if fiber.nil? || (@loaded && @future_result.nil? && @pipeloader_flight.nil?)

        return fiber.without_parking { super } if pipeloader_loads_otherwise?

        Flight.over(self, fiber) { super }
      end

      # True if it has a `load` of its own, or a module's that it is extended with, as by Kaminari's `without_count`. That has
      # changed the relation by now, and changes it back.
      def pipeloader_loads_otherwise?
        return false if ObjectSpace.internal_class_of(self).equal?(self.class)

        !method(:load).owner.equal?(self.class.instance_method(:load).owner)
      end

      # Its rows, of which no records are made.
      #
      # @return [ActiveRecord::Result, Array] an empty Array where there is nothing to ask
      def pipeloader_result = exec_main_query

      # Reads, and writes what it hasn't found: a sibling that came in between would find nothing, and write it, too. Blocks of
      # Pipeloader.map do so in their order.
      def find_or_create_by(...) = Pipeloader.without_parking { super }
      def find_or_create_by!(...) = Pipeloader.without_parking { super }
      def first_or_create(...) = Pipeloader.without_parking { super }
      def first_or_create!(...) = Pipeloader.without_parking { super }

      # A sibling's load in flight no longer counts for later callers.
      def reset
        return super unless @pipeloader_flight && Flight.elsewhere?(self)

        remove_instance_variable(:@pipeloader_flight)
        @pipeloader_resets = (@pipeloader_resets || 0) + 1
        super
      end

      # `size`, `empty?`, `first`, `pluck` and others ask this before they read.
      def loaded?
        @pipeloader_flight&.await
        super
      end

      private

      # What a sibling has loaded anew meanwhile stays.
      def exec_queries(...)
        resets = @pipeloader_resets
        records = super
        @loaded && resets != @pipeloader_resets ? @records : records
      end
    end
  end
end

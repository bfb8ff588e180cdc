# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveModel::Validations
    # Since:: ActiveModel 7.2
    # Why no public seam does it:: the list of errors of the object is emptied, and its context of validation set, for as long as
    #   validations read. A sibling that validates the same object meanwhile would empty the one and set the other.
    # Falls through when:: the current fiber is no resolver's.
    module Validations
      def valid?(...) = pipeloader_alone { super }
      def validate(...) = pipeloader_alone { super }

      private

      # Yields; siblings wait until it has been validated. A frozen object has nothing that they could change.
      def pipeloader_alone(&)
        fiber = ResolverFiber.current
        fiber.nil? || frozen? ? yield : Flight.over(self, fiber, &)
      end
    end
  end
end

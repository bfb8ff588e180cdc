# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: AASM::Core::Transition
    # Since:: aasm 5.0
    # Why no public seam does it:: `may_publish?` writes into the record's own machine which transition it asks, and into the
    #   transition, one for all records, which guards have failed. A guard that reads would let siblings write theirs.
    # Falls through when:: the current fiber is no resolver's.
    module StateMachineTransition
      def allowed?(...) = ResolverFiber.at_once { super }
    end
  end
end

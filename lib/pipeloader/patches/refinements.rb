# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: Module
    # Since:: Ruby 3.1
    # Why no public seam does it:: KnownMethods keeps which methods are refined. Code that is loaded later may use a refinement
    #   that was made later, and its bytecode doesn't show that.
    # Falls through when:: always; it only clears what is kept.
    module Refinements
      private

      def refine(*)
        super
      ensure
        KnownMethods.forget if Pipeloader.main_ractor?
      end
    end
  end
end

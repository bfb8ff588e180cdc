# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActionDispatch::Request::Session, when a controller first asks for Collections
    # Since:: ActionDispatch 7.2
    # Why no public seam does it:: a store may read from the database. The second partial that did so would take away what the
    #   first has written into the session since, and a form's token with it. So it goes at once, and is loaded once.
    # Falls through when:: the current fiber is not one of ours.
    module SessionLoad
      private

      def load! = ResolverFiber.at_once { super }
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # What changes an object of the views for the length of a block, and puts back what was there. A view that is one for all,
    # such as ApplicationController.helpers, or a controller's own in the context, is changed by many fibers. Of those that are
    # inside at a time, only the first parks. The others have ended by the time it goes on, unless they ask a source.
    #
    # Partials of a collection have the page's view to themselves, see HostState.
    module SharedViews
      private

      def pipeloader_change
        fiber = ResolverFiber.current
        return yield if fiber.nil? || fiber.host_state&.of?(self)

        first = @pipeloader_changer.nil?
        @pipeloader_changer = fiber if first
        begin
          @pipeloader_changer.equal?(fiber) ? yield : fiber.without_parking { yield }
        ensure
          @pipeloader_changer = nil if first
        end
      end
    end

    # Host:: ActionView::OutputBuffer
    # Since:: ActionView 7.2
    # Why no public seam does it:: `capture` puts another String in the place of the buffer's own.
    # Falls through when:: the current fiber is no resolver's.
    module OutputBuffer
      include SharedViews

      def capture(...) = pipeloader_change { super }
    end

    # Host:: ActionView::Base
    # Since:: ActionView 7.2
    # Why no public seam does it:: a template is run, and looked for, with the view's own variables: its buffer, its formats.
    # Falls through when:: the current fiber is no resolver's.
    module View
      include SharedViews

      def _run(...) = pipeloader_change { super }
      def in_rendering_context(...) = pipeloader_change { super }
    end
  end
end

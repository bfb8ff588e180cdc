# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActionView::OutputBuffer
    # Since:: ActionView 7.2
    # Why no public seam does it:: `capture` puts another String in the place of the buffer's own for the length of a block.
    #   Helpers that are one object for all, such as ApplicationController.helpers, have one buffer, to which many fibers write.
    # Falls through when:: the current fiber is no resolver's.
    #
    # Of those that are in a `capture` of one buffer at a time, only the first parks: the others have ended by the time it goes
    # on. In partials of a collection each has the page's buffer to itself, see HostState.
    module OutputBuffer
      def capture(...)
        fiber = ResolverFiber.current
        return super unless fiber

        first, @pipeloader_captor = @pipeloader_captor, @pipeloader_captor || fiber
        begin
          @pipeloader_captor.equal?(fiber) ? super : fiber.without_parking { super }
        ensure
          @pipeloader_captor = first
        end
      end
    end
  end
end

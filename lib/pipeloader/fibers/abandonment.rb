# frozen_string_literal: true

module Pipeloader
  # An exception leaves a Run: nobody will wake the fibers that wait. What their resolvers were in the middle of ends, so that
  # their `ensure` gives back what they had taken. Nothing is sent of what they have asked for, and nothing more begins.
  module Abandonment
    # A queue that stays empty: for a fiber that goes on all the same.
    class Nowhere < Array
      %i[push << unshift concat].each { |name| define_method(name) { |*| self } }
    end

    class << self
      # @param fibers [Array<Array(ResolverFiber, ::Fiber)>]
      def of(fibers)
        fibers.each { |fiber, _| fiber.abandon }
        yield
        unwind(fibers)
      end

      private

      # The last first, and all, whatever strikes meanwhile. A fiber scheduler's fibers are its own to end.
      def unwind(fibers)
        while (fiber, native = fibers.pop)
          fiber.unwind(native) if native.blocking? || Fiber.current_scheduler.nil?
        end
      ensure
        unwind(fibers) if fibers.any?
      end
    end
  end
end

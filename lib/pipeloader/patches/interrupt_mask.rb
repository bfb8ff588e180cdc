# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: Thread.handle_interrupt (Ruby's own)
    # Since:: Ruby 3.1
    # Why no public seam does it:: Ruby keeps one stack of masks per thread. A fiber that parks inside the block would leave
    #   its mask to the others, and one that is abandoned there to the thread, for good. So inside nothing parks, nor waits for
    #   its turn: a Task does before. A pool of connections (Sidekiq's, a cache's) hands one out so.
    # Falls through when:: the current fiber is not a resolver's.
    module InterruptMask
      # Who holds a mask for a moment: ActiveRecord's own locks, and we.
      LOCKS = %r{/active_support/concurrency/|/active_record/connection_adapters/|/lib/pipeloader/}
      private_constant :LOCKS

      # For code of our own that doesn't park.
      def self.prepend_features(thread_class)
        thread_class.alias_method(:pipeloader_host_handle_interrupt, :handle_interrupt)
        super
      end

      def handle_interrupt(*, &block)
        fiber = ResolverFiber.current
        fiber.await_turn_to_act if fiber&.task && fiber.parks? && !caller_locations(1, 1).first.path.match?(LOCKS)
        ResolverFiber.at_once { super }
      end
    end
  end
end

# frozen_string_literal: true

require "monitor"

module Pipeloader
  module Patches
    # Host:: Mutex, Monitor, ConditionVariable, Queue, SizedQueue (Ruby's own)
    # Since:: Ruby 3.1
    # Why no public seam does it:: they belong to fibers, and Ruby knows nothing of who waits for whom. A fiber that parks
    #   with a lock held makes its siblings, the fields that come later, sleep for ever; in a serial run they never wait for each
    #   other. Ruby doesn't tell which locks are held, either.
    # Falls through when:: the current fiber is not a resolver's. (Mutex#synchronize then costs some 40 ns more; put on when a
    #   schema first uses Pipeloader.)
    #
    # Who holds a lock doesn't park. Who would sleep for a latch or a token lets the siblings go on first, and sleeps when none
    # of them can.
    #
    # Limits: `File#flock`; a lock that is held over `dataloader.load`, or around the whole `execute` and taken again inside, as
    # under any GraphQL::Dataloader.
    module Locks
      # By each schema that uses Pipeloader; only the first changes anything.
      def self.install
        ::Mutex.prepend(Mutex)
        ::Monitor.prepend(Monitor)
        ::ConditionVariable.prepend(ConditionVariable)
        ::Queue.prepend(Queue)
        ::SizedQueue.prepend(Queue, SizedQueue)
      end

      def self.count(change)
        fiber = Thread.current[ResolverFiber::KEY]
        fiber.locks += change if fiber
      end

      module Synchronized
        # (Counted around the host's own: between its taking the lock and our `begin` an interrupt could come.)
        def synchronize
          fiber = Thread.current[ResolverFiber::KEY] or return super
          begin
            fiber.locks += 1
            super
          ensure
            fiber.locks -= 1
          end
        end
      end

      module Mutex
        include Synchronized

        def lock = super.tap { Locks.count(1) }

        def try_lock = super.tap { |taken| Locks.count(1) if taken }

        def unlock = super.tap { Locks.count(-1) }
      end

      # (Its aliases are methods of their own.)
      module Monitor
        include Synchronized

        def enter = super.tap { Locks.count(1) }

        def try_enter = super.tap { |taken| Locks.count(1) if taken }

        def exit = super.tap { Locks.count(-1) }

        alias mon_synchronize synchronize
        alias mon_enter enter
        alias mon_try_enter try_enter
        alias try_mon_enter try_enter
        alias mon_exit exit
      end

      module ConditionVariable
        # What went on meanwhile may be what it is waited for, so this returns: a spurious wake-up, which every caller
        # must be prepared for.
        def wait(mutex, timeout = nil)
          fiber = Thread.current[ResolverFiber::KEY] or return super
          mutex.unlock
          begin
            others_went_on = fiber.give_way
          ensure
            mutex.lock
          end
          others_went_on ? self : super
        end
      end

      module Queue
        def pop(non_block = false, **) # rubocop:disable Style/OptionalBooleanParameter
          fiber = Thread.current[ResolverFiber::KEY]
          nil while fiber && !non_block && empty? && !closed? && fiber.give_way
          super
        end

        alias shift pop
        alias deq pop
      end

      module SizedQueue
        def push(object, non_block = false, **) # rubocop:disable Style/OptionalBooleanParameter
          fiber = Thread.current[ResolverFiber::KEY]
          nil while fiber && !non_block && size >= max && !closed? && fiber.give_way
          super
        end

        alias enq push
        alias << push
      end
    end
  end
end

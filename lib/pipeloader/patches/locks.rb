# frozen_string_literal: true

require "monitor"

module Pipeloader
  module Patches
    # Host:: Mutex, Monitor, ConditionVariable, Queue, SizedQueue, Thread (Ruby's own)
    # Since:: Ruby 3.1
    # Why no public seam does it:: they belong to fibers, and Ruby knows nothing of who waits for whom. A fiber that parks
    #   with a lock held makes its siblings, the fields that come later, sleep for ever; in a serial run they never wait for each
    #   other. Ruby doesn't tell which locks are held, either.
    # Falls through when:: the current fiber is not a resolver's. Mutex#synchronize then costs some 40 ns more; put on when a
    #   schema first uses Pipeloader.
    #
    # Who holds a lock doesn't park. Who would sleep for a latch, a token or a thread (which may want the connection that a
    # sibling is parked with) lets the siblings go on first, and sleeps when none of them can. Not so where the wait isn't the
    # resolver's own, see Undivided.
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
        ::Thread.prepend(Joining)
      end

      def self.count(change)
        fiber = Thread.current[ResolverFiber::KEY]
        fiber.parking.locks += change if fiber
      end

      # Lets siblings go on for as long as the block says that there is something to wait for.
      #
      # @param limit [Numeric, nil] seconds that the wait may take
      # @return [Numeric, nil] those that are left
      def self.give_way(limit = nil)
        fiber = Thread.current[ResolverFiber::KEY] or return limit
        deadline = now + limit if limit
        nil while yield && (deadline.nil? || now < deadline) && fiber.give_way
        deadline && [deadline - now, 0].max
      end

      # Who was waited for may have written.
      def self.waited = Response.here&.outdate

      def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

      module Synchronized
        # Counted around the host's own: an interrupt could come between its taking the lock and our `begin`.
        def synchronize
          fiber = Thread.current[ResolverFiber::KEY] or return super
          begin
            fiber.parking.locks += 1
            super
          ensure
            fiber.parking.locks -= 1
          end
        end
      end

      module Mutex
        include Synchronized

        def lock = super.tap { Locks.count(1) }

        def try_lock = super.tap { |taken| Locks.count(1) if taken }

        def unlock = super.tap { Locks.count(-1) }
      end

      # Its aliases are methods of their own.
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
        # must be prepared for. A thread or a task of Async may have signaled meanwhile, too, when Ruby didn't know this fiber as
        # one that waits: so signals are counted.
        def wait(mutex, timeout = nil)
          fiber = Thread.current[ResolverFiber::KEY]
          return super if fiber.nil? || Undivided.wait?

          signals = @pipeloader_signals
          mutex.unlock
          begin
            others_went_on = fiber.give_way
          ensure
            mutex.lock
          end
          others_went_on || signals != @pipeloader_signals ? self : super
        ensure
          Locks.waited
        end

        def signal
          @pipeloader_signals = (@pipeloader_signals || 0) + 1 unless frozen?
          super
        end

        def broadcast
          @pipeloader_signals = (@pipeloader_signals || 0) + 1 unless frozen?
          super
        end
      end

      module Queue
        # Ruby 3.1 has no limit.
        def pop(non_block = false, timeout: nil)
          left = non_block ? timeout : Locks.give_way(timeout) { empty? && !closed? }
          left ? super(non_block, timeout: left) : super(non_block)
        ensure
          Locks.waited
        end

        alias shift pop
        alias deq pop
      end

      module SizedQueue
        def push(object, non_block = false, timeout: nil)
          left = non_block ? timeout : Locks.give_way(timeout) { size >= max && !closed? }
          left ? super(object, non_block, timeout: left) : super(object, non_block)
        ensure
          Locks.waited
        end

        alias enq push
        alias << push
      end

      # A thread may work on the records that siblings work on, so at first these stay where they are: most threads end soon. One
      # that doesn't may wait for what only a sibling can give.
      module Joining
        HOST = ::Thread.instance_method(:join)
        private_constant :HOST

        def join(limit = nil)
          left = pipeloader_ends?(limit) ? limit : Locks.give_way(limit) { alive? }
          left ? super(left) : super()
        ensure
          Locks.waited
        end

        def value
          Locks.give_way { alive? } unless pipeloader_ends?
          super
        ensure
          Locks.waited
        end

        private

        def pipeloader_ends?(limit = nil)
          return true unless (fiber = Thread.current[ResolverFiber::KEY]) && alive?

          fiber.parking.patiently { |seconds| HOST.bind_call(self, [seconds, *limit].min) }
          !alive?
        end
      end
    end
  end
end

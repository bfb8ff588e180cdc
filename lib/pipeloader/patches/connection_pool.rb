# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::ConnectionPool
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: to ActiveRecord all fibers of a response are one; which of them still use the
    #   connection that the first took, is known only to us. See ConnectionLease.
    # Falls through when:: the current fiber is not a resolver's.
    module ConnectionPool
      # As in PostgreSQLReads: an alias costs no object where `super` with keywords does.
      def self.prepend_features(pool_class)
        %i[with_connection release_connection checkin].each { |name| pool_class.alias_method(:"pipeloader_host_#{name}", name) }
        super
      end

      def with_connection(prevent_permanent_checkout: false, &block)
        fiber = Thread.current[ResolverFiber::KEY]
        unless fiber
          return pipeloader_host_with_connection(prevent_permanent_checkout: prevent_permanent_checkout, &block)
        end

        fiber.response.holding(self, fiber) do
          prevent_permanent_checkout ? pipeloader_without_lease(fiber.response, &block) : pipeloader_host_with_connection(&block)
        end
      end

      # By itself ActiveRecord gives back only what no fiber of ours is using.
      def release_connection(...)
        fiber = Thread.current[ResolverFiber::KEY]
        fiber&.response&.leave_to_others(self, fiber) || super
      end

      def checkin(connection)
        response = (fiber = Thread.current[ResolverFiber::KEY])&.response or return super
        return if response.leave_to_others(self, fiber, connection)

        response.part(connection) # the next to take it from the pool has it
        super
      end

      # A connection that nobody will miss: free, while another one is, too. Doesn't wait.
      #
      # @return [ActiveRecord::ConnectionAdapters::AbstractAdapter, nil] checked out
      def pipeloader_spare
        synchronize do
          next if @pinned_connection || num_waiting_in_queue.positive?

          now = stat
          free = (now[:size] || Float::INFINITY) - now[:connections] - @now_connecting.to_i + now[:idle]
          checkout(0) if free > 1
        end
      rescue ActiveRecord::ConnectionTimeoutError
        nil
      end

      # Called for each pool of a response.
      def pipeloader_refuse_unsupported = UnsupportedAdapter.refuse(db_config.adapter_class)

      private

      # For such a block ActiveRecord forgets that the connection was leased for good: before by a sibling, or in the middle.
      def pipeloader_without_lease(response)
        response.note_lease(self)
        pipeloader_host_with_connection(prevent_permanent_checkout: true) do |connection|
          yield connection
        ensure
          response.note_lease(self)
        end
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::QueryCache::Store
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: a parked read has to know whether the cache was cleared since it was asked for, by a write or
    #   by hand, and nothing says so.
    # Falls through when:: always.
    module QueryCacheStore
      # Where it is off, a `cache` block has ended, perhaps a sibling's: what another one has asked for is as good as it was.
      def clear
        Thread.current[ResolverFiber::KEY]&.outdate # whoever reloads wants to know what is there now
        pipeloader_outdate if @enabled
        super
      end

      # Answers asked for until now must not be kept.
      #
      #: () -> Integer
      def pipeloader_outdate = @pipeloader_clears = (@pipeloader_clears || 0) + 1

      # How often that was so, by other threads that share a pinned connection, too. Those count in the version that all stores
      # of a pool have in common; the first releases of ActiveRecord 7.2 have none.
      #
      #: () -> Integer
      def pipeloader_clears = (@pipeloader_clears || 0) + (@version ? @version.value : 0)
    end

    # Host:: ActiveRecord::ConnectionHandling, which is ActiveRecord::Base's
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: as above; every write calls this before it does anything.
    # Falls through when:: the current fiber is not a resolver's.
    module QueryCaches
      # Reads asked for before the write go first, and are kept.
      def clear_query_caches_for_current_thread
        return super unless (fiber = ResolverFiber.current)

        fiber.catch_up
        super
        connection_handler.each_connection_pool { |pool| pool.query_cache.pipeloader_outdate }
      end
    end
  end
end

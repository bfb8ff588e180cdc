# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::QueryCache::Store
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: every write clears the stores of all pools, and nothing says so: a parked read has to know
    #   whether that has happened since it was asked for.
    # Falls through when:: always.
    module QueryCacheStore
      # Who clears it is about to write: what was asked for before is read, and kept, first.
      def clear
        ResolverFiber.current&.catch_up
        @pipeloader_clears = (@pipeloader_clears || 0) + 1
        super
      end

      # How often it was cleared. (By other threads, too, that share a pinned connection: those count in the version that all
      # stores of a pool have in common, of which the first releases of ActiveRecord 7.2 have none.)
      #
      #: () -> Integer
      def pipeloader_clears = (@pipeloader_clears || 0) + (@version ? @version.value : 0)
    end
  end
end

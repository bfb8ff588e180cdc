# frozen_string_literal: true

module Pipeloader
  # Keeps a connection leased while fibers are parked on it.
  #
  # ActiveRecord gives a connection back when the block that took it ends (`with_connection`, around every read). With
  # several fibers in such blocks at once, the one that took it may be the first to leave, and its connection would go
  # back to the pool under the others' feet.
  class Hold
    def initialize(pool)
      @pool = pool
      @lease = pool.send(:connection_lease)
      @sticky = @lease.sticky
      @fibers = {}.compare_by_identity
    end

    # Each time anew: a connection that was thrown away took its lease's mark with it.
    def enter(fiber)
      @lease.sticky = true
      @fibers[fiber] = true
    end

    def leave(fiber)
      @fibers.delete(fiber)
      release if @fibers.empty?
    end

    # A lease that user code made permanent meanwhile was permanent before, too, for all that we can know.
    def release
      return if @released

      @sticky ? @lease.sticky = @sticky : @pool.release_connection
      @released = true
    end

    def released? = @released
  end
end

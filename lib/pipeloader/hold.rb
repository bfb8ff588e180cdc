# frozen_string_literal: true

module Pipeloader
  # A pool's connection, leased for as long as a fiber of the response is using it.
  #
  # ActiveRecord gives a connection back when the block that took it ends (`with_connection`, around every read). With
  # several fibers in such blocks at once, the one that took it may be the first to leave, and its connection would go
  # back to the pool under the others' feet.
  class Hold
    # @param leased_before [Boolean] whether the connection was leased before the response began: not ours to give back
    def initialize(pool, leased_before)
      @pool = pool
      @leased_before = leased_before
      @lease = pool.send(:connection_lease)
      @inside = Hash.new(0).compare_by_identity # {fiber => how many such blocks it is in}
    end

    # Runs the block, which uses the connection.
    #
    # @param check_out [Proc] returns a connection of the pool, or nil when other fibers had to go on first
    def during(fiber, check_out)
      lease(check_out)
      @inside[fiber] += 1
      begin
        yield
      ensure
        leave(fiber)
      end
    end

    def others_inside?(fiber) = @inside.any? { |other, _| !other.equal?(fiber) }

    # Whoever is still inside was abandoned there.
    def release
      return unless @taken

      # What code inside has leased for good stays leased.
      @pool.release_connection if @taken == :over || !@lease.sticky
      @taken = nil
    end

    private

    def lease(check_out)
      take_over if @lease.connection
      until @lease.connection
        connection = check_out.call
        if @lease.connection
          @pool.checkin(connection) if connection
        elsif connection
          @lease.connection = connection
          @taken = :new
        end
      end
    end

    # From a fiber of user code's own (Enumerator#next), which may leave before ours do.
    def take_over
      return if @taken || @leased_before || @lease.sticky

      @lease.sticky = true
      @taken = :over
    end

    def leave(fiber)
      @inside.delete(fiber) if (@inside[fiber] -= 1).zero?
      release if @inside.empty?
    end
  end
end

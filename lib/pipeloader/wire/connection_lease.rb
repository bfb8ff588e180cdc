# frozen_string_literal: true

module Pipeloader
  # A pool's connection, leased for as long as a fiber of the response is using it.
  #
  # ActiveRecord gives a connection back when the block that took it ends (`with_connection`, around every read). With
  # several fibers in such blocks at once, the one that took it may be the first to leave, and its connection would go
  # back to the pool under the others' feet. So would it where a resolver gives it back itself.
  class ConnectionLease
    # @param leased_before [Boolean] whether the connection was leased before the response began: not ours to give back
    def initialize(pool, leased_before)
      @pool = pool
      @leased_before = leased_before
      begin_with(pool.send(:connection_lease))
    end

    # Sends what is gathered for it.
    def send_gathered
      connection = @lease.connection
      connection.pipeloader_session.send_gathered if connection.respond_to?(:pipeloader_session)
    end

    # Yields the connection.
    #
    # @param response [Response] says whether other fibers hold connections of other pools
    def during(fiber, response)
      connection = lease.connection
      return yield(connection) if connection && @inside.key?(fiber)

      take_for(fiber, response)
      (inside = @inside)[fiber] = true
      begin
        yield @lease.connection
      ensure
        inside.delete(fiber)
        release if @taken == :new && @inside.empty? && !@kept && !@blockless
      end
    end

    # As #during, for code that has the +connection+ without a block.
    def during_use(connection, fiber, response, &)
      return yield if @inside.key?(fiber) || !connection.equal?(lease.connection)

      @blockless = true
      during(fiber, response, &)
    end

    # Who has leased it has it without a block, and may go on with it until the response ends.
    def note_lease = @blockless ||= lease.sticky

    # A +fiber+ gives it back, whoever took it. Where others are using it, the last of these does; where one has it without a
    # block, and so may go on with it, the response does when it ends.
    #
    # @param connection [ActiveRecord::ConnectionAdapters::AbstractAdapter]
    # @return [Boolean] whether that is so
    def leave_to_others(fiber, connection = lease.connection)
      return false unless connection && connection.equal?(lease.connection) && others_inside?(fiber)

      @kept ||= @blockless || @lease.sticky
      @lease.sticky = nil # as ActiveRecord leaves it
      @leased_before = false
      @taken = :new
      true
    end

    def others_inside?(fiber) = @inside.size > (@inside.key?(fiber) ? 1 : 0)

    # Until the response ends: it has a transaction open on +connection+.
    def keep(connection)
      return unless lease.connection.equal?(connection)

      take_over
      @kept = true
    end

    # Called when the response ends: whoever is still inside was abandoned there.
    def release
      return if @pool.discarded? # in a child that a resolver has forked

      Thread.handle_interrupt(Object => :never) do
        # First: under a fiber scheduler another fiber may lease one while this is given back.
        lease
        taken, @taken = @taken, nil
        @kept = false
        # What code inside has leased for good stays leased.
        @pool.pipeloader_host_release_connection if taken == :over || (taken && !@lease.sticky)
      end
    end

    private

    # ActiveRecord's own, which is another one when somebody has disconnected the pool: its connections are gone then.
    def lease
      now = @pool.send(:connection_lease)
      now.equal?(@lease) ? now : begin_with(now)
    end

    def begin_with(lease)
      @taken = nil
      @kept = @blockless = false
      @inside = {}.compare_by_identity # fibers
      @lease = lease
    end

    # Two responses over two databases must not each wait for a connection that the other holds. So where the pool has none
    # to spare, those of this response's fibers that hold another go on first.
    def take_for(fiber, response)
      take_over if @lease.connection
      until @lease.connection
        (response.others_hold?(fiber) && (take(0) || fiber.give_way)) || fiber.openly { take }
      end
    end

    # An interrupt may come in while the pool lets us wait, not between its giving and our taking.
    #
    # @param limit [Numeric, nil] seconds to wait; nil: the pool's own limit, with its error
    def take(limit = nil)
      Thread.handle_interrupt(Object => :never) do
        connection = Thread.handle_interrupt(Object => :on_blocking) do
          Waiting.outside { limit ? @pool.checkout(limit) : @pool.checkout }
        end
        # Under a fiber scheduler another fiber may have done so meanwhile.
        next @pool.pipeloader_host_checkin(connection) if lease.connection

        @lease.connection = connection
        @blockless = false # that was another one
        @taken = :new
      end
    rescue ActiveRecord::ConnectionTimeoutError
      raise unless limit
    end

    # From a fiber of user code's own (Enumerator#next), which may leave before ours do, or stay longer: for the rest of the
    # response.
    def take_over
      return if @taken || @leased_before || @lease.sticky

      @lease.sticky = true
      @taken = :over
    end
  end
end

# frozen_string_literal: true

require "io/wait"

module Pipeloader
  # Where a fiber waits for a server, or for a connection: here, or where whoever runs the fiber can do so while others go on.
  module Waiting
    KEY = :pipeloader_waits

    # Seconds after which the sockets are looked at that a fiber scheduler isn't told of.
    TURN = 0.01
    private_constant :TURN

    class << self
      # Yields. What the block waits for, is waited for by +host+.
      #
      #: [T] (^(^() -> untyped) -> untyped) { () -> T } -> T
      def by(host)
        outer, Thread.current[KEY] = Thread.current[KEY], host
        yield
      ensure
        Thread.current[KEY] = outer
      end

      # Runs the block, which waits for somebody outside of this process.
      #
      #: [T] () { () -> T } -> T
      def outside(&wait) = (host = Thread.current[KEY]) ? host.call(wait) : yield

      # Returns when one of the sockets is ready, or the time is up. A fiber scheduler gets one socket, the first: Ruby 3.1 has no
      # `select` for it, and Async's starts a thread each time.
      #
      # @param limit [Numeric, nil] seconds
      # @return [Array<IO>, nil] which are; nil where that isn't known
      #
      #: (Array[IO], Array[IO], Numeric?) -> Array[IO]?
      def for_any(readable, writable, limit)
        return IO.select(readable, writable, nil, limit)&.flatten unless Fiber.current_scheduler

        socket = readable.first
        events = writable.include?(socket) ? IO::READABLE | IO::WRITABLE : IO::READABLE
        socket.wait(events, readable.one? ? limit : [*limit, TURN].min)
        nil
      end
    end
  end
end

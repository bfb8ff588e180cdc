# frozen_string_literal: true

module Pipeloader
  # Asks the server to end what runs on a connection. It goes by a connection of its own, which may be as stuck as that one: in
  # a thread, which can be left behind.
  module CancelRequest
    # Seconds to get a connection clear after an interrupt, and between the requests that it takes.
    CLEARING = 0.5
    EVERY = 0.02

    # `Object`, since Thread#kill isn't an exception.
    UNINTERRUPTED = { Object => :never }.freeze
    WHILE_WAITING = { Object => :on_blocking }.freeze

    class << self
      # @param limit [Numeric] seconds
      # @return [Boolean] whether it is known to be over: the server (and PgBouncer, from 1.18 on) ends that connection once the
      #   signal is sent, and a backend that is idle by then forgets it. One on its way would strike what runs next
      def deliver(connection, limit)
        # A thread starts with the interrupt mask of the one that makes it, and could never be killed.
        thread = Thread.new { Thread.handle_interrupt(Object => :immediate) { connection.cancel } }
        thread.report_on_exception = false
        Pipeloader.at_once { thread.join(limit) } ? thread.value.nil? : false
      ensure
        thread&.kill
      end

      # Ends the statement that an interrupt has left running, if any, and takes what comes of it. Where that can't be done in
      # time, the connection is closed.
      def clear(connection)
        Thread.pipeloader_host_handle_interrupt(UNINTERRUPTED) { cancel_until_clear(connection) if active?(connection) }
      end

      # What may still come on it belongs to nobody: it is ended as a network would end it. ActiveRecord then does what it does
      # with any connection that broke.
      def close(connection)
        connection.socket_io.shutdown
        connection.consume_input until broken?(connection)
      rescue PG::Error, SystemCallError, IOError => e
        raise "#{e.class} (#{e.message}): this is a bug in Pipeloader" unless broken?(connection)
      end

      # True if the server still works on a statement.
      def active?(connection) = connection.transaction_status == PG::PQTRANS_ACTIVE

      def broken?(connection) = connection.finished? || connection.status == PG::CONNECTION_BAD

      private

      def cancel_until_clear(connection)
        deadline = now + CLEARING
        while active?(connection) && (left = deadline - now).positive?
          break unless deliver(connection, left)

          connection.block(EVERY)
          connection.discard_results unless connection.is_busy
        end
        close(connection) if active?(connection)
      rescue PG::Error
        close(connection)
      end

      def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end

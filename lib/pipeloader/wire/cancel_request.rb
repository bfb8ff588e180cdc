# frozen_string_literal: true

module Pipeloader
  # Asks the server to end what runs on a connection. It goes by a connection of its own, which may be as stuck as that one: in
  # a thread, which can be left behind.
  module CancelRequest
    # @param limit [Numeric] seconds
    # @return [Boolean] whether it is known to be over: the server (and PgBouncer, from 1.18 on) ends that connection once the
    #   signal is sent, and a backend that is idle by then forgets it. One on its way would strike what runs next
    def self.deliver(connection, limit)
      # A thread starts with the interrupt mask of the one that makes it, and could never be killed.
      thread = Thread.new { Thread.handle_interrupt(Object => :immediate) { connection.cancel } }
      thread.report_on_exception = false
      thread.join(limit) ? thread.value.nil? : false
    ensure
      thread&.kill
    end
  end
end

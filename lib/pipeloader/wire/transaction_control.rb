# frozen_string_literal: true

module Pipeloader
  # What begins, marks and ends transactions, sent by itself: several SQL texts in one trip.
  module TransactionControl
    # Stands in a Pipeline beside a statement, where that must not end the transaction that is open: what is sent before it, or
    # behind it, under a Sync of its own. Going back to the savepoint succeeds whether the statement has failed or not. After a
    # success, KEEP replaces the savepoint, so that what the statement did, and has locked, stays. In a transaction that has
    # failed before, none of this succeeds, nor does the statement.
    class Savepoint
      SET = ["SAVEPOINT pipeloader_apart"].freeze
      UNDO = ["ROLLBACK TO SAVEPOINT pipeloader_apart", "RELEASE SAVEPOINT pipeloader_apart"].freeze
      NONE = [].freeze
      KEEP = [["RELEASE SAVEPOINT pipeloader_apart", NONE], ["SAVEPOINT pipeloader_apart", NONE]].freeze
      private_constant :SET, :UNDO, :NONE

      # Before the statement.
      def self.set = new(SET)

      # Behind it.
      def self.undo = new(UNDO)

      # Each is sent by itself, without parameters.
      #
      #: () -> Array[String]
      attr_reader :commands

      # As Statement's.
      attr_accessor :expected

      #: (Array[String]) -> void
      def initialize(commands)
        @commands = commands
        @left = commands.size
      end

      ## As a Statement that is in flight

      def reads = NONE
      def rows_next? = false
      def late? = true # nobody waits for it
      def due = nil
      def expects?(result) = @left.positive? && result.result_status != PG::PGRES_TUPLES_OK
      def take(_result) = @left -= 1
      def complete? = @left.zero?
      def complete(_clearing) = nil
      def tell_time(_milliseconds, _times) = nil
    end

    SETTLED = [PG::PQTRANS_IDLE, PG::PQTRANS_INTRANS].freeze
    private_constant :SETTLED

    class << self
      # Interrupts come in while it waits, and at no other time.
      #
      # @return [String, nil] the value that was asked for
      # @raise [PG::Error]
      #
      #: (PG::Connection, Array[String]) -> String?
      def call(connection, texts)
        Thread.pipeloader_host_handle_interrupt(CancelRequest::WHILE_WAITING) do
          CancelRequest.clear(connection)
          connection.send_query(texts.join(";"))
          results = Waiting.outside { results_of(connection) }
          done = true
          results.each(&:check).filter_map { |result| result.getvalue(0, 0) if result.ntuples.positive? }.first
        ensure
          CancelRequest.clear(connection) unless done
        end
      end

      # As #call; where that fails, the connection is closed: nobody would know what is open there.
      def call_or_close(connection, texts)
        value = call(connection, texts)
        known = true
        value
      ensure
        close_unless_over(connection) unless known
      end

      # No interrupt comes in. It succeeds in time, or the connection is closed.
      #
      #: (PG::Connection, Array[String]) -> void
      def settle(connection, texts)
        Thread.pipeloader_host_handle_interrupt(CancelRequest::UNINTERRUPTED) do
          CancelRequest.clear(connection)
          connection.send_query(texts.join(";"))
          connection.block(CancelRequest::CLEARING)
          connection.discard_results unless connection.is_busy
          CancelRequest.close(connection) unless SETTLED.include?(connection.transaction_status)
        end
      rescue PG::Error
        CancelRequest.close(connection) unless CancelRequest.broken?(connection)
      end

      # Leaves no transaction open.
      def close_unless_over(connection)
        CancelRequest.close(connection) unless over?(connection)
      end

      # True if no transaction is open.
      def over?(connection) = CancelRequest.broken?(connection) || connection.transaction_status == PG::PQTRANS_IDLE

      private

      def results_of(connection)
        results = []
        while (result = connection.get_result)
          results << result
        end
        results
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # A read that nothing else can go with (see Parking#alone?): ActiveRecord sends it itself, without a pipeline and a replay.
  # Whoever counts or watches bursts is told of one.
  module LoneRead
    # Stands in for PG::Connection while ActiveRecord executes one.
    class Connection < Replay
      def initialize = super(nil)

      def exec_prepared(name, params) = executed { @connection.exec_prepared(name, params) }
      def exec_params(sql, params) = executed { @connection.exec_params(sql, params) }
      def async_exec(sql) = executed { @connection.async_exec(sql) }

      private

      # Nothing of a statement that was interrupted stays behind.
      def executed
        result = Statement.counted(Waiting.outside { yield })
      ensure
        CancelRequest.clear(@connection) unless result
      end
    end

    class << self
      # Yields for ActiveRecord's own code to take the answer to +read+; if that is a lone one, also to ask for it.
      #
      # @yieldreturn [ActiveRecord::Result]
      def answer(read, fiber, &)
        fiber.response.holding_own(read.adapter, fiber) do
          ahead = fiber.response.read_ahead
          next ask(read, fiber, &) unless ahead

          ahead.around(read, fiber) { ahead.deliver(read, fiber) ? fiber.delivery.of(read, &) : ask(read, fiber, &) }
        end
      end

      private

      def ask(read, fiber, &)
        if lone?(read, fiber)
          result = send_off(read, fiber, &)
          return result if result
        end
        fiber.park(read)
        fiber.delivery.of(read, &)
      end

      # ActiveRecord would prepare a new statement by a round trip of its own, a burst doesn't; and what a transaction or a time
      # limit ends is a burst's to tell.
      def lone?(read, fiber)
        fiber.alone? && read.adapter.open_transactions.zero? && fiber.job&.time_limit.nil? && !fiber.response.surrounds? &&
          (!read.prepared? || !read.adapter.pipeloader_session.statement_name(read.sql).nil?)
      end

      # @return [ActiveRecord::Result, nil] nil where the server, which may be another one (PgBouncer), doesn't know the statement
      def send_off(read, fiber, &)
        read.alone(fiber.response.next_position)
        result = read.adapter.pipeloader_session.distance.measure do
          fiber.openly { fiber.delivery.told(read) { fiber.response.waiting { Burst.watched? ? tell(read, fiber, &) : yield } } }
        end
      rescue ActiveRecord::StatementInvalid => e
        raise unless PG::InvalidSqlStatementName === e.cause

        read.adapter.pipeloader_session.forget_statement(read.sql)
        nil
      ensure
        fiber.response.count(1, 1, 1, result ? result.length : 0)
      end

      # What its subscribers send is none of it.
      def tell(read, fiber, &)
        payload = { connection: read.adapter, position: read.position, reads: [read], statements: 1, answers: [[read.name, 1]],
                    rows: 0, bytes_sent: Statement.new(read, name: ("" if read.prepared?)).bytesize, bytes_received: 0 }
        fiber.delivery.telling(true) do
          ActiveSupport::Notifications.instrument(Burst::EVENT, payload) do
            fiber.delivery.telling(false, &).tap do |result|
              payload[:rows] = result.rows.size
              payload[:bytes_received] = result.rows.sum { |row| row.sum { |cell| cell.to_s.bytesize } }
            end
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, in front of Patches::PostgreSQLReads and behind
    #   Patches::PostgreSQLSettings, once a schema asks for either, or executions are proved
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: what a response sends besides its bursts belongs into its ReadTransaction, too. ActiveRecord
    #   doesn't know of that: its own transactions are a part of it.
    # Falls through when:: the current thread builds no response that has one, and proves none; or has the caller's transaction.
    #
    # Limits: a thread that a resolver starts reads for itself; so does a fiber of a resolver's own where fibers are isolated.
    module PostgreSQLSnapshot
      CANT_WRITE = "A query can't write where its schema has `use Pipeloader, snapshot: true`: write in a mutation, or from a " \
                   "thread or a job, which have connections of their own"
      BY_HAND = "A transaction that is begun or ended by hand would end the snapshot of `use Pipeloader, snapshot: true`: " \
                "use `transaction { … }`"
      ISOLATION = "The snapshot of `use Pipeloader, snapshot: true` is REPEATABLE READ: a query can have no other isolation"
      # The second is also what a hot standby raises where a snapshot is in the way of replication.
      REFUSALS = [PG::ReadOnlySqlTransaction, PG::TRSerializationFailure].freeze
      private_constant :CANT_WRITE, :BY_HAND, :ISOLATION, :REFUSALS

      def with_raw_connection(allow_retry: false, materialize_transactions: true)
        snapshot = pipeloader_unread_snapshot if materialize_transactions
        super do |connection|
          pipeloader_await_end(connection)
          pipeloader_session.read_transaction&.tidy(connection) if pipeloader_session.aside?
          snapshot ? snapshot.within(connection, @pipeloader_logged) { yield connection } : yield(connection)
        end
      end

      def begin_db_transaction(...) = pipeloader_begin_in_snapshot || super

      def begin_isolated_db_transaction(isolation, ...)
        pipeloader_snapshot&.deny(ISOLATION) unless isolation == :repeatable_read

        pipeloader_begin_in_snapshot || super
      end

      def commit_db_transaction(...) = pipeloader_control_in_snapshot(:commit_own) || super
      def exec_rollback_db_transaction(...) = pipeloader_control_in_snapshot(:roll_back_own) || super
      def exec_restart_db_transaction(...) = pipeloader_control_in_snapshot(:restart_own) || super

      # Else the query would go to another connection, from another thread.
      def async_enabled? = super && pipeloader_snapshot.nil?

      # It goes back to its pool; or ActiveRecord refuses that, since it is another thread's.
      def expire(...)
        pipeloader_session.read_transaction&.give_up if @owner.equal?(ActiveSupport::IsolatedExecutionState.context)
        super
      end

      # True if somebody has its PG::Connection, and may use that without ActiveRecord.
      def pipeloader_in_hands? = @raw_connection_dirty

      # A response's COMMIT may be on its way still.
      def pipeloader_idle?
        pipeloader_await_end(@raw_connection)
        super
      end

      def reset!(...)
        pipeloader_await_end(@raw_connection)
        super
      end

      def pipeloader_leave_snapshot
        pipeloader_session.read_transaction = nil
        pipeloader_distrust_if_broken
      end

      private

      def log(sql, ...)
        outer, @pipeloader_logged = @pipeloader_logged, sql
        super
      ensure
        @pipeloader_logged = outer
      end

      # @return [ReadTransaction, nil] that what is sent from here belongs into
      def pipeloader_snapshot
        return if pipeloader_session.aside?

        (ResolverFiber.current&.response || Response.surrounding || ProofSnapshot.current)&.read_transaction(self)
      end

      # @return [ReadTransaction, nil] that the next statement isn't brought into by a burst
      def pipeloader_unread_snapshot
        pipeloader_snapshot unless pipeloader_session.sending? || ResolverFiber.current&.delivery&.untaken?(self)
      end

      def pipeloader_begin_in_snapshot
        snapshot = pipeloader_snapshot or return
        pipeloader_host_with_raw_connection(allow_retry: true, materialize_transactions: false) do |connection|
          pipeloader_await_end(connection)
          snapshot.begin_own(connection, set: pipeloader_session.response&.settings?)
        end
      end

      def pipeloader_control_in_snapshot(change)
        snapshot = pipeloader_snapshot
        return unless snapshot&.own?

        pipeloader_host_with_raw_connection(materialize_transactions: false) { |it| snapshot.public_send(change, it) }
        true
      end

      # Of a response that is over.
      def pipeloader_await_end(connection) = pipeloader_session.read_transaction&.await_end(connection)

      def pipeloader_stay_if_set(sql, **)
        pipeloader_snapshot&.deny(BY_HAND) if SQLText.controls_transactions?(sql)

        super
      end

      def translate_exception(exception, message:, sql:, binds:)
        snapshot = pipeloader_session.read_transaction
        snapshot.spoil if snapshot && REFUSALS.any? { |it| it === exception }
        message = "#{message.rstrip}\n#{CANT_WRITE}" if snapshot && PG::ReadOnlySqlTransaction === exception
        super
      end
    end
  end
end

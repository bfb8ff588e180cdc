# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, in front of Patches::PostgreSQLReads, once a schema has settings
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: a burst brings its Settings along. What else a response sends (writes, reads that can't park or
    #   aren't on its fibers) needs them, too: in a transaction, which is begun with them. What would go without is refused.
    # Falls through when:: the current thread builds no response with Settings.
    #
    # Limits: a thread that a resolver starts works for itself, without them; so does a fiber of a resolver's own where fibers are
    # isolated, and the callable. ActiveRecord looks at tables without them.
    module PostgreSQLSettings
      RAW = "`raw_connection` doesn't have the settings of `use Pipeloader, settings:` here: use it in a `transaction { … }` " \
            "of the resolver's own"
      BY_HAND = "In a transaction that is begun or ended by hand, the settings of `use Pipeloader, settings:` get lost: " \
                "use `transaction { … }`"
      private_constant :RAW, :BY_HAND

      def with_raw_connection(allow_retry: false, materialize_transactions: true)
        return super unless materialize_transactions && (response = pipeloader_unset_response)

        settings = response.settings
        return transaction { with_raw_connection(allow_retry: allow_retry) { |it| yield it } } unless transaction_open?

        own = response.meet(self).zero?
        super do |connection|
          raise SettingsError, BY_HAND if connection.transaction_status == PG::PQTRANS_IDLE

          own ? yield(connection) : settings.within(connection) { yield connection }
        end
      end

      def begin_db_transaction(...) = pipeloader_begin { super }
      def begin_isolated_db_transaction(...) = pipeloader_begin { super }
      def exec_restart_db_transaction(...) = pipeloader_begin { pipeloader_control { super } }

      def commit_db_transaction(...) = pipeloader_control { super }
      def exec_rollback_db_transaction(...) = pipeloader_control { super }
      def create_savepoint(...) = pipeloader_control { super }
      def release_savepoint(...) = pipeloader_control { super }
      def exec_rollback_to_savepoint(...) = pipeloader_control { super }

      def raw_connection
        response = pipeloader_unset_response
        raise SettingsError, RAW unless response.nil? || (response.meet(self).zero? && transaction_open?)

        super
      end

      # Yields where +settings+ hold, which a response had that may be over.
      def pipeloader_under(settings, &block)
        return yield if pipeloader_response

        transaction { uncached { pipeloader_host_with_raw_connection { |it| settings.within(it, &block) } } }
      end

      # Else the query would go to another connection, from another thread.
      def async_enabled? = super && !pipeloader_response&.settings?

      private

      # @return [Response, Prologue, nil] that this works for, if it has Settings
      def pipeloader_response
        return if pipeloader_session.aside?

        response = ResolverFiber.current&.response || Response.surrounding || Prologue.current
        response if response&.settings?
      end

      # @return [Response, nil] whose Settings the next statement doesn't bring along
      def pipeloader_unset_response
        return if @pipeloader_controls || pipeloader_session.sending? || ResolverFiber.current&.delivery&.untaken?(self)

        pipeloader_response
      end

      # Yields to begin a transaction. One that the response has found open is its owner's.
      def pipeloader_begin
        response = pipeloader_response
        settings = response.settings if response&.meet(self)&.zero?
        return yield unless settings

        begin
          yield
          pipeloader_host_with_raw_connection(materialize_transactions: false) { |it| settings.begin_on(it) }
          begun = true
        ensure
          pipeloader_give_up_transaction unless begun
        end
      end

      # Ends a transaction that was being begun: ActiveRecord doesn't know of it.
      def pipeloader_give_up_transaction
        Settings.give_up(@raw_connection) if @raw_connection
        pipeloader_distrust_if_broken
      end

      # Yields to send what only controls transactions. What was asked for before goes first, and has its Settings.
      def pipeloader_control
        pipeloader_catch_up(ResolverFiber.current) unless @pipeloader_controls || pipeloader_session.sending?
        outer, @pipeloader_controls = @pipeloader_controls, true
        yield
      ensure
        @pipeloader_controls = outer
      end

      def pipeloader_stay_if_set(sql, **)
        raise SettingsError, BY_HAND if pipeloader_response && SQLText.controls_transactions?(sql)

        super
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, beside Patches::PostgreSQLReads
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: transactions and settings are the whole connection's, and so every fiber's: while a resolver
    #   has one of its own open, no other fiber may go on. And a server session has its own prepared statements.
    # Falls through when:: the current fiber is not a resolver's; otherwise, too, every call is ActiveRecord's own.
    module PostgreSQLSession
      # Pipeloader's state for this connection.
      #
      #: () -> Session
      def pipeloader_session = @pipeloader_session ||= Session.new(self)

      def pipeloader_statements = @statements

      def pipeloader_statement_key(sql) = sql_key(sql)

      # True if nothing can be prepared or dropped now.
      def pipeloader_takes_no_statement? = @raw_connection.nil? || @raw_connection.transaction_status == PG::PQTRANS_INERROR

      # True if a transaction is open on it that has failed, or went with its connection.
      def pipeloader_aborted? = transaction_open? && (@raw_connection&.finished? || pipeloader_takes_no_statement?)

      # True if nothing runs on it, is open there, or waits to be read.
      def pipeloader_idle?
        !@raw_connection.nil? && open_transactions.zero? && @raw_connection.transaction_status == PG::PQTRANS_IDLE &&
          @raw_connection.pipeline_status == PG::PQ_PIPELINE_OFF
      end

      # True if any connection of its pool would answer the same.
      def pipeloader_alike? = pipeloader_session.alike? && pipeloader_idle?

      # ActiveRecord runs callbacks of a commit with the connection's lock held, when the transaction is over already.
      def transaction(...)
        unless (fiber = ResolverFiber.current)
          Attempt.written
          return super
        end

        fiber.response.meet(self)
        pipeloader_catch_up(fiber) # while that can be done again
        Attempt.written
        fiber.without_parking { super }
      end

      def commit_transaction(...) = ResolverFiber.at_once { super }
      def rollback_transaction(...) = ResolverFiber.at_once { super }

      def begin_transaction(...)
        pipeloader_catch_up(ResolverFiber.current)
        Attempt.written
        super
      end

      # By hand, as `execute("BEGIN")`, where ActiveRecord has none open.
      def begin_db_transaction(...)
        pipeloader_begin_by_hand
        super
      end

      def begin_isolated_db_transaction(...)
        pipeloader_begin_by_hand
        super
      end

      # To the server, COMMIT of a transaction that was aborted is no error; and where ActiveRecord knows that its connection
      # broke, it has COMMIT sent by a new one, which has nothing to commit. Since it was us who ended it, that is to be heard.
      def commit_db_transaction
        pipeloader_ask_transaction if pipeloader_session.cut_short?
        super
      end

      # A resolver's settings of the session (a tenant's search_path, say) are its own until it sets them back: a fiber that went
      # on meanwhile would read with it.
      def execute(sql, ...)
        pipeloader_stay_if_set(sql, called: true) ? Attempt.looking { super } : super
      end

      def exec_query(sql, ...)
        pipeloader_stay_if_set(sql, called: true) ? Attempt.looking { super } : super
      end

      # `update("SET …")`
      def exec_update(sql, ...)
        pipeloader_stay_if_set(sql, called: true) ? Attempt.looking { super } : super
      end

      # `query_value`, `query_values`
      def query(sql, name = nil, **)
        ResolverFiber.current&.await_turn_to_act unless name == "SCHEMA"
        pipeloader_stay_if_set(sql, called: name != "SCHEMA")
        name == "SCHEMA" ? Attempt.looking { super } : super
      end

      # By these, and by #column_definitions, a model looks at its table when it is first used.
      def data_sources(...) = pipeloader_look { super }
      def data_source_exists?(...) = pipeloader_look { super }
      def primary_keys(...) = pipeloader_look { super }

      # Nobody sees what is done with it.
      def raw_connection
        ResolverFiber.current&.act_alone
        super
      end

      # These two send their SET by a method of ActiveRecord's own.
      def schema_search_path=(path)
        pipeloader_stay_to_set("search_path")
        Attempt.looking { super }
      end

      def session_auth=(user)
        pipeloader_stay_to_set("session_authorization")
        Attempt.looking { super }
      end

      # @return [String, nil, :unknown] a setting of the session; nil where there is none; :unknown where nobody can ask
      def pipeloader_setting(name) = pipeloader_told("SELECT current_setting(#{quote(name)}, true)")

      # @return [String, nil, :unknown] what it is by default
      def pipeloader_default(name) = pipeloader_told("SELECT reset_val FROM pg_settings WHERE lower(name) = #{quote(name)}")

      # @param value [String, nil] of #pipeloader_setting
      def pipeloader_set(name, value)
        sql = value.nil? ? "RESET #{name}" : "SELECT set_config(#{quote(name)}, #{quote(value)}, false)"
        pipeloader_aside { execute(sql, "SCHEMA") }
        @schema_search_path = value if name == "search_path"
      end

      # True if code on this thread works with it, nothing runs on it, and no transaction that has failed is open.
      def pipeloader_answers?
        connection = @raw_connection
        return false unless ActiveRecord::ConnectionAdapters::ConnectionPool === pool && pool.active_connection?.equal?(self)

        !connection.nil? && !connection.finished? &&
          [PG::PQTRANS_IDLE, PG::PQTRANS_INTRANS].include?(connection.transaction_status)
      end

      # As above, and no transaction is open.
      def pipeloader_settles? = pipeloader_answers? && pipeloader_idle?

      # These three, too, are seen by what is asked for after them alone.
      def reset!(...)
        pipeloader_send_gathered_if_idle
        super
      end

      def reconnect!(...)
        pipeloader_send_gathered_if_idle
        super
      end

      def disconnect!(...)
        pipeloader_send_gathered_if_idle
        super
      end

      private

      # A connection that is being set up (search_path, time zone, types) is none yet: what is gathered for it waits, and
      # nothing parks.
      def configure_connection
        pipeloader_session.reset
        pipeloader_aside { super }
      end

      def column_definitions(...) = pipeloader_look { super }

      # Yields to look at a table. That writes nothing, so what is gathered waits; but in a transaction it may fail.
      def pipeloader_look(&) = transaction_open? ? yield : pipeloader_aside(&)

      def pipeloader_aside(&) = ResolverFiber.as(nil) { pipeloader_session.set_aside { Attempt.looking(&) } }

      # A read that has its answer needs no name any more, if that was evicted since, or is another connection's (Lane); in a
      # transaction that has failed, or without a connection, it can get none. ActiveRecord's event wants one.
      def prepare_statement(sql, binds, connection)
        return super unless Replay === connection && connection.executed?

        @statements[sql_key(sql)] || connection.statement_name || @statements.next_key
      end

      # A write may be coming: what was asked for before it is read first.
      def pipeloader_catch_up(fiber)
        fiber&.catch_up
        @pipeloader_session&.send_gathered
      end

      # In ActiveRecord's own `transaction` nobody parks.
      def pipeloader_begin_by_hand
        fiber = ResolverFiber.current
        fiber.act_alone if fiber&.parks? && open_transactions.zero?
      end

      # @param called [Boolean] whether it's no read to ActiveRecord: then nobody knows what a function of the application's does
      # @return [Boolean] whether it does nothing but set what can be put back
      def pipeloader_stay_if_set(sql, called: false)
        return false unless (fiber = ResolverFiber.current)
        return false unless SQLText.sets?(sql) || (called && sql && SQLText.effect_on_session(sql) == :changes)

        fiber.act_alone.note(sql, self)
        LeftSettings.alone?(sql).tap { |alone| Attempt.set if alone }
      end

      def pipeloader_stay_to_set(name)
        ResolverFiber.current&.act_alone&.keep(name, self)
        Attempt.set
      end

      # @return what +sql+ says of a setting; :unknown where nobody can ask
      def pipeloader_told(sql)
        pipeloader_answers? ? pipeloader_aside { query_value(sql, "SCHEMA") } : :unknown
      rescue ActiveRecord::ActiveRecordError
        :unknown # whoever asks next is told why
      end

      # @raise [ActiveRecord::StatementInvalid] if the transaction that Pipeloader cut short isn't there any more
      def pipeloader_ask_transaction
        pipeloader_session.cut_short = false
        @verified = true # no other connection can tell
        execute("SELECT", "TRANSACTION")
      end

      # ActiveRecord reconnects by itself, too, where the connection broke.
      def pipeloader_send_gathered_if_idle
        return unless ResolverFiber.current && @raw_connection

        idle = [PG::PQTRANS_IDLE, PG::PQTRANS_INTRANS].include?(@raw_connection.transaction_status)
        pipeloader_session.send_gathered if idle && @raw_connection.pipeline_status == PG::PQ_PIPELINE_OFF
      end
    end
  end
end

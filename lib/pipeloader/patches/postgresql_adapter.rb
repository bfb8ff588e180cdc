# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::PostgreSQLAdapter
    # Since:: ActiveRecord 7.2 (Rails main has QueryIntent instead, and will need a file of its own)
    # Why no public seam does it:: `load_async` answers only callers that can wait; `find`, `count` and an association's
    #   reader want their rows at once. Every read of a model, relation or association passes `select_all`, before any
    #   lock of ActiveRecord's is taken or event opened; nothing further down can say the same.
    # Falls through when:: the current fiber is not a resolver's; `async:` reads; schema reads; what may write, holds
    #   several statements, or is answered by the query cache; inside a transaction that a resolver opened.
    #
    # *Replay*: the fiber parks in `select_all`; when its burst has brought the result, ActiveRecord's own code runs from
    # the top, and the connection that `with_raw_connection` yields is a Replay.
    module PostgreSQLAdapter
      # The Bursts that are being gathered for this connection, in the order of their levels; nil if none is. (One that was
      # too much for once, or was interrupted, still has reads to be sent when the next is begun.)
      attr_reader :pipeloader_gathering

      def pipeloader_gather(burst)
        (@pipeloader_gathering ||= []) << burst unless @pipeloader_gathering&.include?(burst)
      end

      def pipeloader_gathered(burst)
        @pipeloader_gathering&.delete(burst)
        @pipeloader_gathering = nil if @pipeloader_gathering == []
      end

      def pipeloader_result_sizes = pipeloader_learned.sizes

      # `super` with keywords allocates an object each time (its call information, Ruby 3.1 to 3.3), an alias doesn't:
      # outside of a response a read must cost what it did.
      def self.prepend_features(adapter_class)
        adapter_class.alias_method(:pipeloader_host_select_all, :select_all)
        adapter_class.alias_method(:pipeloader_host_with_raw_connection, :with_raw_connection)
        adapter_class.alias_method(:pipeloader_host_select, :select)
        super
      end

      # Plain SELECTs, VALUES and the like. A WITH that writes isn't one; and in the extended protocol, the only one
      # that a pipeline has, there are no several statements in one string.
      PLAIN = %r{\A(?:[\s(]|/\*.*?\*/|--[^\n]*\n)*(?:select|values|table|with\b(?!.*\b(?:insert|update|delete|merge)\b))}mi
      QUOTED = /'(?:[^']|'')*'|"(?:[^"]|"")*"/

      # What changes the session, or opens a transaction that ActiveRecord knows nothing of.
      SETS = %r{(?:\A|;)(?:\s|/\*.*?\*/|--[^\n]*\n)*(?:set|reset|discard|do|begin|start)\b}mi
      SETS_BY_FUNCTION = /\b(?:set_config|setseed|pg_(?:try_)?advisory_lock(?:_shared)?)\s*\(/i
      private_constant :PLAIN, :QUOTED, :SETS, :SETS_BY_FUNCTION

      # ActiveRecord 7.2 prepares no statement without binds; later ones do.
      PREPARES_WITHOUT_BINDS = !ActiveRecord::ConnectionAdapters::AbstractAdapter
                                .private_method_defined?(:without_prepared_statement?)
      private_constant :PREPARES_WITHOUT_BINDS

      # (As ActiveRecord 7.2 does.)
      LOGS_STATEMENT_NAME = ActiveRecord::ConnectionAdapters::AbstractAdapter.instance_method(:log).parameters
                                                                             .include?(%i[opt statement_name])
      private_constant :LOGS_STATEMENT_NAME

      # How many Shapes are kept.
      SHAPES = 1000
      private_constant :SHAPES

      def select_all(arel, name = nil, binds = [], preparable: nil, async: false, allow_retry: false)
        fiber = Thread.current[ResolverFiber::KEY]
        if fiber.nil? && (burst = pipeloader_gathered_here)
          return ResolverFiber.stand_by(burst) do
            select_all(arel, name, binds, preparable: preparable, async: async, allow_retry: allow_retry)
          end
        end
        fiber&.response&.meet(self)
        return fiber.take(arel) if fiber.is_a?(Sketch) && name != "SCHEMA"

        if fiber.nil? || async || name == "SCHEMA" || fiber.response.in_new_transaction? || ActiveRecord.db_warnings_action
          return pipeloader_host_select_all(arel, name, binds, preparable: preparable, async: async, allow_retry: allow_retry)
        end

        arel = arel_from_relation(arel)
        compiled = pipeloader_compile(arel, binds, preparable, allow_retry)
        return super unless compiled

        sql, binds, preparable, allow_retry, params = compiled
        locked = arel.respond_to?(:locked) && arel.locked
        unless (locked || !pipeloader_query_cached?(sql, binds)) && pipeloader_plain?(sql)
          return super(sql, name, binds, preparable: preparable, allow_retry: allow_retry)
        end

        read = pipeloader_read(sql, name, binds, params, preparable, allow_retry, locked)
        fiber.park_no_more if !read.pure? && SETS_BY_FUNCTION.match?(sql)
        fiber.park(read)
        fiber.replay(read) do
          # ActiveRecord keeps a locking read out of the query cache by looking at its Arel.
          super(locked ? arel : sql, name, locked ? [] : binds, preparable: preparable, allow_retry: allow_retry)
        end
      end

      # As select_all, for an AssociationRead.
      #
      # @param keys [Array] its owner's
      # @return [ActiveRecord::Result, nil] nil where select_all wouldn't park
      def pipeloader_select(template, keys, fiber)
        fiber.response.meet(self)
        return if fiber.response.in_new_transaction? || ActiveRecord.db_warnings_action

        binds, params = template.bind(keys, self)
        return if binds.nil? || pipeloader_query_cached?(template.sql, binds)

        preparable, allow_retry = template.preparable, template.allow_retry
        read = pipeloader_read(template.sql, template.name, binds, params, preparable, allow_retry, false)
        fiber.park(read)
        fiber.replay(read) do
          slice = fiber.slice_to_replay unless query_cache_enabled
          next pipeloader_take(fiber.take_replay, slice, allow_retry) if slice&.exemplar

          pipeloader_host_select_all(template.sql, template.name, binds, preparable: preparable, allow_retry: allow_retry)
        end
      end

      # @return [Array] its SQL, its binds, and whether it may be prepared and sent twice
      def pipeloader_sql_of(relation) = to_sql_and_binds(relation.arel)

      # Whether select_all would park, as far as SQL tells.
      def pipeloader_parks?(sql) = pipeloader_plain?(sql) && !SETS_BY_FUNCTION.match?(sql)

      # Hands the burst's result over, once; anything else that goes to the server lets the gathered reads go first: a
      # write must not be seen by what was asked for before it.
      def with_raw_connection(allow_retry: false, materialize_transactions: true, &block)
        fiber = Thread.current[ResolverFiber::KEY]
        fiber&.response&.meet(self)
        if (read = fiber&.take_replay)
          failure = read.failure
          raise failure if failure

          pipeloader_replay(Replay.new(read), allow_retry, materialize_transactions, &block)
        else
          # Without a transaction go quoting, schema reads and BEGIN itself (see #transaction): no write to be seen.
          @pipeloader_sending ? pipeloader_send_gathered : pipeloader_catch_up(fiber) if materialize_transactions
          pipeloader_host_with_raw_connection(
            allow_retry: allow_retry, materialize_transactions: materialize_transactions, &block
          )
        end
      end

      # ActiveRecord runs callbacks of a commit with the connection's lock held, when the transaction is over already.
      def transaction(...)
        return super unless (fiber = ResolverFiber.current)

        fiber.response.meet(self)
        pipeloader_catch_up(fiber)
        fiber.without_parking { super }
      end

      def commit_transaction(...) = Pipeloader.without_parking { super }
      def rollback_transaction(...) = Pipeloader.without_parking { super }

      # What a resolver sets in the session (a tenant's search_path, say) is for itself, until it sets it back: whoever went
      # on meanwhile would read with it.
      def execute(sql, ...)
        pipeloader_stay_if_set(sql)
        super
      end

      def exec_query(sql, ...)
        pipeloader_stay_if_set(sql)
        super
      end

      # `update("SET …")`
      def exec_update(sql, ...)
        pipeloader_stay_if_set(sql)
        super
      end

      # `query_value`, `query_values`
      def query(sql, ...)
        pipeloader_stay_if_set(sql)
        super
      end

      # What is done with it, nobody sees.
      def raw_connection
        ResolverFiber.current&.park_no_more
        super
      end

      def schema_search_path=(path)
        ResolverFiber.current&.park_no_more
        super
      end

      def begin_transaction(...)
        pipeloader_catch_up(ResolverFiber.current)
        super
      end

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

      # Reads that +response+ has gathered and never sent: it has ended by an exception.
      def pipeloader_abandon(response)
        @pipeloader_gathering&.reject! { |burst| burst.response.equal?(response) }
        @pipeloader_gathering = nil if @pipeloader_gathering == []
      end

      # Whether all threads are given this connection, in a transaction of its own: a test suite's. ActiveRecord before 7.2.3
      # and 8.0.3 keeps that in the pool alone.
      if ActiveRecord::ConnectionAdapters::AbstractAdapter.method_defined?(:pinned)
        def pipeloader_pinned? = pinned
      else
        def pipeloader_pinned? = pool.instance_variable_get(:@pinned_connection).equal?(self)
      end

      # The connection for a burst, as ActiveRecord gives it to a statement of its own: connected, its transaction begun.
      def pipeloader_connection(allow_retry:)
        @instrumenter = AnnotatedInstrumenter.new(@instrumenter) if @instrumenter && !pipeloader_annotated?
        update_typemap_for_default_timezone
        pipeloader_send do
          with_raw_connection(allow_retry: allow_retry) do |connection|
            pipeloader_drop_surplus(connection) if @pipeloader_surplus
            result = yield connection
            verified!
            result
          end
        end
      ensure
        pipeloader_distrust_if_broken
      end

      # As far as that without a statement of ours.
      def pipeloader_ready(allow_retry:) = pipeloader_send { with_raw_connection(allow_retry: allow_retry) { nil } }

      # A burst inside a transaction had to be ended: by a cancel request, which ends the transaction, too, or with the
      # connection.
      def pipeloader_cut_short
        @pipeloader_cut_short = true
      end

      # To the server, COMMIT of a transaction that was aborted is no error; and where ActiveRecord knows that its connection
      # broke, it has COMMIT sent by a new one, which has nothing to commit. Since it was us who ended it, that is to be heard.
      def commit_db_transaction
        pipeloader_ask_transaction if @pipeloader_cut_short
        super
      end

      # Name under which the server knows +sql+, if it does.
      def pipeloader_statement_name(sql) = @statements[sql_key(sql)]

      def pipeloader_next_statement_name = @statements.next_key

      # May evict another name, by a statement of its own. In a transaction that has failed the server would refuse that, and know
      # the name for good: then the new one is dropped, when that is possible.
      def pipeloader_register_statement(sql, name)
        return (@pipeloader_surplus ||= []) << name if pipeloader_pool_full? && pipeloader_takes_no_statement?

        @statements[sql_key(sql)] = name
      end

      def pipeloader_forget_statement(sql)
        @statements.delete(sql_key(sql)) if @statements.key?(sql_key(sql))
      end

      # The Shape of +sql+, if the server has told what it takes, prepared as +name+. (Without a name it is asked again in any
      # case: then another connection's will do.)
      def pipeloader_shape(sql, name)
        known = @pipeloader_shapes&.[](sql_key(sql))
        return known if known && known.name == name

        name.nil? && (guess = pipeloader_guess(sql, nil)) && pipeloader_keep_shape(guess)
      end

      # The Shape of +sql+, if it's what another connection's server has told.
      def pipeloader_guess(sql, name)
        description = pipeloader_learned[sql_key(sql)]
        Shape.new(sql, name, description, pipeloader_array_types) if description
      end

      # {OID => OID of its array}, of types that aren't PostgreSQL's own
      def pipeloader_array_types = @pipeloader_array_types ||= {}

      # @param statement [Statement] which was described
      def pipeloader_learn_shape(statement)
        sql = statement.described_sql || statement.sql
        name = statement.name unless statement.described_sql
        pipeloader_learned.learn(sql_key(sql), statement.description)
        description = statement.description || Shape::UNKNOWN
        expected = statement.shape if statement.shape&.description == description
        pipeloader_keep_shape(expected || Shape.new(sql, name, description, pipeloader_array_types))
      end

      private

      def pipeloader_learned = Learned.of(pool)

      def pipeloader_keep_shape(shape)
        @pipeloader_shapes = {} if @pipeloader_shapes.nil? || @pipeloader_shapes.size >= SHAPES
        @pipeloader_shapes[sql_key(shape.sql)] = shape
      end

      # A connection that is being set up (search_path, time zone, types) is none yet: what is gathered for it waits, and
      # nothing parks.
      def configure_connection
        fiber, Thread.current[ResolverFiber::KEY] = ResolverFiber.current, nil
        gathering, @pipeloader_gathering = @pipeloader_gathering, nil
        @pipeloader_cut_short = false
        @pipeloader_shapes = @pipeloader_array_types = @pipeloader_surplus = nil
        super
      ensure
        Thread.current[ResolverFiber::KEY] = fiber
        @pipeloader_gathering = gathering
      end

      # A read that has its answer needs no name any more, if that was evicted since; in a transaction that has failed, or
      # without a connection, it can get none. (ActiveRecord's event wants one.)
      def prepare_statement(sql, binds, connection)
        answered = Replay === connection && pipeloader_takes_no_statement? && connection.executed? # rubocop:disable Style/CaseEquality
        return super unless answered

        @statements[sql_key(sql)] || connection.statement_name || @statements.next_key
      end

      def pipeloader_pool_full? = @statements.length >= @statements.instance_variable_get(:@statement_limit)

      def pipeloader_takes_no_statement? = @raw_connection.nil? || @raw_connection.transaction_status == PG::PQTRANS_INERROR

      def pipeloader_drop_surplus(connection)
        return if pipeloader_takes_no_statement?

        names, @pipeloader_surplus = @pipeloader_surplus, nil
        connection.query(names.map { |name| "DEALLOCATE #{name}" }.join("; "))
      rescue PG::Error # as ActiveRecord's pool does
        nil
      end

      def pipeloader_stay_if_set(sql)
        fiber = ResolverFiber.current
        fiber.park_no_more if fiber && (SETS.match?(sql) || SETS_BY_FUNCTION.match?(sql))
      end

      # @raise if it isn't there any more
      def pipeloader_ask_transaction
        @pipeloader_cut_short = false
        @verified = true # no other connection can tell
        execute("SELECT", "TRANSACTION")
      end

      # (ActiveRecord reconnects by itself, too, where the connection broke.)
      def pipeloader_send_gathered_if_idle
        return unless ResolverFiber.current && @raw_connection

        idle = [PG::PQTRANS_IDLE, PG::PQTRANS_INTRANS].include?(@raw_connection.transaction_status)
        pipeloader_send_gathered if idle && @raw_connection.pipeline_status == PG::PQ_PIPELINE_OFF
      end

      def pipeloader_replay(replay, allow_retry, materialize_transactions)
        pipeloader_host_with_raw_connection(
          allow_retry: allow_retry, materialize_transactions: materialize_transactions
        ) { |connection| yield replay.over(connection) }
      rescue ActiveRecord::ConnectionNotEstablished
        raise unless @raw_connection.nil? && replay.in_hand?

        yield replay.over(nil)
      ensure
        # ActiveRecord takes what it got for a sign of life; but the connection may have died after that read.
        pipeloader_distrust_if_broken
      end

      def pipeloader_distrust_if_broken
        @verified = @last_activity = nil unless @raw_connection&.status == PG::CONNECTION_OK
      end

      # What is left of a read where the query cache doesn't have it. ActiveRecord's own code runs for one part of a Coalesced;
      # of the others there is nothing left to do, but to say so.
      def select(sql, name = nil, binds = [], prepare: false, async: false, allow_retry: false)
        fiber = Thread.current[ResolverFiber::KEY]
        slice = fiber&.slice_to_replay
        return pipeloader_take(fiber.take_replay, slice, allow_retry) if slice&.exemplar

        result = pipeloader_host_select(sql, name, binds, prepare: prepare, async: async, allow_retry: allow_retry)
        # (To ActiveRecord 8 a result without columns is one without rows.)
        slice.exemplar = Exemplar.new(result) if slice && !result.columns.empty? && !write_query?(sql)
        result
      end

      # The event is ActiveRecord's, too.
      def pipeloader_take(read, slice, allow_retry)
        statement_name = read.statement.name
        log(read.sql, read.name, read.binds, read.params, *(statement_name if LOGS_STATEMENT_NAME)) do |payload|
          payload[:statement_name] = statement_name if statement_name
          payload[:allow_retry] = allow_retry if payload.key?(:allow_retry)
          payload[:affected_rows] = slice.cmd_tuples if payload.key?(:affected_rows)
          payload[:row_count] = slice.ntuples
          slice.exemplar.result_of(slice)
        end
      end

      # @return [Array, nil] as to_sql_and_binds, and the binds' values; nil where ActiveRecord has an answer of its own to a
      #   bind out of range
      def pipeloader_compile(arel, binds, preparable, allow_retry)
        to_sql_and_binds(arel, binds, preparable, allow_retry).tap { |compiled| compiled << type_casted_binds(compiled[1]) }
      rescue ::RangeError
        nil
      end

      def pipeloader_read(sql, name, binds, params, preparable, allow_retry, locked) # rubocop:disable Metrics/ParameterLists
        Read.new(
          adapter: self, text: sql, name: name, binds: binds, params: params, preparable: preparable,
          sql: ActiveRecord.query_transformers.empty? ? sql : pipeloader_transform(sql),
          prepared: prepared_statements && preparable && (PREPARES_WITHOUT_BINDS || binds.any?),
          retryable: allow_retry, cached_as_of: (query_cache.pipeloader_clears if query_cache_enabled && !locked)
        )
      end

      # A result from before a write must not be found by those who ask after it: the write has cleared the cache by the time at
      # which its fiber goes on.
      def cache_sql(sql, name, binds)
        return yield if Thread.current[ResolverFiber::KEY]&.replays_outdated?(query_cache)

        super
      end

      def pipeloader_transform(sql)
        ActiveRecord.query_transformers.inject(sql) { |text, transformer| transformer.call(text, self) }
      end

      def pipeloader_plain?(sql)
        PLAIN.match?(sql) && pipeloader_one_statement?(sql)
      rescue ArgumentError # invalid encoding: ActiveRecord's error
        false
      end

      # A semicolon in a literal is none; where backslashes could quote a quote, nothing is sure.
      def pipeloader_one_statement?(sql)
        !sql.include?(";") || (!sql.include?("\\") && !sql.gsub(QUOTED, "").rstrip.delete_suffix(";").include?(";"))
      end

      def pipeloader_query_cached?(sql, binds)
        query_cache_enabled && @lock.synchronize { query_cache[binds.empty? ? sql : [sql, binds]] }
      end

      # A write is coming, or what may be one.
      def pipeloader_catch_up(fiber)
        fiber&.catch_up
        pipeloader_send_gathered
      end

      # What the block sends is a level's.
      def pipeloader_send
        sending, @pipeloader_sending = @pipeloader_sending, true
        yield
      ensure
        @pipeloader_sending = sending
      end

      def pipeloader_send_gathered
        while (burst = pipeloader_gathered_here)
          Burst.run([burst])
        end
      end

      def pipeloader_gathered_here = @pipeloader_gathering&.find(&:gathered_here?)

      # ActiveRecord 7.2 keeps an instrumenter per connection, later ones ask this method.
      def instrumenter
        ResolverFiber.current ? AnnotatedInstrumenter.new(super) : super
      end

      def pipeloader_annotated? = AnnotatedInstrumenter === @instrumenter # rubocop:disable Style/CaseEquality
    end
  end
end

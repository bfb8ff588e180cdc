# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::ConnectionAdapters::PostgreSQLAdapter
    # Since:: ActiveRecord 7.2 (Rails main has QueryIntent instead, and will need a file of its own)
    # Why no public seam does it:: `load_async` answers only callers that can wait; `find`, `count` and an association's
    #   reader want their rows at once. Every read of a model, relation or association passes `select_all`, before any
    #   lock of ActiveRecord's is taken or event opened; nothing further down can say the same.
    # Falls through when:: the current fiber is not a resolver's; `async:` reads; schema reads; what may write, holds
    #   several statements, has not as many parameters as values, or is answered by the query cache; inside a transaction that
    #   a resolver opened.
    #
    # *Replay*: the fiber parks in `select_all`; when its burst has brought the result, ActiveRecord's own code runs from
    # the top, and the connection that `with_raw_connection` yields is a Replay.
    module PostgreSQLReads
      # `super` with keywords allocates an object each time (its call information, Ruby 3.1 to 3.3), an alias doesn't:
      # outside of a response a read must cost what it did.
      def self.prepend_features(adapter_class)
        adapter_class.alias_method(:pipeloader_host_select_all, :select_all)
        adapter_class.alias_method(:pipeloader_host_with_raw_connection, :with_raw_connection)
        adapter_class.alias_method(:pipeloader_host_select, :select)
        super
      end

      # ActiveRecord 7.2 prepares no statement without binds; later ones do.
      PREPARES_WITHOUT_BINDS = !ActiveRecord::ConnectionAdapters::AbstractAdapter
                                .private_method_defined?(:without_prepared_statement?)
      private_constant :PREPARES_WITHOUT_BINDS

      # As ActiveRecord 7.2 does.
      LOGS_STATEMENT_NAME = ActiveRecord::ConnectionAdapters::AbstractAdapter.instance_method(:log).parameters
                                                                             .include?(%i[opt statement_name])
      private_constant :LOGS_STATEMENT_NAME

      def select_all(arel, name = nil, binds = [], preparable: nil, async: false, allow_retry: false)
        fiber = Thread.current[ResolverFiber::KEY]
        if fiber.nil? && (burst = @pipeloader_session&.gathered_here)
          return ResolverFiber.stand_by(burst) do
            select_all(arel, name, binds, preparable: preparable, async: async, allow_retry: allow_retry)
          end
        end
        fiber ? fiber.response&.meet(self) : PlainReads.count
        return fiber.take(arel) if fiber&.dry? && name != "SCHEMA"

        if fiber.nil? || async || name == "SCHEMA" || fiber.response.in_new_transaction? || ActiveRecord.db_warnings_action
          return pipeloader_host_select_all(arel, name, binds, preparable: preparable, async: async, allow_retry: allow_retry)
        end

        arel = arel_from_relation(arel)
        compiled = pipeloader_compile(arel, binds, preparable, allow_retry)
        return super unless compiled

        sql, binds, preparable, allow_retry, params = compiled
        locked = arel.respond_to?(:locked) && arel.locked
        unless (locked || !pipeloader_query_cached?(sql, binds)) && SQLText.plain?(sql) && SQLText.takes?(sql, params.size)
          return super(sql, name, binds, preparable: preparable, allow_retry: allow_retry)
        end

        read = pipeloader_read(sql, name, binds, params, preparable, allow_retry, locked)
        pipeloader_call(sql, fiber) unless read.pure?
        LoneRead.answer(read, fiber) do
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
        LoneRead.answer(read, fiber) do
          slice = fiber.delivery.slice(self) unless query_cache_enabled
          next pipeloader_take(fiber.delivery.take(self), slice, allow_retry) if slice&.template

          pipeloader_host_select_all(template.sql, template.name, binds, preparable: preparable, allow_retry: allow_retry)
        end
      end

      # @return [Read] that nobody has asked for yet
      def pipeloader_read_ahead(sql, name, params, preparable)
        pipeloader_read(sql, name, params, params, preparable, true, true)
      end

      # @return [Read] that goes along with another, and nobody parks for
      def pipeloader_read_along(sql, name, binds, preparable)
        pipeloader_read(sql, name, binds, type_casted_binds(binds), preparable, true, true)
      end

      # @param read [Read] of #pipeloader_read_along, which was answered
      # @return [ActiveRecord::Result] as ActiveRecord makes it of what came
      def pipeloader_brought(read)
        Thread.current[ResolverFiber::KEY].delivery.of(read) do
          pipeloader_host_select(read.text, read.name, read.binds, prepare: read.prepared?, allow_retry: true)
        end
      end

      # @return [Array] its SQL, its binds, and whether it may be prepared and sent twice
      def pipeloader_sql_of(relation) = to_sql_and_binds(relation.arel)

      # True if select_all would park, as far as SQL tells.
      def pipeloader_parks?(sql, values) = SQLText.plain?(sql) && SQLText.takes?(sql, values) && !SQLText.sets_by_function?(sql)

      # Hands the burst's result over, once; anything else that goes to the server lets the gathered reads go first: a
      # write must not be seen by what was asked for before it.
      def with_raw_connection(allow_retry: false, materialize_transactions: true, &block)
        fiber = Thread.current[ResolverFiber::KEY]
        fiber&.response&.meet(self)
        delivery = fiber&.delivery if materialize_transactions # else ActiveRecord quotes, and is yet to come to the statement
        if (read = delivery&.take(self))
          failure = read.failure
          raise failure if failure

          pipeloader_replay(Replay.new(read, fiber.response.surrounds?), allow_retry, materialize_transactions, &block)
        else
          lone = LoneRead::Connection.new if delivery&.sent_by?(self)
          return pipeloader_replay(lone, allow_retry, materialize_transactions, &block) if lone

          # Without a transaction go quoting, schema reads and BEGIN itself (see #transaction): no write to be seen.
          own = @pipeloader_session&.sending? || !materialize_transactions
          pipeloader_catch_up_within_event(own ? nil : fiber) if materialize_transactions
          begin
            pipeloader_host_with_raw_connection(
              allow_retry: allow_retry, materialize_transactions: materialize_transactions, &block
            )
          ensure
            pipeloader_written unless own
          end
        end
      end

      # The connection for a burst, as ActiveRecord gives it to a statement of its own: connected, its transaction begun.
      def pipeloader_connection(allow_retry:)
        update_typemap_for_default_timezone
        pipeloader_session.sending do
          with_raw_connection(allow_retry: allow_retry) do |connection|
            pipeloader_session.drop_surplus(connection)
            result = yield connection
            verified!
            result
          end
        end
      ensure
        pipeloader_distrust_if_broken
      end

      # As far as that without a statement of ours.
      def pipeloader_ready(allow_retry:) = pipeloader_session.sending { with_raw_connection(allow_retry: allow_retry) { nil } }

      private

      # Something was sent that may write: for a response; or, over another connection, by a fiber that isn't a resolver's.
      def pipeloader_written
        Attempt.written
        (response = @pipeloader_session&.response) ? response.written : Response.of_thread&.outdate
      end

      # Functions may write, lock, or set something.
      def pipeloader_call(sql, fiber)
        fiber.await_turn_to_act
        fiber.send_gathered if transaction_open? && fiber.response.restartable? # while that can be done again
        Attempt.written unless pipeloader_stay_if_set(sql)
      end

      def pipeloader_catch_up_within_event(fiber)
        fiber ? RuntimeFigures.within_event { pipeloader_catch_up(fiber) } : pipeloader_catch_up(nil)
      end

      def pipeloader_distrust_if_broken
        @verified = @last_activity = nil unless @raw_connection&.status == PG::CONNECTION_OK
      end

      def pipeloader_replay(replay, allow_retry, materialize_transactions)
        pipeloader_host_with_raw_connection(
          allow_retry: allow_retry, materialize_transactions: materialize_transactions
        ) { |connection| yield replay.over(connection) }
      rescue ActiveRecord::ConnectionNotEstablished
        raise unless @raw_connection.nil? && replay.in_hand?

        yield replay.over(nil)
      ensure
        # To ActiveRecord what it got is a sign of life; but the connection may have died after that read.
        pipeloader_distrust_if_broken
      end

      # The rest of a read that the query cache doesn't have. ActiveRecord's own code runs for one part of a Coalesced;
      # of the others there is nothing left to do, but to say so.
      def select(sql, name = nil, binds = [], prepare: false, async: false, allow_retry: false)
        fiber = Thread.current[ResolverFiber::KEY]
        slice = fiber&.delivery&.slice(self)
        return pipeloader_take(fiber.delivery.take(self), slice, allow_retry) if slice&.template

        result = pipeloader_looking(sql, name, fiber) do
          pipeloader_host_select(sql, name, binds, prepare: prepare, async: async, allow_retry: allow_retry)
        end
        # To ActiveRecord 8 a result without columns has no rows.
        slice.template = ResultTemplate.new(result) if slice && !result.columns.empty? && !write_query?(sql)
        result
      end

      # Yields to send what ActiveRecord takes for a read (`select_value("SET …")`), if no burst has brought it.
      def pipeloader_looking(sql, name, fiber, &)
        return yield if fiber.nil? || name == "SCHEMA" || fiber.delivery.of?(self)
        return yield if fiber.response.in_new_transaction? && SQLText.sets_locally?(sql) # where nobody else is

        pipeloader_stay_if_set(sql) ? Attempt.looking(&) : yield
      end

      # The event is ActiveRecord's, too.
      def pipeloader_take(read, slice, allow_retry)
        statement_name = read.statement.name
        log(read.sql, read.name, read.binds, read.params, *(statement_name if LOGS_STATEMENT_NAME)) do |payload|
          payload[:statement_name] = statement_name if statement_name
          payload[:allow_retry] = allow_retry if payload.key?(:allow_retry)
          payload[:affected_rows] = slice.cmd_tuples if payload.key?(:affected_rows)
          payload[:row_count] = slice.ntuples
          slice.template.result_of(slice)
        end
      end

      # @return [Array, nil] as to_sql_and_binds, and the binds' values; nil where a bind can't be cast: ActiveRecord may have an
      #   answer of its own to that, or an error of the statement's that comes first
      def pipeloader_compile(arel, binds, preparable, allow_retry)
        to_sql_and_binds(arel, binds, preparable, allow_retry).tap { |compiled| compiled << type_casted_binds(compiled[1]) }
      rescue Foreseen
        nil
      end

      def pipeloader_read(sql, name, binds, params, preparable, allow_retry, locked)
        @instrumenter = AnnotatedInstrumenter.new(@instrumenter) if @instrumenter && !pipeloader_annotated?
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
        return yield if Thread.current[ResolverFiber::KEY]&.delivery&.outdated?(self, query_cache)

        super
      end

      def pipeloader_transform(sql)
        ActiveRecord.query_transformers.inject(sql) { |text, transformer| transformer.call(text, self) }
      end

      def pipeloader_query_cached?(sql, binds)
        query_cache_enabled && @lock.synchronize { query_cache[binds.empty? ? sql : [sql, binds]] }
      end

      # ActiveRecord 7.2 keeps an instrumenter per connection, later ones ask this method.
      def instrumenter
        ResolverFiber.current ? AnnotatedInstrumenter.new(super) : super
      end

      def pipeloader_annotated? = AnnotatedInstrumenter === @instrumenter
    end
  end
end

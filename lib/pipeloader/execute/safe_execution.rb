# frozen_string_literal: true

module Pipeloader
  # Executes queries with Pipeloader, and so that a bug in it ends as a line in the log. Where Pipeloader raises one, and nothing
  # was written, graphql-ruby executes the queries once more by itself; from then on the Breaker keeps their operations from
  # Pipeloader. It also executes them once more, without consequences for the Breaker, where an exception has come out that
  # graphql-ruby by itself might have handled, or a statement has failed in a transaction that was open before (Transactions).
  # A part of all executions is proved, see ProofSample.
  class SafeExecution
    class << self
      # Yields to execute +queries+, or others in their place.
      #
      # @param queries [Array<Hash, GraphQL::Query>] as GraphQL::Schema.multiplex takes them
      # @param context [Hash] of the multiplex
      # @yieldparam queries [Array<Hash, GraphQL::Query>]
      # @yieldparam context [Hash]
      # @yieldreturn [Array<GraphQL::Query::Result>]
      def around(schema, queries, context, &)
        return yield(queries, context) if !Pipeloader.main_ractor? || Pipeloader.disabled?

        breaks = schema.pipeloader_options[:breaker]
        return plainly(schema, queries, context, &) if breaks && Pipeloader.breaker.stops?(schema, queries)
        return yield(queries, context) if Attempt.current

        new(schema, queries, context).execute(ProofSample.chosen, &)
      end

      # True if neither settings nor a snapshot is lost where a +schema+'s queries are executed without Pipeloader.
      def plain?(schema) = schema.pipeloader_options.values_at(:settings, :snapshot).none?

      # As #around, inside of it, for the Interpreter: where directives are around fields, and the schema has no dataloader of its
      # own, graphql-ruby itself executes the queries.
      def directed(schema, queries, context, &)
        plainly = context[:dataloader].nil? && !Pipeloader.disabled? && Enclosures.directs?(schema, queries) &&
                  PlainLoader.serves?(schema) && plain?(schema)
        plainly ? self.plainly(schema, queries, context, &) : yield(queries, context)
      end

      # Yields as inside Pipeloader.disabled. Fields are resolved in the order that they have without it, on no fiber of ours.
      def plainly(schema, queries, context)
        context[:dataloader] ||= PlainLoader.for(schema)
        Switch.decided(off: true) { ResolverFiber.as(nil) { yield(queries, context) } }
      end
    end

    def initialize(schema, queries, context)
      @schema = schema
      @queries = queries
      @context = context
      @breaks = schema.pipeloader_options[:breaker]
      @given = Given.of(queries, context)
      @attempt = Attempt.new { |error, query| met(error, query) }
    end

    alias inspect to_s

    # @param sample [ProofSample, nil]
    def execute(sample, &) = executed(sample, &) || repeat(&)

    private

    # What is raised here is no cause of what is raised when it's repeated: that comes after the rescue.
    #
    # @return [Array<GraphQL::Query::Result>, nil] nil if it is to be repeated
    def executed(sample, &)
      @attempt.restarts = (@given if SafeExecution.plain?(@schema))
      results = @attempt.around { yield(@queries, @context) }
      return if @attempt.failed?
      return if @attempt.enclosed && !interrupted?(@attempt.enclosed) && repeatable?
      return in_order(results, &) if @attempt.left_settings && @given&.queries?

      sample.take(DoubleCheck.new(@schema, @given, results, &), @breaks) if sample && harmless?
      results
    rescue Bugs => e
      raise unless @breaks

      again = repeatable?
      open_breaker(told(e), @schema, @queries) unless @met
      raise unless again
    rescue Enclosures::Directed, Transactions::Failed
      nil
    rescue StandardError, ScriptError, SystemStackError => e
      raise if Attempt.struck?
      raise unless @attempt.failed? || (answerable?(e) && repeatable?)
    end

    # True if graphql-ruby by itself may make an answer of what leaves: it executes a field inside of those above it, and whatever
    # is raised there is given to handlers of theirs.
    def answerable?(error)
      return false if interrupted?(error)
      return true if @attempt.loses_fields? # it may be of one of those
      return true if GraphQL::Backtrace::TracedError === error || (@attempt.left?(error) && backtraced?)
      return false unless @attempt.unhandled?(error)
      return true if SystemStackError === error # it is executed on the thread's own stack

      GraphQL::ExecutionError === error || !GraphQL::Execution::Errors.find_handler_for(@schema, error.class).nil?
    end

    # True if graphql-ruby makes a GraphQL::Backtrace::TracedError of what it handles: one in each list that the field is in.
    def backtraced?
      @schema.using_backtrace || @queries.any? { |it| (it.is_a?(Hash) ? it[:context] : it.context)&.[](:backtrace) }
    end

    # True if its time is over: nothing is done again.
    def interrupted?(error) = TimedOut === error || ::Timeout::Error === error || Attempt.struck?

    # As the query is known in which it was raised, others of the multiplex have no part in it.
    def met(error, query)
      return false unless @breaks

      @met = true
      open_breaker(told(error), query.schema, [query])
      repeatable?
    end

    # True if it can be executed again, and without Pipeloader: nothing was written, and neither settings nor a snapshot is lost.
    def harmless? = SafeExecution.plain?(@schema) && !@given.nil? && !@attempt.written?

    def repeatable? = harmless? && @given.queries? && !aborted?

    # True if a transaction of the caller's has failed meanwhile: nothing is read in it any more.
    def aborted?
      ActiveRecord::Base.connection_handler.each_connection_pool.any? do |pool|
        connection = pool.active_connection? and PostgreSQL.adapter?(connection.class) && connection.pipeloader_aborted?
      end
    end

    # Which fields see what a resolver leaves set in the session is told by the order in which graphql-ruby comes to them.
    def in_order(results, &)
      names = @attempt.left_settings.map(&:name).uniq.join(", ")
      reason = "a resolver changes settings of the database session (#{names}) and leaves them so"
      open_breaker(reason, @schema, @queries) if @breaks
      put_back? ? repeat(&) : results
    end

    # True if nothing else was written, and the session is as it was before.
    def put_back?
      left = @attempt.left_settings
      return false if @attempt.wrote? || !SafeExecution.plain?(@schema) || aborted? || !left.all?(&:known?)

      left.reverse_each(&:put_back)
      true
    rescue ActiveRecord::ActiveRecordError # the answer that is there is given
      false
    end

    # In a transaction that fails now, nothing is to be found that was read before it did.
    def repeat(&)
      ActiveRecord::Base.connection_handler.each_connection_pool(&:clear_query_cache) if @attempt.failed?
      @given.adopt(SafeExecution.plainly(@schema, *@given.restored, &))
    end

    def told(error) = "#{error.class}: #{error.message.lines.first.to_s.chomp} (#{error.backtrace.first})"

    def open_breaker(reason, schema, queries)
      queries.each { |query| Pipeloader.breaker.open!(schema, query, reason, plain: SafeExecution.plain?(schema)) }
    end
  end
end

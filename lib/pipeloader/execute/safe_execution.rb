# frozen_string_literal: true

module Pipeloader
  # Executes queries with Pipeloader, and so that a bug in it ends as a line in the log. Where Pipeloader raises one, and nothing was
  # written, graphql-ruby executes the queries once more by itself; from then on the Breaker keeps their operations from Pipeloader.
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

        sample = ProofSample.chosen
        breaks || sample ? new(schema, queries, context).execute(sample, &) : yield(queries, context)
      end

      # Yields as inside Pipeloader.disabled; the order of fields is what it is without Pipeloader.
      def plainly(schema, queries, context)
        context[:dataloader] ||= PlainLoader.for(schema)
        Pipeloader.disabled { yield(queries, context) }
      end
    end

    def initialize(schema, queries, context)
      @schema = schema
      @queries = queries
      @context = context
      @breaks = schema.pipeloader_options[:breaker]
      @given = Given.of(queries, context)
      @attempt = Attempt.new { repeatable? }
    end

    alias inspect to_s

    # @param sample [ProofSample, nil]
    def execute(sample, &)
      results = @attempt.around { yield(@queries, @context) }
      sample.take(DoubleCheck.new(@schema, @given, results, &), @breaks) if sample && harmless?
      results
    rescue Bugs => e
      raise unless @breaks

      again = repeatable?
      break_for(e)
      again ? repeat(&) : raise
    end

    private

    # True if it can be executed again, and without Pipeloader: nothing was written, and neither settings nor a snapshot is lost.
    def harmless? = plain? && !@given.nil? && !@attempt.written?

    def plain? = @schema.pipeloader_options.values_at(:settings, :snapshot).none?

    def repeatable? = @breaks && harmless? && @given.queries?

    def repeat(&) = @given.adopt(SafeExecution.plainly(@schema, *@given.restored, &))

    def break_for(error)
      reason = "#{error.class}: #{error.message.lines.first.to_s.chomp} (#{error.backtrace.first})"
      [*(@attempt.failed || @queries)].each { |query| Pipeloader.breaker.open!(@schema, query, reason, plain: plain?) }
    end
  end
end

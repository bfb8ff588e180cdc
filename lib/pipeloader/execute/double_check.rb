# frozen_string_literal: true

module Pipeloader
  # Executes again what Pipeloader has answered, without Pipeloader, and compares both answers byte for byte. As others may have
  # written meanwhile, what differs is executed again, in one snapshot where possible: without Pipeloader, and with it. What still
  # differs may be a clock's, or, without a snapshot, others': it counts if the next answer without Pipeloader is the same as the
  # one before.
  #
  # Limits: see Given. All of it happens in the thread of the request.
  class DoubleCheck
    TIME_IS_UP = GraphQL::Schema::Timeout::TimeoutError
    private_constant :TIME_IS_UP

    # results: of all queries. texts: their JSON. error: raised instead. sql: what was sent
    Answer = Struct.new(:results, :texts, :error, :sql) do
      def ==(other) = [texts, error.class, error&.message] == [other.texts, other.error.class, other.error&.message]
    end
    private_constant :Answer

    # @param given [Given] what was executed
    # @param results [Array<GraphQL::Query::Result>] what Pipeloader has answered
    # @yield as SafeExecution.around
    def initialize(schema, given, results, &execution)
      @schema = schema
      @given = given
      @results = results
      @execution = execution
    end

    # @param values [Boolean] whether they are to say what is answered
    # @return [Array<Array(GraphQL::Query, Difference)>] of the queries that Pipeloader answers differently
    def differences(values)
      return [] unless possible?

      plain = Outcome.of { execute(true) }
      return [] if same?(plain) || too_long?(plain)

      in_snapshot, answers = ProofSnapshot.around { wrong_answers }
      answers = wrong_answers unless in_snapshot
      answers ? found(*answers, values, in_snapshot) : []
    end

    private

    # Not where sources work by Pipeloader alone; nor where somebody else's execution goes on around it; nor in the caller's
    # transaction, which a statement of ours that fails would end. One that others can't join is a test suite's.
    def possible?
      return false if ResolverFiber.current || (@schema.pipeloader_sourced && PlainLoader.serves?(@schema))
      return false if ActiveRecord.all_open_transactions.any?

      @results.any? && @results.all? { |result| GraphQL::Query::Result === result && answered?(result.query) }
    end

    # True if Pipeloader has answered it.
    def answered?(query)
      return false unless query.is_a?(GraphQL::Query) && query.query? && query.valid?

      query.context.namespace?(:pipeloader) && !query.context.namespace(:pipeloader)[:rests]
    end

    # @return [Array(Answer, Answer), nil] without Pipeloader, and with it, if that is wrong
    def wrong_answers
      before, piped = [true, false].map { |without| answer { execute(without) } }
      return if before == piped

      after = answer { execute(true) }
      [after, piped] if before == after
    end

    def same?(plain) = plain.error.nil? && texts(plain.returned) == texts(@results)

    # True if it has no time for that without Pipeloader, so that it must not be kept from it.
    def too_long?(plain) = plain.error.nil? && plain.returned.any? { |result| result.context.errors.any?(TIME_IS_UP) }

    # @return [Array<GraphQL::Query::Result>] with nothing from the query cache
    def execute(without)
      ActiveRecord::Base.connection_handler.each_connection_pool(&:clear_query_cache)
      return SafeExecution.plainly(@schema, *@given.copied, &@execution) if without

      Attempt.new { false }.around { @execution.call(*@given.copied) }
    end

    def answer(&)
      sql = []
      outcome = Outcome.of { hearing(sql, &) }
      Answer.new(outcome.returned, (texts(outcome.returned) if outcome.returned), outcome.error, sql)
    end

    def texts(results) = results.map { |result| JSON.generate(result.to_h) }

    # Yields while all that this thread sends is added to +sql+.
    def hearing(sql, &)
      ProofSample::LISTENING.during(->(name, *, payload) { sql.concat(sent(name, payload)) }, &)
    end

    def sent(name, payload)
      return payload[:reads].map(&:sql) if name == Burst::EVENT

      payload[:cached] || payload.key?(:pipeloader) || payload[:name] == "SCHEMA" ? [] : [payload[:sql]]
    end

    def found(plain, piped, values, in_snapshot)
      @results.each_index.filter_map do |index|
        query = @results[index].query
        path = path(plain, piped, index) or next
        shown = values ? [plain, piped].map { |answer| shown(answer, index, path) } : []
        [query, Difference.new(schema: @schema, operation_name: query.selected_operation_name, document: query.query_string,
                               path: path, plain: shown[0], piped: shown[1], plain_sql: plain.sql, piped_sql: piped.sql,
                               snapshot: in_snapshot)]
      end
    end

    # @return [Array, nil] empty where one of them has raised
    def path(plain, piped, index)
      plain.error || piped.error ? [] : Difference.path(plain.results[index].to_h, piped.results[index].to_h)
    end

    def shown(answer, index, path) = answer.error || Difference.at(answer.results[index].to_h, path)
  end
end

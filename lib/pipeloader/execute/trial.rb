# frozen_string_literal: true

module Pipeloader
  # Executes an operation now and then without Pipeloader, and goes on with what is faster. Where it saves few round trips, it may
  # cost more than these.
  class Trial
    EVENT = "trial.pipeloader"

    # Reads that wait for no round trip of their own: an operation that saves more in one execution is never executed without.
    FEW = 6
    # Executions before the first trial, and between the next ones: twice as many each time that the outcome is the same.
    WATCHED = 16
    PAUSE = 128
    LONGEST_PAUSE = 8_192
    # Executions of each kind in a trial; so many tell if all without Pipeloader were slower than all with it, or all were faster.
    ROUNDS = 8
    CLEAR = 3
    # What it must win to be executed without: less is within what is measured.
    MARGIN = 0.97
    private_constant :FEW, :WATCHED, :PAUSE, :LONGEST_PAUSE, :ROUNDS, :CLEAR, :MARGIN

    class << self
      # Yields to execute +queries+, after it has decided how.
      #
      # @param queries [Array<Hash, GraphQL::Query>] as GraphQL::Schema.multiplex takes them
      # @param context [Hash] of the multiplex
      # @yieldreturn [Array<GraphQL::Query::Result>]
      def around(schema, queries, context, &)
        return Prologue.around(context, &) if Pipeloader.main_ractor? && schema.pipeloader_options[:settings]

        options = queries.first
        return yield unless options.is_a?(Hash) && queries.one? && possible?(schema, context)

        text, document, name = options.values_at(:query, :document, :operation_name)
        trial = Operation.kept_of(schema, text, document)&.dig(:trials, [schema, name])
        results = trial ? trial.execute(schema, context, &) : yield
        keep(schema, results.first.query, name) if results.first.is_a?(GraphQL::Query::Result)
        results
      end

      # True if the operation of a +query+ is executed without Pipeloader for now.
      #
      #: (GraphQL::Query) -> bool
      def rests?(query)
        trials = Operation.kept_of(query.schema, query.query_string, nil)&.fetch(:trials, nil) or return false
        [nil, query.selected_operation_name].any? { |name| trials[[query.schema, name]]&.rests? }
      end

      private

      # Whoever has brought a dataloader wants that one.
      def possible?(schema, context)
        Pipeloader.main_ractor? && schema.pipeloader_options[:rest] && context[:dataloader].nil? && !Pipeloader.disabled? &&
          !Measured.now? && ResolverFiber.current.nil? && schema.dataloader_class < Loader
      end

      # An operation that no plan asks for is kept, too, and used.
      def keep(schema, query, name)
        return unless query.selected_operation && query.valid? && Operation.of(query)

        kept = Operation.kept_of(schema, nil, query.document) or return
        (kept[:trials] ||= {})[[schema, name]] ||= new
      end
    end

    alias inspect to_s

    def initialize
      @rests = false
      @left = WATCHED # executions before the next trial
      @pause = PAUSE / 2
      @reads = 0 # the most that were seen without Pipeloader
      @random = Random.new
      @seconds = nil # {whether without Pipeloader => [seconds, …]}, of a trial that is going on
    end

    # True if it is executed without Pipeloader for now.
    def rests? = @rests

    # @yieldreturn [Array<GraphQL::Query::Result>]
    def execute(schema, context, &)
      rest_now?(schema) ? without(schema, context, &) : with(schema, context, &)
    end

    # Takes note of one execution.
    #
    # @param rested [Boolean] whether it was without Pipeloader
    # @param saved [Integer] reads that waited for no round trip of their own, or would not have
    def note(rested, seconds, saved, query = nil)
      return gather if saved > FEW
      return @left -= 1 unless (trial = @seconds || begin_trial)

      trial[rested] << seconds
      without, with = trial.values_at(true, false)
      conclude(middle(without), middle(with), query) if [without.size, with.size].min >= ROUNDS || clear?(without, with)
    end

    private

    # During a trial by chance: callers may come by turns themselves. Sources work by Pipeloader alone where the schema has no
    # dataloader.
    def rest_now?(schema)
      return false if schema.pipeloader_sourced

      (trial = @seconds) ? @random.rand(trial.each_value.sum { |all| left(all) }) < left(trial[true]) : @rests
    end

    # Some more than needed: executions that have begun by then may be of the other kind.
    def left(all) = [ROUNDS - all.size, 0].max + 1

    def with(schema, context)
      context[:dataloader] = loader = schema.dataloader_class.new
      began = now
      results = yield
      seconds = now - began
      query = query_of(results) or return results

      schema.pipeloader_sourced ||= loader.pipeloader_sourced? && PlainLoader.serves?(schema)
      ledger = query.context.namespace(:pipeloader)
      note(false, seconds, ledger.fetch(:reads, 0) - ledger.fetch(:bursts, 0) + loader.pipeloader_spared, query)
      results
    end

    # What fails here may not fail with Pipeloader, which is faster maybe.
    def without(schema, context)
      context[:dataloader] = PlainLoader.for(schema)
      results = nil
      PlainReads.counting do |counted|
        began = now
        results = yield
        seconds = now - began
        query = query_of(results) or return results

        query.context.namespace(:pipeloader)[:rests] = true
        note(true, seconds, more(counted.reads), query)
      end
      results
    ensure
      gather unless results
    end

    def query_of(results) = (results.first.query if results.first.is_a?(GraphQL::Query::Result))

    # @return [Integer] how many reads there were beyond what is known
    def more(reads)
      more = @reads.zero? || @seconds ? 0 : reads - @reads
      @reads = [@reads, reads].max if @seconds
      more
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # It saves too much to be executed without.
    def gather
      @rests = false
      @seconds = nil
      @left = @pause = [@pause * 2, LONGEST_PAUSE].min
    end

    def begin_trial
      return if @left.positive?

      @reads = 0
      @seconds = { true => [], false => [] }
    end

    # What is slow, or fast, each time needn't be tried often.
    def clear?(without, with)
      [without.size, with.size].min >= CLEAR && (without.min > with.max || without.max < with.min)
    end

    def middle(all) = all.sort[all.size / 2]

    def conclude(without, with, query)
      rests = without < with * MARGIN
      @pause = rests == @rests ? [@pause * 2, LONGEST_PAUSE].min : PAUSE
      @rests = rests
      @seconds = nil
      @left = @pause
      ActiveSupport::Notifications.instrument(EVENT, query: query, rests: rests, seconds_without: without, seconds_with: with)
    end
  end
end

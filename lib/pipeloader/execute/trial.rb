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
    # Executions of each kind in a trial; so many tell if all without Pipeloader were slower than all with it.
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
        options = queries.first
        return yield unless queries.one? && options.is_a?(Hash) && possible?(schema, context)

        text, document, name = options.values_at(:query, :document, :operation_name)
        trial = Operation.kept_of(schema, text, document)&.dig(:trials, name)
        results = trial ? trial.execute(schema, context, &) : yield
        keep(results.first.query, name)
        results
      end

      # True if the operation of a +query+ is executed without Pipeloader for now.
      #
      #: (GraphQL::Query) -> bool
      def rests?(query)
        trials = Operation.kept_of(query.schema, query.query_string, nil)&.fetch(:trials, nil) or return false
        trials.values_at(nil, query.selected_operation_name).compact.any?(&:rests?)
      end

      private

      # Whoever has brought a dataloader wants that one.
      def possible?(schema, context)
        Pipeloader.main_ractor? && schema.pipeloader_options[:rest] && context[:dataloader].nil? && !Pipeloader.disabled? &&
          ResolverFiber.current.nil?
      end

      # An operation that no plan asks for is kept, too, and used.
      def keep(query, name)
        return unless query.selected_operation && query.valid? && Operation.of(query)

        kept = Operation.kept_of(query.schema, nil, query.document) or return
        (kept[:trials] ||= {})[name] ||= new
      end
    end

    alias inspect to_s

    def initialize
      @rests = false
      @left = WATCHED # executions before the next trial
      @pause = PAUSE / 2
      @seconds = nil # {whether without Pipeloader => [seconds, …]}, of a trial that is going on
    end

    # True if it is executed without Pipeloader for now.
    def rests? = @rests

    # @yieldreturn [Array<GraphQL::Query::Result>]
    def execute(schema, context)
      rests = rest_now?
      context[:dataloader] = loader = rests ? schema.dataloader_class.pipeloader_plain : schema.dataloader_class.new
      began = now
      yield.tap do |results|
        seconds = now - began
        query = results.first.query
        query.context.namespace(:pipeloader)[:rests] = true if rests
        note(rests, seconds, saved(loader, query), query)
      end
    end

    # Takes note of one execution.
    #
    # @param rested [Boolean] whether it was without Pipeloader
    # @param saved [Integer] reads that waited for no round trip of their own
    def note(rested, seconds, saved, query = nil)
      return gather if saved > FEW
      return @left -= 1 unless (trial = @seconds || begin_trial)

      trial[rested] << seconds
      without, with = trial.values_at(true, false)
      conclude(middle(without), middle(with), query) if [without.size, with.size].min >= ROUNDS || slow?(without, with)
    end

    private

    # During a trial by turns.
    def rest_now?
      trial = @seconds
      trial ? trial[true].size < trial[false].size : @rests
    end

    def saved(loader, query)
      return loader.is_a?(PlainLoader) && loader.asks_sources? ? FEW + 1 : 0 unless loader.is_a?(Loader)

      ledger = query.context.namespace(:pipeloader)
      ledger.fetch(:reads, 0) - ledger.fetch(:bursts, 0) + loader.pipeloader_spared
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

    # It saves too much to be executed without.
    def gather
      @rests = false
      @seconds = nil
      @left = @pause
    end

    def begin_trial = @left.positive? ? nil : @seconds = { true => [], false => [] }

    # What is slow without needn't be tried often.
    def slow?(without, with) = [without.size, with.size].min >= CLEAR && without.min > with.max

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

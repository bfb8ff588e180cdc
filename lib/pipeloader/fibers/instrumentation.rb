# frozen_string_literal: true

module Pipeloader
  # Counts what a response has sent, in the context of each of its queries: `context.namespace(:pipeloader)` is
  # {bursts: 3, reads: 403, statements: 403}. The queries of a multiplex share their bursts, and so their counts.
  class Counters
    #: (Array[GraphQL::Query]) -> Counters
    def self.of(queries) = new(queries.map { |query| query.context.namespace(:pipeloader) }, queries.first)

    # Told of when a response is over, see Summary.
    RESPONSE = "response.pipeloader"

    class << self
      # Who hears of each response by calls, which cost less than events: `begun` with its queries, whose answer `over` gets when
      # the response is; and `response` with the event's payload. nil for nobody. See Recorder.
      attr_accessor :recorder

      # True if somebody hears of responses.
      def watched? = !@recorder.nil? || ActiveSupport::Notifications.notifier.listening?(RESPONSE)
    end

    # @return [Hash] where responses are watched: {waited: seconds in which a query or its multiplex waited for bursts, rows: 3}
    def self.totals(query) = { waited: 0.0, rows: 0, **query.context.namespace(:pipeloader_totals) }

    #: (Array[Hash[Symbol, Integer]], GraphQL::Query?) -> void
    def initialize(ledgers, first = nil)
      @first = first if first && Counters.watched?
      @recorder = Counters.recorder if first
      @begun = @recorder&.begun(first)
      @ledgers = ledgers
      @ledgers.each { |ledger| %i[bursts reads statements].each { |column| ledger[column] ||= 0 } }
    end

    # @param reads [Integer] of a burst
    # @param statements [Integer] that it has sent
    def count(reads, statements, bursts = 1, rows = 0)
      RuntimeFigures.count(statements)
      add(:rows, rows, 0) if @first
      @ledgers.each do |ledger|
        ledger[:bursts] += bursts
        ledger[:reads] += reads
        ledger[:statements] += statements
      end
    end

    # Yields to send reads and to wait for them, and takes note of how long that takes, if anybody wants to hear of it.
    def waiting(&block)
      return RuntimeFigures.waiting(&block) unless @first

      began = now
      begin
        RuntimeFigures.waiting(&block)
      ensure
        add(:waited, now - began, 0.0)
      end
    end

    # True if somebody hears of the response, and of its rows.
    def told? = !@first.nil?

    # @return [GraphQL::Query, nil] the first of several; nil where nobody hears of the response
    attr_reader :first

    # The response is over, or was ended by an exception.
    def close
      begun, @begun = @begun, nil
      @recorder.over(begun) if begun
    end

    private

    def add(figure, more, none)
      totals = @first.context.namespace(:pipeloader_totals)
      totals[figure] = totals.fetch(figure, none) + more
    end

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # ActiveRecord's instrumenter, which says of a parked read's `sql.active_record` which burst brought it, and how many
  # milliseconds its fiber was parked: time that the event's own duration doesn't contain.
  class AnnotatedInstrumenter < BasicObject
    def initialize(instrumenter)
      @instrumenter = instrumenter
    end

    def instrument(name, payload = {}, &block)
      delivery = ResolverFiber.current&.delivery
      read = delivery&.read
      return @instrumenter.instrument(name, payload, &block) unless read

      payload[:pipeloader] = { burst: read.position, wait: read.wait }
      RuntimeFigures.counted(payload) do
        delivery.telling(true) do
          @instrumenter.instrument(name, payload) { |told| delivery.telling(false) { yield told } }
        end
      end
    end

    private

    def method_missing(...) = @instrumenter.__send__(...)

    def respond_to_missing?(...) = @instrumenter.respond_to?(...)
  end
end

# frozen_string_literal: true

module Pipeloader
  # Counts what a response has sent, in the context of each of its queries: `context.namespace(:pipeloader)` is
  # {bursts: 3, reads: 403, statements: 403}. The queries of a multiplex share their bursts, and so their counts.
  class Counters
    #: (Array[GraphQL::Query]) -> Counters
    def self.of(queries) = new(queries.map { |query| query.context.namespace(:pipeloader) }, queries.first)

    # Told of when a response is over, see Summary.
    RESPONSE = "response.pipeloader"

    # True if somebody hears of responses.
    def self.watched? = ActiveSupport::Notifications.notifier.listening?(RESPONSE)

    # @return [Float] seconds in which a query, or its multiplex, waited for bursts, where responses are watched
    def self.waited(query) = query.context.namespace(:pipeloader_waits).fetch(:seconds, 0.0)

    #: (Array[Hash[Symbol, Integer]], GraphQL::Query?) -> void
    def initialize(ledgers, first = nil)
      @first = first if first && Counters.watched?
      @ledgers = ledgers
      @ledgers.each { |ledger| %i[bursts reads statements].each { |column| ledger[column] ||= 0 } }
    end

    # @param reads [Integer] of a burst
    # @param statements [Integer] that it has sent
    def count(reads, statements, bursts = 1)
      RuntimeFigures.count(statements)
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
        waits = @first.context.namespace(:pipeloader_waits)
        waits[:seconds] = waits.fetch(:seconds, 0.0) + (now - began)
      end
    end

    private

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # ActiveRecord's instrumenter, which says of a parked read's `sql.active_record` which burst brought it, and how many
  # milliseconds its fiber was parked: time that the event's own duration doesn't contain.
  class AnnotatedInstrumenter < BasicObject
    def initialize(instrumenter)
      @instrumenter = instrumenter
    end

    def instrument(name, payload = {}, &block)
      read = ResolverFiber.current&.delivery&.read
      return @instrumenter.instrument(name, payload, &block) unless read

      payload[:pipeloader] = { burst: read.position, wait: read.wait }
      RuntimeFigures.counted(payload) { @instrumenter.instrument(name, payload, &block) }
    end

    private

    def method_missing(...) = @instrumenter.__send__(...)

    def respond_to_missing?(...) = @instrumenter.respond_to?(...)
  end
end

# frozen_string_literal: true

module Pipeloader
  # Counts what a response has sent, in the context of each of its queries: `context.namespace(:pipeloader)` is
  # {bursts: 3, reads: 403, statements: 403}. The queries of a multiplex share their bursts, and so their counts.
  class Counters
    #: (Array[GraphQL::Query]) -> Counters
    def self.of(queries) = new(queries.map { |query| query.context.namespace(:pipeloader) })

    #: (Array[Hash[Symbol, Integer]]) -> void
    def initialize(ledgers)
      @ledgers = ledgers
      @ledgers.each { |ledger| %i[bursts reads statements].each { |column| ledger[column] ||= 0 } }
    end

    # @param reads [Integer] of a burst
    # @param statements [Integer] that it has sent
    def count(reads, statements, bursts = 1)
      @ledgers.each do |ledger|
        ledger[:bursts] += bursts
        ledger[:reads] += reads
        ledger[:statements] += statements
      end
    end
  end

  # ActiveRecord's instrumenter, which says of a parked read's `sql.active_record` which burst brought it, and how many
  # milliseconds its fiber was parked: time that the event's own duration doesn't contain.
  class AnnotatedInstrumenter < BasicObject
    def initialize(instrumenter)
      @instrumenter = instrumenter
    end

    def instrument(name, payload = {}, &block)
      if (read = ResolverFiber.current&.delivery&.read)
        payload[:pipeloader] = { burst: read.position, wait: read.wait }
      end
      @instrumenter.instrument(name, payload, &block)
    end

    private

    def method_missing(...) = @instrumenter.__send__(...)

    def respond_to_missing?(...) = @instrumenter.respond_to?(...)
  end
end

# frozen_string_literal: true

module Pipeloader
  # The keys that the plans of one level look up in the same way, wherever in the response they are. The first of their fibers
  # that wakes, when graphql-ruby has come to all that it can come to, reads for all.
  class Batch
    # The block is called when no more keys are taken.
    #
    #: (Lookup) { () -> void } -> void
    def initialize(lookup, &closed)
      @lookup = lookup
      @closed = closed
      @keys = []
    end

    # @param asker [Asker] the first one's is the field that reads
    def add(keys, asker)
      @asker ||= asker
      @shared = @keys.any?
      @keys.concat(keys)
      self
    end

    # It takes no more keys.
    def close
      @closed&.call
      @closed = nil
    end

    def begun? = @begun

    # Reads, unless another fiber has begun to.
    def read
      return if @begun

      @begun = true
      close
      begin
        @outcome = Outcome.of { @asker.read { @lookup.call(@keys.uniq) } }
      ensure # struck (a timeout): the others, who would wait for ever, do without their plans
        @outcome ||= Outcome.new(nil, DoesNotFit.new)
      end
    end

    def read? = !@outcome.nil?

    # @param keys [Array] as one of those who ask has added them
    # @return [Hash{Object => Array<Array>}] by the owner's key, of these and others maybe; raises what the Lookup has raised
    def rows(keys) = @shared ? @lookup.own(@outcome.value, keys) : @outcome.value
  end
end

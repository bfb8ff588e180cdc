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
      @growths = []
    end

    # @param asker [Asker] the first one's is the field that reads
    # @param growth [Growth, nil] what the rows are to bring along, if all who ask want the same
    def add(keys, asker, growth = nil)
      @asker ||= asker
      @growths << growth
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
        @outcome = Outcome.of { @asker.read { read_along } }
      ensure # struck (a timeout): the others, who would wait for ever, do without their plans
        @outcome ||= Outcome.new(nil, DoesNotFit.new)
      end
    end

    def read? = !@outcome.nil?

    # @param keys [Array] as one of those who ask has added them
    # @return [Hash{Object => Array<Array>}] by the owner's key, of these and others maybe; raises what the Lookup has raised
    def rows(keys) = @shared ? @lookup.own(@outcome.value, keys) : @outcome.value

    private

    def read_along
      first, *others = @growths
      growth = first if first && others.all? { |other| first.like?(other) }
      found = @lookup.call(@keys.uniq, growth)
      others.each { |other| other.followers = growth.followers } if growth
      found
    end
  end
end

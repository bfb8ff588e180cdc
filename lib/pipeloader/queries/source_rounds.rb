# frozen_string_literal: true

module Pipeloader
  # In which rounds a serial run would load the keys of one source: in the one after that in which a field first asks. Fibers come
  # to fields in another order, so a field that waits may turn out to find its keys there.
  class SourceRounds
    # A job that has asked for keys when it had so many moves.
    Ask = Struct.new(:rounds, :job, :moves, :keys) do
      def settle = rounds.settle(self)
    end
    private_constant :Ask

    # The keys that a source loads at once. What it asks another source for meanwhile is there in the same round.
    Fetch = Struct.new(:loader, :rounds, :keys) do
      def wait_for_source(ask) = loader.pipeloader_run.turns.asked_within(ask)
      def round_after(_moves) = rounds.earliest(keys)
    end

    def initialize
      @rounds = {} # {key => [rounds of lazy values, rounds of sources]; nil until somebody wants to know}
    end

    # Takes note of a job, or a Fetch, that asks for keys: the rounds matter when a field fails.
    def ask(job, keys)
      keys.each { |key| @rounds[key] ||= nil }
      job.wait_for_source(Ask.new(self, job, nil, keys))
    end

    # As #ask, of keys that are loaded, unless something else has.
    def follow(job, keys) = (ask(job, keys) if keys.all? { |key| @rounds.key?(key) })

    # True if a serial run has loaded these keys by that round.
    def there?(keys, round) = keys.all? { |key| (known = @rounds[key]) && (known <=> round) < 1 }

    # @return [Array(Integer, Integer), nil] in which a serial run loads the first of these keys, as far as is known
    def earliest(keys) = keys.filter_map { |key| @rounds[key] }.min

    # Works out in which round the keys are loaded.
    #
    # @return [Boolean] whether it is sooner than what was known: places may have changed
    def settle(ask)
      round = ask.job.round_after(ask.moves) or return false
      sooner = ask.keys.reject { |key| there?([key], round) }
      known = sooner.any? { |key| @rounds[key] }
      sooner.each { |key| @rounds[key] = round }
      known
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # In which rounds a serial run would load the keys of one source: in the one after that in which a field first asks. Fibers come
  # to fields in another order, so a field that waits may turn out to find its keys there.
  class SourceRounds
    def initialize
      @rounds = {} # {key => [rounds of lazy values, rounds of sources]}
      @waiting = Hash.new { |all, key| all[key] = [] } # {key => [Job]}
    end

    # Puts a job that asks for keys into its place.
    def ask(job, keys)
      return if there?(keys, job.round)

      job.wait_for_source(self, keys)
      keys.each do |key|
        @waiting[key] << job
        load_in(key, job.round)
      end
    end

    # As #ask, of keys that are loaded, unless something else has.
    def follow(job, keys) = (ask(job, keys) if keys.all? { |key| @rounds.key?(key) })

    # True if a serial run has loaded these keys by that round.
    def there?(keys, round) = keys.all? { |key| @rounds.key?(key) && (@rounds[key] <=> round) < 1 }

    private

    def load_in(key, round)
      return if @rounds.key?(key) && (@rounds[key] <=> round) < 1

      later = @rounds.key?(key)
      @rounds[key] = round
      @waiting[key].each(&:replace) if later
    end
  end
end

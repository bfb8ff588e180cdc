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
      round = job.round
      keys.each { |key| @waiting[key] << job }
      sooner = keys.reject { |key| there?([key], round) }
      known = sooner.select { |key| @rounds.key?(key) }
      sooner.each { |key| @rounds[key] = round }
      known.flat_map { |key| @waiting[key] }.uniq.each(&:update_place)
    end

    # As #ask, of keys that are loaded, unless something else has.
    def follow(job, keys) = (ask(job, keys) if keys.all? { |key| @rounds.key?(key) })

    # True if a serial run has loaded these keys by that round.
    def there?(keys, round) = keys.all? { |key| @rounds.key?(key) && (@rounds[key] <=> round) < 1 }
  end
end

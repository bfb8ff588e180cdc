# frozen_string_literal: true

module Pipeloader
  # The look-ups of one fiber for its plans, made along with all other fibers that look up the same.
  class LookUp
    # @param wanted [Array(Lookup, Array, Asker, Growth)] each with its keys, who asks, and what the rows are to bring along
    def initialize(fiber, run, wanted)
      @fiber = fiber
      @loader = fiber.loader
      @run = run
      @wanted = wanted
      @loader.pipeloader_spare(wanted.sum { |_, keys, _| keys.size - 1 })
    end

    # @param start [Snapshot] what the lookups' scopes see
    # @return [Array<Outcome>] for each, a Hash{Object => Array<Array>}: rows by key, possibly of more keys than were asked for
    def together(start)
      batches = @wanted.map { |lookup, *asked| @run.batch(lookup, start).add(*asked) }
      @fiber.parking.let_others_begin
      read(batches)
      batches.each_with_index.map { |batch, index| Outcome.of { batch.rows(@wanted[index][1]) } }
    ensure
      batches&.each(&:close)
    end

    # One after the other, up to the first that fails.
    #
    # @return [Array<Outcome>] as #together
    def alone
      failed = nil
      @wanted.map do |lookup, keys, asker, growth|
        failed || Outcome.of { asker.read { lookup.call(keys, growth) } }.tap { |outcome| failed = outcome if outcome.error }
      end
    end

    private

    def read(batches)
      @run.awaiting(batches) do
        @fiber.side_by_side(batches.uniq(&:__id__).reject(&:begun?), &:read)
        @fiber.parking.let_others_finish { batches.all?(&:read?) }
      end
    end
  end
end

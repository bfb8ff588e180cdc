# frozen_string_literal: true

module Pipeloader
  # Fields that wait for what is read ahead for their objects go on in the order in which they came: their objects' resolvers
  # begin in the same order as if nobody had waited.
  class Line
    # Idle turns after which one doesn't wait any more.
    TURNS = 64
    private_constant :TURNS

    def initialize
      @waiting = {}.compare_by_identity # {Run => [Object]}, in the order in which they came
    end

    # True if anybody waits.
    def any? = @waiting.any?

    # Yields, to read, and returns when all that came before have gone on.
    #
    # @param reads [Boolean] whether there is anything to be read
    def in_turn(fiber, reads, &)
      run = fiber.loader.pipeloader_run
      line = reads ? @waiting[run] ||= [] : @waiting[run]
      return unless line

      stand_in(line, fiber, reads, &)
      @waiting.delete(run) if line.empty?
    end

    private

    def stand_in(line, fiber, reads)
      line << place = Object.new
      yield if reads
      fiber.parking.let_others_go_on(TURNS) { line.first.equal?(place) }
    ensure
      line.delete(place)
    end
  end
end

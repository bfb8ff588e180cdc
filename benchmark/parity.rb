# frozen_string_literal: true

module Bench
  # Holds every answer against the first, byte by byte.
  class Parity
    attr_reader :bytes

    # Raises Worker::Failed.
    def check(name, answer)
      raise Worker::Failed, "#{name} got errors: #{answer[0, 500]}" if answer.include?('"errors":')
      @expected ||= answer
      @bytes ||= answer.bytesize
      raise Worker::Failed, "#{name} answers differently:\n#{difference(answer)}" if answer != @expected
    end

    private

    def difference(answer)
      at = @expected.each_char.zip(answer.each_char).index { |left, right| left != right } || @expected.size
      { expected: @expected, got: answer }.map { |who, text| "  #{who}: … #{text[[at - 40, 0].max, 120]}" }.join("\n")
    end
  end
end

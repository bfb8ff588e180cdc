# frozen_string_literal: true

module Bench
  # Where a number is on a logarithmic axis. (Contenders differ by factors of up to a thousand: no other axis shows them all.)
  class Scale
    # values: all that must fit. range: of pixels, e.g. 100..600, or 400..40 for an axis that goes up.
    def initialize(values, from, to)
      @low, @high = values.minmax.map { |value| Math.log10(value) }
      @high = @low + 0.1 if @high - @low < 0.1
      @from = from
      @to = to
    end

    def at(value) = @from + (Math.log10(value) - @low) / (@high - @low) * (@to - @from)

    # 1, 2 and 5 times the powers of ten, or these powers alone if there would be too many.
    def marks
      steps = (@low.floor..@high.ceil).flat_map { |power| [1, 2, 5].map { |digit| digit * 10.0**power } }
      inside = steps.select { |mark| Math.log10(mark).between?(@low - 0.001, @high + 0.001) }
      inside.size > 9 ? inside.select { |mark| (Math.log10(mark) % 1).abs < 0.001 } : inside
    end

    def self.label(mark) = mark >= 1 ? mark.round.to_s : mark.round(3).to_s
  end
end

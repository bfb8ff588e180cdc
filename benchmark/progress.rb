# frozen_string_literal: true

require "ruby-progressbar"
require_relative "sample"

module Bench
  # Says on standard error what is being done and how far it is: in a terminal on one line, elsewhere in a line per step.
  class Progress
    # total: of the steps that #advance counts.
    def initialize(total, err: $stderr)
      @err = err
      @bar = ProgressBar.create(title: "bench", total: total, output: err, format: "%t", autofinish: false) if err.tty?
      @total = total
      @done = 0
      @start = Sample.now
    end

    # detail: what changes within a step; shown in a terminal only.
    def say(step, detail = nil)
      if @bar
        @bar.format = "%p%% [%c/%C] %B %a  #{fit([step, detail].compact.join(": "))}"
        @bar.refresh
      elsif step != @said
        @err.puts format("bench: %4d s [%d/%d] %s", Sample.now - @start, @done + 1, @total, step)
      end
      @said = step
    end

    def advance
      @done += 1
      @bar&.increment
    end

    def clear = @bar&.clear

    private

    def fit(text) = text[0, 70].gsub("%", "%%")
  end
end

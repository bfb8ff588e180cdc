# frozen_string_literal: true

module Bench
  # A contest as rows of text: what each contender costs, and its part of the measure's time.
  class Table
    def self.ms(number) = format(number < 10 ? "%.2f" : "%.1f", number)
    def self.plain(rtt) = rtt.to_s.delete_suffix(".0")

    # contest: as Contest#run gives it.
    def initialize(contest)
      @contest = contest
      @entries = contest[:entries]
      @summaries = @entries.transform_values do |entry|
        entry[:samples].transform_values { |samples| Summary.new(samples) unless samples.empty? }
      end
    end

    attr_reader :entries

    # Whoever is held against: naive, or the first that was there.
    def measure = @entries.keys.first
    def rtts = @entries[measure][:samples].keys
    def summary(name, rtt) = @summaries.dig(name, rtt)
    def names = @entries.keys

    # Of the measure's time; nil if it wasn't timed there.
    def share(name, rtt) = summary(name, rtt)&.of(summary(measure, rtt))

    def heads
      ["", "round trips", "statements", "kB in", *rtts.map { |rtt| "RTT #{Table.plain(rtt)} ms: median (p99), of #{measure}" },
       "client CPU ms", "server CPU ms", "objects", "peak MB"]
    end

    def rows = names.map { |name| row(name) }

    private

    def row(name)
      [name, *wire(@entries[name]), *rtts.map { |rtt| time(name, rtt) }, *cost(summary(name, rtts.first)),
       megabytes(@entries[name][:peak])]
    end

    def wire(entry)
      return ["–"] * 3 unless entry[:round_trips]
      [entry[:round_trips], entry[:statements], (entry[:bytes_to_client] / 1000.0).then { |kb| kb < 10 ? kb.round(1) : kb.round }]
    end

    def time(name, rtt)
      return "–" unless (mine = summary(name, rtt))
      format("%s (%s)  %.3f", Table.ms(mine.median), Table.ms(mine.p99), share(name, rtt))
    end

    def cost(summary)
      summary ? [Table.ms(summary.cpu), summary.server ? Table.ms(summary.server) : "–", summary.allocations] : ["–"] * 3
    end

    def megabytes(bytes) = bytes ? bytes / 1_000_000 : "–"
  end
end

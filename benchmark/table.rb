# frozen_string_literal: true

module Bench
  # A contest as rows of text: what each contender costs, and its part of the measure's time.
  class Table
    # contest: as Contest#run gives it.
    def initialize(contest)
      @contest = contest
      @entries = contest[:entries]
      @summaries = @entries.transform_values do |entry|
        entry[:samples].transform_values { |samples| Summary.new(samples) unless samples.empty? }
      end
    end

    def measure = @entries.keys.first
    def rtts = @entries[measure][:samples].keys
    def summary(name, rtt) = @summaries.dig(name, rtt)
    def names = @entries.keys

    def heads
      ["", "round trips", "statements", "kB in", *rtts.map { |rtt| "RTT #{plain(rtt)} ms: median (p99), of #{measure}" },
       "client CPU ms", "server CPU ms", "objects", "peak MB"]
    end

    def rows = names.map { |name| row(name) }

    private

    def row(name)
      entry, near = @entries[name], summary(name, rtts.first)
      [name, entry[:round_trips], entry[:statements], round(entry[:bytes_to_client] / 1000.0),
       *rtts.map { |rtt| time(name, rtt) },
       *(near ? [ms(near.cpu), near.server ? ms(near.server) : "–", near.allocations] : ["–"] * 3),
       entry[:peak] ? entry[:peak] / 1_000_000 : "–"]
    end

    def time(name, rtt)
      return "–" unless (mine = summary(name, rtt))
      format("%s (%s)  %.3f", ms(mine.median), ms(mine.p99), mine.of(summary(measure, rtt)))
    end

    def ms(number) = format(number < 10 ? "%.2f" : "%.1f", number)
    def round(number) = number < 10 ? number.round(1) : number.round
    def plain(rtt) = rtt.to_s.delete_suffix(".0")
  end
end

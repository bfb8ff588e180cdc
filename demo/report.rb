# frozen_string_literal: true

require_relative "timeline"
require_relative "words"

module Demo
  # Prints a Comparison: the query, the two ways side by side, and the timeline.
  class Report
    def initialize(out, paint:, width: 100)
      @out = out
      @paint = paint
      @width = width
    end

    def print(comparison)
      heading(comparison.query)
      table(comparison)
      verdict(comparison)
      timeline(comparison)
      out.flush
    end

    private

    attr_reader :out, :paint

    def heading(query)
      title = [query.name, query.about].compact.join(": ")
      out.puts "", "#{paint.bold(title)} #{paint.dim("─" * (@width - title.length - 1).clamp(0, nil))}", ""
      query.text.each_line(chomp: true) { |line| out.puts "  #{paint.cyan(line)}" }
      out.puts
    end

    def table(comparison)
      out.puts paint.dim(row("", "statements", "round trips", comparison.rtts.map { |rtt| "RTT #{rtt} ms" }))
      out.puts way("plain", :plain, comparison)
      out.puts paint.bold(way("Pipeloader", :piped, comparison))
      out.puts paint.green(gain(comparison))
      goes(comparison.median(:piped, comparison.rtts.last))
    end

    # A burst is one round trip unless it is too large to be sent in one go.
    def goes(piped)
      return if piped.round_trips == piped.trips.size

      out.puts "", "  #{Words.plural(piped.trips.size, "burst")} took #{piped.round_trips} round trips: " \
                   "large ones are sent in several goes."
    end

    def way(label, way, comparison)
      recordings = comparison.rtts.map { |rtt| comparison.median(way, rtt) }
      counts = [recordings.last.statements, recordings.last.round_trips].map { |count| Words.count(count) }
      row(label, *counts, recordings.map { |recording| Words.ms(recording.ms) })
    end

    def gain(comparison)
      plain, piped = comparison.medians(comparison.rtts.last).map(&:round_trips)
      fewer = "#{Words.times(plain.fdiv(piped))} fewer" if plain > piped
      row("", "", fewer.to_s, comparison.rtts.map { |rtt| speed(comparison.ratio(rtt)) })
    end

    def speed(ratio)
      return "as fast" if ratio.between?(0.95, 1.05)

      ratio > 1 ? "#{Words.times(ratio)} faster" : "#{Words.times(1 / ratio)} slower"
    end

    def row(label, statements, trips, times)
      label.rjust(Timeline::LABEL) + statements.rjust(12) + trips.rjust(15) + times.map { |time| time.rjust(15) }.join
    end

    def verdict(comparison)
      return out.puts "", "  The same answer, byte for byte: #{Words.count(comparison.bytes)} bytes of JSON." if comparison.same?

      at, plain, piped = comparison.first_difference
      out.puts "", paint.red("  THE ANSWERS DIFFER, first at byte #{Words.count(at)}:"),
               "       plain …#{plain}", "  Pipeloader …#{piped}"
    end

    def timeline(comparison)
      rtt = comparison.rtts.last
      legend = paint.dim("(█ all the time … ░ Ruby at work), then magnified:")
      out.puts "", "  Waiting for the server at RTT #{rtt} ms #{legend}"
      out.puts Timeline.new(*comparison.medians(rtt), paint: paint, width: @width).lines
    end
  end
end

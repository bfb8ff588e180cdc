# frozen_string_literal: true

require_relative "words"

module Demo
  # Draws the timelines of one or more Comparisons as an SVG document, to scale. It brings its own dark ground with it, so
  # that it reads the same on a light and on a dark page.
  class Svg
    WIDTH = 1000
    LANE = (124..760).freeze # where time is drawn, from the run's beginning to its end
    RIGHT = 774 # the column of figures
    ROW = 26
    BAR = 14
    LETTER = 6.6 # about the width of one at 12 px
    MOST_BURSTS = 30

    GROUND = "#10171f"
    EDGE = "#2c3947"
    GRID = "#22303c"
    COLOURS = { plain: "#f0a53a", piped: "#35d0ba" }.freeze
    STYLE = <<~CSS
      text { font: 12px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #dfe7ee }
      .title { font-size: 17px; font-weight: 600 }
      .name { font-size: 14px; font-weight: 600 }
      .soft { fill: #9fb0bf }
      .strong { font-weight: 600 }
      .end { text-anchor: end }
      .middle { text-anchor: middle }
    CSS

    # The document as a String.
    #: (Array[Comparison]) -> String
    def self.draw(comparisons) = new(comparisons).draw

    def initialize(comparisons)
      @comparisons = comparisons
      @parts = []
      @y = 0
    end

    def draw
      heading
      @comparisons.each { |comparison| panel(comparison) }
      document(@y + 6)
    end

    private

    def document(height)
      <<~XML
        <svg xmlns="http://www.w3.org/2000/svg" width="#{WIDTH}" height="#{height}" viewBox="0 0 #{WIDTH} #{height}" role="img">
        <title>When GraphQL queries wait for PostgreSQL, without and with Pipeloader</title>
        <style>
        #{STYLE}</style>
        <rect x="0.5" y="0.5" width="#{WIDTH - 1}" height="#{height - 1}" rx="10" fill="#{GROUND}" stroke="#{EDGE}"/>
        #{@parts.join("\n")}
        </svg>
      XML
    end

    def heading
      text(24, 36, "When the query waits for PostgreSQL", "title")
      { "waiting for the server" => [WIDTH - 346, 1], "Ruby at work" => [WIDTH - 148, 0.3] }.each do |words, (x, opacity)|
        COLOURS.each_value.with_index { |colour, i| rect(x + i * 13, 26, 11, 11, colour, opacity) }
        text(x + 33, 36, words, "soft")
      end
      @y = 56
    end

    def panel(comparison)
      rtt = comparison.rtts.last
      plain, piped = comparison.medians(rtt)
      line(24, @y, WIDTH - 24, @y, EDGE)
      text(24, @y + 26, comparison.query.name, "name")
      text(LANE.begin, @y + 26, comparison.query.about.to_s, "soft")
      text(WIDTH - 24, @y + 26, "RTT #{rtt} ms", "soft end")
      @y += 42
      overview(plain, piped)
      magnified(piped)
      @y += 18
    end

    # Both runs to one scale.
    def overview(plain, piped)
      longest = [plain, piped].map(&:ms).max
      top = @y
      height = 2 * ROW + 4
      axis(longest, top, height)
      overview_row("plain", plain, longest, :plain)
      overview_row("Pipeloader", piped, longest, :piped)
      @fan = [top + height - 10, x(piped.ms, longest)]
      @y = top + height + 16
    end

    def overview_row(label, recording, longest, way)
      y = @y + (ROW - BAR) / 2
      text(24, y + 11, label, way == :piped ? "strong" : "")
      rect(LANE.begin, y, width(recording.ms, longest), BAR, COLOURS[way], 0.3)
      waits(recording.trips, longest, y, COLOURS[way])
      text(RIGHT, y + 11, "#{Words.ms(recording.ms)} · #{Words.plural(recording.round_trips, "round trip")}", "strong")
      @y += ROW
    end

    # All waits as one path; those closer than a third of a pixel are drawn as one.
    def waits(trips, longest, y, colour)
      spans = trips.map { |trip| [x(trip.start, longest), x(trip.finish, longest)] }.each_with_object([]) do |(from, to), all|
        all.any? && from - all.last[1] < 0.34 ? all.last[1] = [all.last[1], to].max : all << [from, to]
      end
      path = spans.map { |from, to| "M#{n(from)} #{y}h#{n([to - from, 0.5].max)}v#{BAR}H#{n(from)}z" }.join
      @parts << %(<path d="#{path}" fill="#{colour}"/>)
    end

    # Pipeloader's run alone, over the whole lane, a row for each burst.
    def magnified(piped)
      shown = piped.trips.first(MOST_BURSTS)
      from, till = @fan
      fan = "M#{LANE.begin} #{from}H#{n(till)}L#{LANE.end} #{@y}H#{LANE.begin}z"
      @parts << %(<path d="#{fan}" fill="#{COLOURS[:piped]}" opacity="0.07"/>)
      axis(piped.ms, @y, shown.size * ROW + 4)
      shown.each { |trip| burst(trip, piped.ms) }
      @y += 20
      more = piped.trips.size - shown.size
      text(24, @y + 10, "… and #{more} more", "soft") && @y += 16 if more.positive?
    end

    def burst(trip, whole)
      y = @y + (ROW - BAR) / 2
      from, till = x(trip.start, whole), x(trip.finish, whole)
      text(24, y + 11, trip.position ? "burst #{trip.position}" : "alone", "soft")
      rect(from, y, [till - from, 1].max, BAR, COLOURS[:piped], 1, Words.reads(trip.reads).join(", "))
      carried(trip, from, till, y + 11)
      text(RIGHT, y + 11, [Words.ms(trip.ms), Words.plural(trip.statements, "statement")].join(" · "))
      @y += ROW
    end

    # Beside the bar, on the side that has more room.
    def carried(trip, from, till, y)
      left, right = from - LANE.begin, LANE.end - till
      words = fit(Words.reads(trip.reads), [left, right].max - 12)
      right >= left ? text(till + 8, y, words) : text(from - 8, y, words, "end")
    end

    def fit(words, room)
      all = words.join(", ")
      return all if all.length * LETTER <= room || words.size == 1

      shown = words.take_while.with_index { |_, i| "#{words.first(i + 1).join(", ")} + 9 more".length * LETTER <= room }
      shown = words.first(1) if shown.empty?
      "#{shown.join(", ")} + #{words.size - shown.size} more"
    end

    def axis(whole, top, height)
      step = step_of(whole)
      (0..(whole / step).floor).each do |i|
        at = x(i * step, whole)
        line(at, top, at, top + height, GRID)
        text(at, top + height + 12, i.zero? ? "0" : "#{mark(i * step)} ms", "soft middle")
      end
    end

    # 0.5 → "0.5", 2000.0 → "2,000"
    def mark(ms) = (ms.round(2) % 1).zero? ? Words.count(ms.round) : ms.round(2).to_s

    # 1, 2 or 5 times a power of ten, so that there are at most seven steps.
    def step_of(whole)
      power = 10.0**Math.log10(whole / 7.0).floor
      [1, 2, 5, 10].map { |factor| factor * power }.find { |step| whole / step <= 7 }
    end

    def x(ms, whole) = LANE.begin + width(ms, whole)

    def width(ms, whole) = ms.clamp(0, whole) / whole * (LANE.end - LANE.begin)

    def n(number) = number.round(2).to_s.delete_suffix(".0")

    def rect(x, y, width, height, fill, opacity, title = nil)
      shape = %(<rect x="#{n(x)}" y="#{y}" width="#{n(width)}" height="#{height}" rx="1.5" fill="#{fill}" opacity="#{opacity}")
      @parts << (title ? "#{shape}><title>#{escape(title)}</title></rect>" : "#{shape}/>")
    end

    def line(x1, y1, x2, y2, stroke) = @parts << %(<path d="M#{n(x1)} #{n(y1)}L#{n(x2)} #{n(y2)}" stroke="#{stroke}"/>)

    def text(x, y, words, classes = "")
      @parts << %(<text x="#{n(x)}" y="#{y}"#{%( class="#{classes}") unless classes.empty?}>#{escape(words)}</text>)
    end

    def escape(words) = words.gsub(/[&<>"]/, "&" => "&amp;", "<" => "&lt;", ">" => "&gt;", '"' => "&quot;")
  end
end

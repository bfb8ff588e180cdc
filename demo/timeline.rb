# frozen_string_literal: true

require_relative "words"

module Demo
  # Draws in the terminal when a query waited for the server, and what each burst carried.
  #
  #        plain ▓▓▓▒▓▓▓▓▓▓▓▓▒▓▓▓▓▓▓▓▓▓▓▓   662 ms              301 round trips
  #   Pipeloader ░░▒░                        97 ms              3 round trips
  #
  #        burst                           waiting  statements  reads
  #            1 █▉                         2.6 ms           1  Invoice
  #            2         █▌                 2.5 ms          70  Customer ×40, InvoiceLine ×40
  class Timeline
    SHADES = %w[░ ░ ▒ ▓ █].freeze # by the part of a cell's time that was spent waiting
    EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"].freeze
    LABEL = 11
    FIGURES = [9, 12].freeze # milliseconds, statements
    WORDS = 34
    MOST_BURSTS = 30

    # plain, piped: Recordings
    def initialize(plain, piped, paint:, width: 100)
      @plain = plain
      @piped = piped
      @paint = paint
      @cells = width - LABEL - FIGURES.sum - WORDS - 3
    end

    #: () -> Array[String]
    def lines
      [*overview, *(["", *bursts] if @piped.trips.any?)]
    end

    private

    # Both ways to the same scale.
    def overview
      longest = [@plain, @piped].map(&:ms).max
      { "plain" => [@plain, :yellow], "Pipeloader" => [@piped, :green] }.map do |label, (recording, colour)|
        figures = [Words.ms(recording.ms), ""]
        line(label, density(recording, longest), colour, figures, Words.plural(recording.round_trips, "round trip"))
      end
    end

    # One character per cell, darker where more of its time was spent waiting.
    def density(recording, longest)
      cell = longest / @cells
      Array.new((recording.ms / cell).ceil.clamp(1, @cells)) do |i|
        waited = recording.trips.sum { |trip| overlap(trip, i * cell, (i + 1) * cell) }
        SHADES[(waited / cell * 4).round.clamp(0, 4)]
      end.join
    end

    def overlap(trip, from, to) = ([trip.finish, to].min - [trip.start, from].max).clamp(0, nil)

    # Pipeloader's run alone, magnified to the whole width: a line per burst.
    def bursts
      more = @piped.trips.size - MOST_BURSTS
      [@paint.dim(line("burst", "", nil, %w[waiting statements], "reads")),
       *@piped.trips.first(MOST_BURSTS).flat_map { |trip| burst(trip) },
       *(line("", "", nil, ["", ""], "… and #{more} more") if more.positive?)]
    end

    def burst(trip)
      first, *rest = wrap(Words.reads(trip.reads))
      figures = [Words.ms(trip.ms), Words.count(trip.statements)]
      [line(trip.position || "alone", span(trip), :green, figures, first),
       *rest.map { |words| line("", "", nil, ["", ""], words) }]
    end

    def span(trip)
      cell = @piped.ms / @cells
      from = (trip.start / cell).floor.clamp(0, @cells - 1)
      eighths = (((trip.finish / cell) - from) * 8).round.clamp(1, (@cells - from) * 8)
      (" " * from) + ("█" * (eighths / 8)) + EIGHTHS[eighths % 8]
    end

    def line(label, bar, colour, figures, words)
      columns = figures.zip(FIGURES).map { |figure, width| figure.rjust(width) }.join
      "#{label.to_s.rjust(LABEL)} #{colour ? @paint.send(colour, bar) : bar}#{" " * (@cells - bar.length)}#{columns}  #{words}"
    end

    # Joins words by commas into lines that fit.
    def wrap(words)
      words.each_with_object([]) do |word, lines|
        if lines.any? && "#{lines.last}, #{word}".length < WORDS
          lines.last << ", " << word
        else
          lines.last << "," if lines.any?
          lines << +word
        end
      end
    end
  end
end

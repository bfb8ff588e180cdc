# frozen_string_literal: true

module Pipeloader
  # How much a block may ask of its databases, and what to say where it asks for more:
  #
  #     expected at most 3 round trips, but there were 5:
  #       1. 1 statement, 10 rows, 0.6 ms: Query.posts, app/graphql/types/query_type.rb:8
  #            SELECT "posts".* FROM "posts"
  #       …
  #     Too many by: Post.audits, app/services/audits.rb:12
  class Budget
    FIGURES = { round_trips: "round trip", statements: "statement", rows: "row" }.freeze
    # How many texts, and askers, of one round trip are shown; and how many round trips.
    SHOWN = 5
    LONGEST = 20
    private_constant :FIGURES, :SHOWN, :LONGEST

    # @param figure [Symbol] :round_trips, :statements or :rows
    # @param at_most [Integer, nil]
    # @param exactly [Integer, nil]
    # @raise [ArgumentError] unless one of the two is given
    def initialize(figure, at_most: nil, exactly: nil)
      unless [at_most, exactly].compact.one? { |it| it.is_a?(Integer) }
        raise ArgumentError, "say how many #{FIGURES.fetch(figure)}s there may be: an Integer, as `at_most:` or exactly"
      end

      @figure = figure
      @at_most = at_most
      @exactly = exactly
    end

    def kept?(ledger) = @exactly ? ledger.public_send(@figure) == @exactly : ledger.public_send(@figure) <= @at_most

    # "at most 3 round trips"
    def to_s = @exactly ? counted(@exactly, FIGURES[@figure]) : "at most #{counted(@at_most, FIGURES[@figure])}"

    # @return [String] what was expected, what happened, and who has asked for what is too much
    def complaint(ledger)
      made = ledger.public_send(@figure)
      ["expected #{self}, but there #{made == 1 ? "was" : "were"} #{made}#{":" if ledger.trips.any?}",
       *lines(ledger), *blame(ledger)].join("\n")
    end

    # @return [Array<String>] the round trips; those in a row that are alike, in one
    def lines(ledger)
      alike = ledger.trips.each.with_index(1).slice_when { |(one, _), (other, _)| !alike?(one, other) }.to_a
      left = alike.drop(LONGEST).sum(&:size)
      [*alike.first(LONGEST).flat_map { |same| lines_of(same) }, *("  and #{counted(left, "round trip")} more" if left.positive?)]
    end

    private

    def alike?(one, other) = one.sql == other.sql && one.asked == other.asked

    def lines_of(same)
      trips = same.map(&:first)
      first, last = same.first.last, same.last.last
      number = first == last ? "#{first}." : "#{first}. to #{last}., alike:"
      ["  #{number} #{figures(trips.first)}#{": #{askers(trips.first)}" if trips.first.asked.any?}",
       *shown(trips.first.sql, "statements") { |sql, reads| "       #{sql.squish}#{times(reads)}" }]
    end

    def figures(trip)
      reads = counted(trip.reads, "read") unless trip.reads == trip.statements
      [[reads, counted(trip.statements, "statement")].compact.join(" in "), counted(trip.rows, "row"),
       format("%.1f ms", trip.milliseconds)].join(", ")
    end

    def askers(trip) = shown(trip.asked, "others") { |site, reads| "#{site}#{times(reads)}" }.join("; ")

    def shown(tally, others, &)
      left = tally.size - SHOWN
      tally.first(SHOWN).map(&) + (left.positive? ? ["       and #{left} more #{others}"] : [])
    end

    # Who has made the round trips beyond those that were expected; for rows, the one that brought most.
    def blame(ledger)
      return most(ledger) if @figure == :rows

      sum = 0
      over = ledger.trips.select { |trip| (sum += @figure == :statements ? trip.statements : 1) > (@exactly || @at_most) }
      sites = over.flat_map { |trip| trip.asked.keys }.uniq
      "Too many by: #{shown(sites, "others", &:to_s).join("; ")}" if sites.any?
    end

    def most(ledger)
      trip = ledger.trips.max_by(&:rows)
      "Most of them by: #{askers(trip)}" if trip&.asked&.any?
    end

    def times(number) = (" ×#{number}" if number > 1)
    def counted(number, word) = "#{number} #{word}#{"s" unless number == 1}"
  end
end

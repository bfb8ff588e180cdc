# frozen_string_literal: true

module Pipeloader
  # Which statements were sent by which round trip, as it was seen.
  #
  #     burst 1: SELECT "posts".* FROM "posts"
  #     burst 2, under app.tenant_id: SELECT "users".* FROM "users" WHERE "users"."id" = $1 (×12)
  #     burst 2, by a lane: …
  class TripsTaken
    # @param bursts [Array<Hash>] payloads of Burst's events
    def initialize(bursts)
      @trips = bursts.slice_when { |one, other| !together?(one, other) }.to_a
    end

    #     [{trip: 1, lane: false, settings: ["app.tenant_id"], statements: {"SELECT …" => how many reads}}]
    #
    #: () -> Array[Hash[Symbol, untyped]]
    def to_a
      @trips.flat_map.with_index(1) do |bursts, number|
        bursts.partition { |burst| !burst[:lane] }.flatten.map { |burst| told(burst, number) }
      end
    end

    #: () -> Array[String]
    def lines
      to_a.flat_map do |it|
        how = "#{", by a lane" if it[:lane]}#{", under #{it[:settings].join(", ")}" if it[:settings].any?}"
        it[:statements].map { |sql, reads| "burst #{it[:trip]}#{how}: #{sql.squish}#{" (×#{reads})" if reads > 1}" }
      end
    end

    private

    # A level's bursts go to several connections at the same time.
    def together?(one, other) = one[:position] == other[:position] && !one[:connection].equal?(other[:connection])

    def told(burst, trip)
      { trip: trip, lane: burst[:lane] || false, settings: Array(burst[:settings]), statements: burst[:reads].map(&:sql).tally }
    end
  end
end

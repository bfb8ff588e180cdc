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
      @bursts = bursts
      @levels = bursts.map { |burst| burst[:position] }.uniq # what goes to several connections, goes at the same time
    end

    #     [{trip: 1, lane: false, settings: ["app.tenant_id"], statements: {"SELECT …" => how many reads}}]
    #
    #: () -> Array[Hash[Symbol, untyped]]
    def to_a = @bursts.map { |burst| told(burst) }.sort_by.with_index { |it, index| [it[:trip], it[:lane] ? 1 : 0, index] }

    #: () -> Array[String]
    def lines
      to_a.flat_map do |it|
        how = "#{", by a lane" if it[:lane]}#{", under #{it[:settings].join(", ")}" if it[:settings].any?}"
        it[:statements].map { |sql, reads| "burst #{it[:trip]}#{how}: #{sql.squish}#{" (×#{reads})" if reads > 1}" }
      end
    end

    private

    def told(burst)
      { trip: @levels.index(burst[:position]) + 1, lane: burst[:lane] || false, settings: Array(burst[:settings]),
        statements: burst[:reads].map(&:sql).tally }
    end
  end
end

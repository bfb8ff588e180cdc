# frozen_string_literal: true

module Bench
  # From how many reads alike on one statement for all costs less than a statement each, pipelined: Coalesced::WORTH. The table
  # of docs/coalescing.md.
  class Crossover
    CONTENDERS = %w[pipeloader-uncoalesced pipeloader-uncompiled].freeze
    WORKLOADS = Workload.all.filter_map { |workload| workload.name if workload.name.start_with?("alike-") }.freeze
    HEADS = ["reads alike", "how many", "time", "client CPU", "server CPU", "objects"].freeze
    # (Of a Summary.)
    MEASURES = %i[median cpu server allocations].freeze

    # contests: by the workloads' names
    def initialize(contests)
      @contests = contests
    end

    # [[kind, how many, parts of what a statement each takes …], …]
    def rows
      @contests.map do |name, contest|
        apart, together = contest[:entries].values_at(*CONTENDERS).map { |entry| Summary.new(entry[:samples].values.first) }
        _, kind, size = name.split("-")
        [kind, size, *MEASURES.map { |measure| part(together.public_send(measure), apart.public_send(measure)) }]
      end
    end

    def write(environment) = Marked.fill_table("docs/coalescing.md", HEADS, rows, environment)

    private

    def part(mine, other) = mine && other&.positive? ? format("%.2f", mine / other.to_f) : "–"
  end
end

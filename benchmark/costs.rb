# frozen_string_literal: true

module Bench
  # What a field, a row, a read and a burst cost: differences between queries of which one has more of them. The figures of
  # docs/performance.md.
  class Costs
    CONTENDERS = %w[naive dataloader pipeloader pipeloader-exact].freeze
    WORKLOADS = %w[rows-250 rows-1000 fields-1000 reads-250 reads-1000 chain-2 chain-10].freeze
    HEADS = ["what", "contender", "client CPU µs", "server CPU µs", "objects"].freeze
    # Each is ([one query] - [another]) / how many more of it, less what else is more.
    FIELD = ->(of) { (of["fields-1000"] - of["rows-1000"]) / 3000 }
    ROW = ->(of) { (of["rows-1000"] - of["rows-250"]) / 750 }
    READ = ->(of) { (of["reads-1000"] - of["reads-250"]) / 750 - ROW.(of) }
    LEVEL = ->(of) { (of["chain-10"] - of["chain-2"]) / 8 }
    FORMULAS = { "a field" => FIELD, "a row of a list, with one field" => ROW,
                 "a read for each item: one record, two fields" => READ,
                 "a level of one read: one record, one field" => LEVEL }.freeze
    # What is taken of a Summary, and what makes it a thousandth of a ms, or a number.
    MEASURES = { cpu: 1000.0, server: 1000.0, allocations: 1.0 }.freeze

    # contests: by the workloads' names, without "cost-".
    def initialize(contests)
      @summaries = contests.transform_values do |contest|
        contest[:entries].transform_values { |entry| Summary.new(entry[:samples].values.first) }
      end
    end

    # [[what, contender, client µs, server µs, objects], …]
    def rows = FORMULAS.keys.product(present).map { |what, name| [what, name, *figures(FORMULAS[what], name)] }

    def write(environment) = Marked.fill_table("docs/performance.md", HEADS, rows, environment)

    private

    def present = CONTENDERS.select { |name| @summaries.values.all? { |summaries| summaries[name] } }

    def figures(formula, name)
      MEASURES.map do |measure, unit|
        of = @summaries.transform_values { |summaries| summaries[name].public_send(measure)&.*(unit) }
        of.value?(nil) ? "–" : formula.(of).round(1)
      end
    end
  end
end

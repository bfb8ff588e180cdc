# frozen_string_literal: true

module Bench
  # The README's table, between its two markers.
  class Readme
    WORKLOADS = { "narrow-25" => "narrow, 25 posts", "wide" => "wide, 12 issues" }.freeze
    ROWS = { "naive" => "plain resolvers", "includes" => "`includes`, by hand", "dataloader" => "`GraphQL::Dataloader`, by hand",
             "pipeloader" => "**Pipeloader**, plain resolvers" }.freeze

    def initialize(results, root: Marked::ROOT)
      @whole = results[:whole]
      @environment = results[:environment]
      @tables = (results[:contests] || []).to_h { |contest| [contest[:workload], Table.new(contest)] }.slice(*WORKLOADS.keys)
      @root = root
    end

    # Returns the file's name; nil if it isn't for the README: what was tried in passing.
    def write
      return if !@whole || @tables.size < WORKLOADS.size
      Marked.fill("README.md", table, root: @root)
    end

    private

    def table
      rtts = @tables.values.first.rtts
      <<~MARKDOWN
        Median times relative to plain resolvers, Ruby #{@environment[:versions]["Ruby"]} without YJIT on #{@environment[:machine][/\A\d+/]} cores
        (`#{@environment[:command]}`, #{@environment[:date]}; yours will differ).
        `docs/benchmarks.md` says where others are faster, and why.

        | | round trips | #{rtts.map { |rtt| "RTT #{Table.plain(rtt)}#{" ms" if rtt.positive?}" }.join(" | ")} |
        |-|-|#{"-|" * rtts.size}
        #{WORKLOADS.flat_map { |name, title| rows(title, @tables[name], rtts) }.join("\n")}
      MARKDOWN
    end

    def rows(title, table, rtts)
      (ROWS.keys & table.names).map do |name|
        label = name == "naive" ? "#{title}: #{ROWS[name]}" : "&nbsp; #{ROWS[name]}"
        "| #{label} | #{table.entries[name][:round_trips]} | #{rtts.map { |rtt| share(table, name, rtt) }.join(" | ")} |"
      end
    end

    def share(table, name, rtt) = table.share(name, rtt)&.then { |share| name == "naive" ? "1" : format("%.2f", share) } || "–"
  end
end

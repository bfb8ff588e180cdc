# frozen_string_literal: true

module Bench
  # A contest in words: who was fastest, and where it wasn't Pipeloader, by how much and what it had to do for it.
  class Verdict
    OURS = "pipeloader"
    # Not ways to write a GraphQL API.
    NOT_AN_API = /\A(floor|rest|join)/
    # Pipeloader, too: nobody's rival but the others'.
    VARIANTS = /\A(pipeloader-|next-pipeloader)/
    # That engine is a choice of its own.
    OTHER_ENGINE = /\Anext/

    def initialize(table)
      @table = table
    end

    # Who is the fastest at the nearest distance, and why if it isn't Pipeloader. The document's first table has all distances.
    def sentences = [at(@table.rtts.first), why].compact

    # Who of those that answered is the fastest way to write a GraphQL API; nil if nobody is left.
    def fastest(rtt, but: /\A\z/)
      names = @table.names.grep_v(NOT_AN_API).grep_v(VARIANTS).grep_v(but).select { |name| @table.summary(name, rtt) }
      names.min_by { |name| @table.summary(name, rtt).median }
    end

    # Our time by that name's.
    def ratio(name, rtt) = @table.summary(OURS, rtt).of(@table.summary(name, rtt))

    private

    def at(rtt)
      return unless @table.summary(OURS, rtt)
      first = fastest(rtt)
      return "At RTT #{Table.plain(rtt)} ms Pipeloader is the fastest#{second(rtt)}." if first == OURS

      "At RTT #{Table.plain(rtt)} ms Pipeloader is *not* the fastest: it takes #{times(ratio(first, rtt))} as long as #{first}" \
        "#{same_engine(rtt) if first.match?(OTHER_ENGINE)}."
    end

    def second(rtt)
      name = fastest(rtt, but: /\A#{OURS}\z/)
      name ? ", #{name} takes #{times(1 / ratio(name, rtt))} as long" : ""
    end

    def same_engine(rtt)
      name = fastest(rtt, but: OTHER_ENGINE)
      return ", but is the fastest on its engine" if name == OURS

      ", and #{times(ratio(name, rtt))} as long as #{name}, on the same engine"
    end

    # By what was counted, against the fastest at the nearest distance.
    def why
      rtt = @table.rtts.first
      other = fastest(rtt)
      return if other == OURS || [OURS, other].any? { |name| @table.entries.dig(name, :statements).nil? }

      "Why, at RTT #{Table.plain(rtt)}: #{[OURS, other].map { |name| cost(name, rtt) }.join("; ")}."
    end

    def cost(name, rtt)
      entry, summary = @table.entries[name], @table.summary(name, rtt)
      server = ", #{Table.ms(summary.server)} ms of the server's" if summary.server
      "#{name} sends #{entry[:statements]} statements in #{entry[:round_trips]} round trips and needs " \
        "#{Table.ms(summary.cpu)} ms of client CPU#{server} and #{summary.allocations} objects"
    end

    def times(factor) = format(factor < 10 ? "%.1f ×" : "%.0f ×", factor)
  end
end

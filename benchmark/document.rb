# frozen_string_literal: true

require_relative "verdict"
require_relative "dot_plot"
require_relative "line_chart"

module Bench
  # docs/benchmarks.md and its charts.
  class Document
    FOLDER = File.expand_path("../docs", __dir__)

    # A table in Markdown.
    def self.grid(heads, rows)
      lines = [heads, *rows].map { |cells| "| #{cells.join(" | ")} |" }
      lines.insert(1, "|#{"-|" * heads.size}").join("\n")
    end

    # results: as Run makes them.
    def initialize(results, folder: FOLDER)
      @results = results
      @folder = folder
      @tables = (results[:contests] || []).to_h { |contest| [Workload.named(contest[:workload]), Table.new(contest)] }
      @charts = {}
    end

    # Returns the file's name.
    def write
      text = "#{sections.compact.map(&:strip).join("\n\n")}\n"
      FileUtils.mkdir_p("#{@folder}/benchmarks")
      @charts.each { |name, svg| File.write("#{@folder}/benchmarks/#{name}.svg", svg) }
      File.write("#{@folder}/benchmarks.md", text)
      "docs/benchmarks.md"
    end

    private

    def sections = [head, method, summary, *@tables.map { |workload, table| workload(workload, table) }, yjit, curves, web]

    def head
      where = @results[:environment]
      <<~MARKDOWN
        # Benchmarks

        Written by `#{where[:command]}` on #{where[:date]}, at commit #{where[:commit]}. Don't edit: `bin/bench` writes it anew.
        #{"\n**Provisional:** not all was measured; what counts is a whole run, `bin/bench`, on a machine that does nothing else.\n" if provisional?}#{busy}
        - Machine: #{where[:machine]}; load average #{where[:load_before]} before, #{where[:load_after]} after
        - PostgreSQL #{where[:postgresql]}, on the same machine, over TCP
        - #{where[:versions].map { |name, version| "#{name} #{version}" }.join(", ")}
        - Distance, `select 1` on a prepared statement: #{distances}
      MARKDOWN
    end

    # More to do than processors to do it: then clocks tell of others' work, too.
    def busy
      where = @results[:environment]
      return unless where.values_at(:load_before, :load_after).compact.any? { |load| load > where[:machine].to_i }

      "\n**The machine was busy with other work.** Times, and ratios of them, aren't to be trusted here; round trips, " \
        "statements, bytes and objects are, CPU roughly.\n"
    end

    def provisional? = !@results[:whole]

    def distances
      @results[:calibration].map { |rtt, ms|
        format("RTT %s is %.2f ms (p99 %.2f)", Table.plain(rtt), ms[:median], ms[:p99])
      }.join(", ")
    end

    def method
      contenders = Contender.all.map { |contender| "| #{contender.title} | #{contender.about} |" }
      <<~MARKDOWN
        ## How it is measured

        | | |
        |-|-|
        | Contender | a process of its own with only its gems, on the same tables, models, types and query |
        | Answer | equal to naive's byte by byte before anything is timed, but for white space between list items in json_agg's; a contender that answers otherwise is left out |
        | Run | from the query's text to the JSON text, after `GC.start`; contenders take turns in random order, slow ones less often |
        | Ratios | of medians of the same run, to naive's; a p99 of fewer than 100 runs is near the slowest |
        | Round trips, bytes | counted by a proxy on the wire at RTT 5 ms; statements by libpq's trace |
        | CPU | of the process and its PostgreSQL backend, per answer, at the nearest distance; objects: what Ruby allocated; peak: the process's |
        | Settings | query cache off, prepared statements on, YJIT off unless named |

        | contender | |
        |-|-|
        #{contenders.join("\n")}

        `floor-…`, `rest…` and `join…` aren't ways to write a GraphQL API: they show what the rest costs. `eager_load` ignores an association's
        order, so it is left out where its answer differs.
      MARKDOWN
    end

    # First of all: where it loses.
    def summary
      return if @tables.empty?
      rows = @tables.filter_map { |workload, table| summary_row(workload, table) if table.summary(Verdict::OURS, table.rtts.first) }
      rtts = @tables.values.first.rtts
      <<~MARKDOWN
        ## Where Pipeloader is the fastest, and where it isn't

        Its time relative to the fastest other way to write the same GraphQL API, on the same engine and on any; below 1 is faster.

        | workload | #{rtts.map { |rtt| "RTT #{Table.plain(rtt)}: by the best of its engine | of all" }.join(" | ")} |
        |-|#{"-|-|" * rtts.size}
        #{rows.join("\n")}
      MARKDOWN
    end

    def summary_row(workload, table)
      verdict = Verdict.new(table)
      cells = table.rtts.flat_map { |rtt| [/\A(next|pipeloader)/, /\Apipeloader/].map { |out| best(verdict, rtt, out) } }
      "| [#{workload.title}](##{anchor(workload.title)}) | #{cells.join(" | ")} |"
    end

    def best(verdict, rtt, out)
      name = verdict.fastest(rtt, but: out)
      name ? format("%.2f (%s)", verdict.ratio(name, rtt), name) : "–"
    end

    def anchor(title) = title.downcase.gsub(/[^\p{Word}\- ]/, "").tr(" ", "-")

    def workload(workload, table)
      chart = chart(workload.name, DotPlot.new("#{workload.title}: #{workload.about}", table))
      <<~MARKDOWN
        ## #{workload.title}

        `bin/bench --workload #{workload.name}`: #{workload.about}. #{Verdict.new(table).sentences.join(" ")}#{measured(workload)}

        #{chart}
        #{grid(table.heads, table.rows)}
        #{absent(workload)}
      MARKDOWN
    end

    def contest(workload) = @results[:contests].find { |each| each[:workload] == workload.name }

    # What the head doesn't say: of another run, which this one has taken over.
    def measured(workload)
      other = contest(workload).fetch(:measured).reject { |what, value| @results[:environment][what] == value }
      "\nMeasured by another run: #{other.map { |what, value| "#{what} #{value}" }.join(", ")}." unless other.except(:date).empty?
    end

    def absent(workload)
      contest(workload)[:absent].map { |name, why| "\nLeft out: #{reason(name, why.lines.first.strip.delete_suffix(":"))}.\n" }
                                .join
    end

    # "eager_load answers differently", or "next, this graphql-ruby has no GraphQL::Execution::Next"
    def reason(name, why) = why.start_with?(name) ? why : "#{name}, #{why}"

    def yjit
      return unless @results[:yjit]
      parts = @results[:yjit].map do |contest|
        table = Table.new(contest)
        "### #{Workload.named(contest[:workload]).title}, with YJIT and without\n\n#{grid(table.heads, table.rows)}\n"
      end
      "## YJIT\n\nOf the Ruby above, in one run.\n\n#{parts.join("\n")}"
    end

    def curves
      return unless @results[:curves]
      parts = Curve.all.map do |curve|
        lines = curve.lines(@results[:curves].fetch(curve.name))
        "### #{curve.title}\n\n#{chart(curve.name, LineChart.new(curve.title, curve.axis, lines))}\n#{points(curve, lines)}\n"
      end
      left_out = "Contenders that would take more than #{Stamina::LIMIT.round} s for a longer list are left out."
      "## Growing\n\nMedians in ms. #{left_out}\n\n#{parts.join("\n")}"
    end

    def points(curve, lines)
      marks = lines.values.flatten(1).map(&:first).uniq
      rows = lines.map { |name, points| [name, *marks.map { |mark| points.to_h[mark]&.then { |ms| Table.ms(ms) } || "–" }] }
      grid([curve.axis, *marks.map { |mark| Table.plain(mark) }], rows)
    end

    def web
      return if @results[:web].nil? || @results[:web].empty?
      <<~MARKDOWN
        ## Web servers

        Puma with 16 threads, Falcon with two processes and a connection per fiber; wrk with 32 connections for 8 s after 2 s of warm-up.

        - One connection runs ten sleeps one after the other, so pipelining them doesn't help; lanes spread them over connections that are free.
        - While the fibers of a GraphQL::Dataloader wait, their whole thread waits: that is what sleeps under Falcon show.
          AsyncDataloader doesn't hold it up, but graphql 2.6 needs an `async` for it that Ruby 3.1 can't have.

        #{grid(Web::HEADS, @results[:web].map { |result| Web.row(result) })}
      MARKDOWN
    end

    def grid(heads, rows) = self.class.grid(heads, rows)

    # The picture, by reference.
    def chart(name, drawing)
      @charts[name] = drawing.to_s
      "![](benchmarks/#{name}.svg)\n"
    end
  end
end

# frozen_string_literal: true

# What bin/bench runs when everything is set up.

require "json"
require "terminal-table"
require_relative "options"
require_relative "progress"
require_relative "environment"
require_relative "journal"
require_relative "database"
require_relative "calibration"
require_relative "revision"
require_relative "entry"
require_relative "contest"
require_relative "curve"
require_relative "stamina"
require_relative "summary"
require_relative "table"
require_relative "comparison"
require_relative "profile"
require_relative "marked"
require_relative "costs"
require_relative "crossover"
require_relative "web"
require_relative "document"
require_relative "readme"

module Bench
  # The benchmark from the command line to the exit status.
  class Run
    LAST = File.expand_path("../tmp/benchmark/last", __dir__)
    QUICK = %w[narrow-25 wide aggregates].freeze
    QUICK_CONTENDERS = %w[includes dataloader graphql-batch goldiloader pipeloader pipeloader-exact next-dataloader
                          floor-rows].freeze
    YJIT = %w[narrow-25 wide fields-20-50-4 nested-10-10-10].freeze
    YJIT_CONTENDERS = %w[naive includes dataloader graphql-batch pipeloader pipeloader-exact next-dataloader
                         next-pipeloader].freeze

    def initialize(options, out: $stdout)
      @options = options
      @out = out
    end

    def call
      return write(Marshal.load(File.binread(LAST))) if @options.report?

      @environment = Environment.new(@options.given)
      @journal = journal
      @progress = Progress.new(steps)
      @database = Database.new(@progress)
      @options.profile ? profile : measure
    ensure
      @progress&.clear
    end

    private

    def journal
      versions = [@environment.versions, @options.yjit, chosen, revisions.map(&:commit)]
      Journal.new(versions, [*@environment.signature, @options.settings],
                  fresh: @options.fresh? || @options.quick?, older: @options.older?)
    end

    def measure
      results = { calibration: calibration }
      @options.parts.each { |part| results[part] = in_time { public_send(part) } }
      @progress.clear
      whole = @options.whole? && !@late
      finish(results.compact.merge(whole: whole, environment: environment))
    end

    # What the block returns; nil where something is still to be measured, and --minutes are over.
    def in_time(&block)
      @began ||= Sample.now
      catch(:late, &block)
    end

    # Called before anything is measured.
    def check_time
      return unless @options.minutes && Sample.now - @began > @options.minutes * 60

      @late = true
      throw :late
    end

    def environment
      runs = @options.settings.values_at(:budget, :least).join(" s, at least ")
      @environment.to_h(@database.version).merge(runs: runs)
    end

    # How many steps #advance is called for.
    def steps
      sizes = { contests: workloads.size, yjit: YJIT.size, curves: Curve.all.sum { |curve| curve.workloads.size },
                costs: Costs::WORKLOADS.size, crossover: Crossover::WORKLOADS.size, web: 1 }
      @options.profile ? 1 : sizes.values_at(*@options.parts).sum
    end

    def calibration
      @journal.fetch("calibration") { Calibration.new(PrivateCluster.tcp_hash).run(@options.settings[:rtts]) }.tap do |figures|
        @out.puts "`select 1` takes #{figures.map { |rtt, ms|
          format("%.2f ms at RTT %s", ms[:median], Table.plain(rtt))
        }.join(", ")}"
      end
    end

    public

    # The parts

    def contests = workloads.filter_map { |workload| in_time { contest(workload, entries(workload)) } }

    def yjit
      YJIT.map { |name| Workload.named(name) }.map do |workload|
        plain = (titles(workload) & YJIT_CONTENDERS).map { |name| Entry.of(name) }
        contest(workload, plain + plain.map(&:with_yjit), "-yjit", rtts: [0.0])
      end
    end

    def curves = Curve.all.to_h { |curve| [curve.name, curve.workloads.size > 1 ? size(curve) : distance(curve)] }

    def costs
      all = Costs::WORKLOADS.to_h do |name|
        [name, contest(Workload.named("cost-#{name}"), Costs::CONTENDERS.map { |each| Entry.of(each) },
                       least: 15, rtts: [0.0], uncounted: true)]
      end
      all.tap { @out.puts "", Terminal::Table.new(headings: Costs::HEADS, rows: Costs.new(all).rows) }
    end

    def crossover
      entries = Crossover::CONTENDERS.map { |each| Entry.of(each) }
      all = Crossover::WORKLOADS.to_h do |name|
        [name, contest(Workload.named(name), entries, least: 30, rtts: [0.0], uncounted: true)]
      end
      all.tap { @out.puts "", Terminal::Table.new(headings: Crossover::HEADS, rows: Crossover.new(all).rows) }
    end

    def web
      @journal.fetch("web") { check_time || Web.new(@database, @progress).run }.tap do |results|
        @progress.advance
        @progress.clear
        @out.puts "", Terminal::Table.new(headings: Web::HEADS, rows: results.map { |result| Web.row(result) })
      end
    end

    private

    def size(curve)
      stamina = Stamina.new(Curve::CONTENDERS)
      curve.workloads.map do |size, name|
        entries = stamina.left(size).map { |contender| Entry.of(contender) }
        contest(Workload.named(name), entries, "-size", least: 3, most: 25, rtts: curve.rtts, uncounted: true)
          .tap { |result| stamina.learn(size, result) }
      end
    end

    def distance(curve)
      entries = Curve::CONTENDERS.map { |name| Entry.of(name) }
      curve.workloads.values.map do |name|
        contest(Workload.named(name), entries, "-distance", least: 3, most: 25, rtts: curve.rtts)
      end
    end

    def contest(workload, entries, suffix = "", **settings)
      settings = @options.settings(**settings)
      result = @journal.fetch("#{workload.name}#{suffix}") do
        check_time
        Contest.new(workload, entries, @database.address(workload), settings, @progress).run
               .merge(measured: environment.slice(:date, :commit, :machine, :runs))
      end
      @progress.advance
      show(workload, result)
      result
    end

    def workloads
      names = @options.workloads || (QUICK if @options.quick? || revisions.any? || @options.profile)
      names ? names.map { |name| Workload.named(name) } : Workload.listed
    end

    # The measure comes first.
    def entries(workload)
      all = (titles(workload) & ["naive", *chosen]).flat_map do |name|
        [Entry.of(name), *(revisions.map { |revision| revision.entry(name) } if name != "naive")]
      end
      { "off" => all, "on" => all.map(&:with_yjit), "both" => all + all.map(&:with_yjit) }.fetch(@options.yjit)
    end

    def titles(workload) = Contender.all.select { |contender| contender.serves?(workload) }.map(&:title)

    def chosen
      return @options.contenders if @options.contenders
      return %w[pipeloader] if revisions.any?

      @options.quick? ? QUICK_CONTENDERS : Contender.all.map(&:title)
    end

    def revisions = @revisions ||= @options.revisions.map { |name| Revision.new(name) }

    def show(workload, result)
      @progress.clear
      table = Table.new(result)
      @out.puts "", "#{workload.title}: #{workload.about} (#{result[:answer_bytes]} bytes)"
      @out.puts Terminal::Table.new(headings: table.heads, rows: table.rows)
      result[:absent].each { |name, why| @out.puts "Without #{name}: #{why}" }
      revisions.each { |revision| @out.puts Comparison.new(result, revision).to_s }
    end

    def finish(results)
      @out.puts("", results[:environment].map { |name, value| "#{name}: #{value}" })
      File.binwrite(LAST, Marshal.dump(results))
      File.write(@options.json, JSON.pretty_generate(results)) if @options.json
      write(results) if @options.write?
      @late ? @out.puts("Not all was measured within #{@options.minutes} minutes: the same command goes on.") : @journal.forget
    end

    def write(results)
      files = [(Document.new(results).write if results[:contests]), Readme.new(results).write,
               (Costs.new(results[:costs]).write(results[:environment]) if results[:costs]),
               (Crossover.new(results[:crossover]).write(results[:environment]) if results[:crossover])]
      files.compact.each { |file| @out.puts "Written: #{file}" }
    end

    def profile
      workload = workloads.first
      Profile.new(@options.profile, workload, @database.address(workload), @progress).print(@out)
    end
  end
end

if $PROGRAM_NAME == __FILE__
  begin
    Bench::Run.new(Bench::Options.parse(ARGV)).call
  rescue Interrupt
    exit 130
  rescue Bench::Worker::Failed, Bench::Revision::Unknown, PrivateCluster::Error => e
    abort "bin/bench: #{e.message}"
  end
end

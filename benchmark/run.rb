# frozen_string_literal: true

# What bin/bench runs when everything is set up.

require "json"
require "terminal-table"
require_relative "options"
require_relative "progress"
require_relative "environment"
require_relative "journal"
require_relative "database"
require_relative "revision"
require_relative "entry"
require_relative "contest"
require_relative "summary"
require_relative "table"
require_relative "comparison"
require_relative "profile"
require_relative "../example/latency_proxy"

module Bench
  # The benchmark from the command line to the exit status.
  class Run
    QUICK = %w[narrow-25 wide aggregates].freeze

    def initialize(options, out: $stdout)
      @options = options
      @out = out
      @environment = Environment.new(options.given)
      @journal = Journal.new([@environment.signature, revisions.map(&:commit)], fresh: options.fresh? || options.quick?)
      @progress = Progress.new(contests.size)
      @database = Database.new(@progress)
    end

    def call
      return profile if @options.profile

      results = contests.map { |workload, yjit| contest(workload, yjit) }
      @progress.clear
      report(results)
      @journal.forget
    ensure
      @progress.clear
    end

    private

    def contests = @contests ||= workloads.product(yjit)

    def workloads
      names = @options.workloads || (QUICK if @options.quick? || @options.revisions.any?)
      names ? names.filter_map { |name| Workload.named(name) } : Workload.all
    end

    def yjit = { "on" => [true], "both" => [false, true] }.fetch(@options.settings[:yjit], [false])

    def contest(workload, yjit)
      result = @journal.fetch("#{workload.name}#{"-yjit" if yjit}") do
        Contest.new(workload, entries(workload), @database.address(workload), @options.settings, @progress, yjit: yjit).run
      end
      @progress.advance
      show(workload, result)
      result
    end

    # The measure comes first.
    def entries(workload)
      names = Contender.all.select { |contender| contender.serves?(workload) }.map(&:title)
      chosen = names & ["naive", *(@options.contenders || (revisions.any? ? %w[pipeloader] : names))]
      chosen.flat_map { |name| [Entry.of(name), *(revisions.map { |revision| revision.entry(name) } if name != "naive")] }
    end

    def revisions = @revisions ||= @options.revisions.map { |name| Revision.new(name) }

    def show(workload, result)
      @progress.clear
      table = Table.new(result)
      @out.puts "", "#{workload.title}#{", YJIT on" if result[:yjit]}: #{workload.about} (#{result[:answer_bytes]} bytes)"
      @out.puts Terminal::Table.new(headings: table.heads, rows: table.rows)
      result[:absent].each { |name, why| @out.puts "Without #{name}: #{why}" }
      revisions.each { |revision| @out.puts Comparison.new(result, revision).to_s }
    end

    def report(results)
      figures = @environment.to_h(@database.version)
      @out.puts("", figures.map { |name, value| "#{name}: #{value}" })
      File.write(@options.json, JSON.pretty_generate(environment: figures, contests: results)) if @options.json
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

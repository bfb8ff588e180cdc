# frozen_string_literal: true

require "optparse"
require_relative "workloads"
require_relative "contenders"

module Bench
  # What was asked for on the command line.
  class Options
    QUICK = { budget: 0.4, least: 3, most: 15, rtts: [0.0, 1.0] }.freeze
    # Paired rounds are what a comparison's intervals come from.
    COMPARE = { budget: 4.0, least: 15, most: 60, rtts: [0.0, 1.0] }.freeze
    FULL = { budget: 4.0, least: 7, most: 100, rtts: [0.0, 1.0, 5.0] }.freeze

    PARTS = %i[contests yjit curves costs crossover web].freeze

    attr_reader :help, :list, :workloads, :contenders, :json, :revisions, :profile, :given, :yjit, :minutes

    def self.parse(arguments) = new.parse(arguments)

    def initialize
      @workloads = @contenders = nil
      @revisions = []
      @settings = {}
      @yjit = "off"
      @parts = []
    end

    def parse(arguments)
      @given = arguments.dup
      rest = parser.parse(arguments)
      raise OptionParser::InvalidArgument, rest.first unless rest.empty?
      self
    end

    def quick? = @quick || false
    def fresh? = @fresh || false
    def older? = @older || false
    # special: what a part of the benchmark needs by default; what was asked for goes before it, but for the distances.
    def settings(**special) = defaults.merge(@settings, special, @settings.slice(:budget, :least, :most))
    def write? = whole? || @write || false
    # Nothing is left out: what the documents are made from.
    def whole? = !quick? && !@workloads && !@contenders && revisions.empty? && @parts.empty? && !@settings[:rtts] && !report?

    def report? = @report || false
    def setup = ["--bench"] # of bin/setup

    # Which parts of the benchmark to run.
    def parts
      return @parts if @parts.any?
      whole? ? PARTS : [:contests]
    end

    private

    def defaults
      return COMPARE if revisions.any?
      quick? ? QUICK : FULL
    end

    def parser
      OptionParser.new("Usage: bin/bench [options]") do |parser|
        what(parser)
        how(parser)
        parser.separator ""
        parser.on("--compare REV", "this checkout's lib/ against that commit's, in one run; may be repeated") do |revision|
          @revisions << revision
        end
        parser.on("--profile CONTENDER", CONTENDERS, "where the time of an answer goes, by library and by part of ours") do |name|
          @profile = name
        end
        parser.on("--list", "what workloads and contenders there are") { @list = lists }
        parser.on("-h", "--help") { @help = parser.help }
      end
    end

    CONTENDERS = Contender.all.map(&:title).freeze
    WORKLOADS = Workload.listed.map(&:name).freeze
    private_constant :CONTENDERS, :WORKLOADS

    def what(parser)
      parser.on("--quick", "three workloads, few runs, under three minutes; nothing is written") { @quick = true }
      parser.on("--workload LIST", Array, "only these, or those that begin so") { |list| @workloads = pick(list, WORKLOADS) }
      parser.on("--only LIST", Array, "only these contenders (and naive)") { |list| @contenders = pick(list, CONTENDERS) }
      parser.on("--rtt LIST", Array, "round-trip times in ms") { |list| @settings[:rtts] = list.map { |text| Float(text) } }
      parser.on("--curves", "only the curves: a growing list, a growing distance") { @parts << :curves }
      parser.on("--costs", "only what a field, a row, a read and a burst cost") { @parts << :costs }
      parser.on("--crossover", "only from how many reads on one statement for all pays") { @parts << :crossover }
      parser.on("--web", "only Puma and Falcon under wrk") { @parts << :web }
      parser.on("--yjit WHEN", %w[on off both], "on, off (default) or both") { |text| @yjit = text }
    end

    def how(parser)
      parser.on("--budget SECONDS", Float, "for a contender at a distance") { |seconds| @settings[:budget] = seconds }
      parser.on("--least N", Integer, "runs, also of those that are slow (7)") { |least| @settings[:least] = least }
      parser.on("--runs N", Integer, "exactly so many") { |runs| @settings.update(least: runs, most: runs) }
      parser.on("--json FILE", "all figures, single runs too") { |file| @json = file }
      parser.on("--write", "docs/benchmarks.md and its charts (a whole run does, and the README's table)") { @write = true }
      parser.on("--report", "write them from the last run's figures, without measuring") { @report = @write = true }
      parser.on("--minutes N", Float, "start nothing after so many; the same command continues") { |minutes| @minutes = minutes }
      parser.on("--older", "also use what an interrupted run measured at another commit or with other settings") { @older = true }
      parser.on("--fresh", "measure again what an interrupted run has measured") { @fresh = true }
    end

    # "narrow" picks narrow-25, narrow-50 …; a name that is whole picks that one alone.
    def pick(list, names)
      list.flat_map do |text|
        found = names.include?(text) ? [text] : names.select { |name| name.start_with?(text) }
        found.empty? ? raise(OptionParser::InvalidArgument, "#{text}: there are #{names.join(", ")}") : found
      end.uniq
    end

    def lists
      [["Workloads", Workload.listed.map { |workload| [workload.name, workload.title] }],
       ["Contenders", Contender.all.map { |contender| [contender.title, contender.about] }]].map do |title, rows|
        "#{title}\n#{rows.map { |name, about| format("  %-18s %s", name, about) }.join("\n")}"
      end.join("\n\n")
    end
  end
end

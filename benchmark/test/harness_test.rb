# frozen_string_literal: true

require "minitest/autorun"
require "stringio"
require "tmpdir"
require_relative "../run"

# The harness, on a database of its own. Nothing here asserts how long anything takes.
class HarnessTest < Minitest::Test
  QUIET = Struct.new(:said) do
    def say(*) = nil
    def advance = nil
    def clear = nil
  end
  SETTINGS = { budget: 0.0, least: 2, most: 2, rtts: [0.0, 1.0] }.freeze

  def database = @@database ||= Bench::Database.new(QUIET.new)

  def contest(contenders, workload = "narrow-25", **settings)
    named = Bench::Workload.named(workload)
    entries = contenders.map { |name| name.is_a?(Bench::Entry) ? name : Bench::Entry.of(name) }
    Bench::Contest.new(named, entries, database.address(named), SETTINGS.merge(settings), QUIET.new).run
  end

  # A lib/ whose `pipeloader` isn't ours: it spoils answers, or dies.
  def lib_with(code)
    folder = Dir.mktmpdir
    File.write("#{folder}/pipeloader.rb", "module Pipeloader; def self.use(schema) = nil; end\n#{code}")
    Bench::Entry.new(name: "impostor", contender: "pipeloader", lib: folder)
  end

  def test_a_contender_that_drops_a_row_is_left_out
    dropping = lib_with("JSON.singleton_class.prepend(Module.new { def generate(hash, *) = super.sub(/,{\"title\".*?(?=,{\"title\")/, '') })")
    result = contest(["naive", dropping])
    assert_equal %w[naive], result[:entries].keys
    assert_match(/impostor answers differently.*expected/m, result[:absent]["impostor"])
  end

  def test_an_answer_with_errors_is_no_answer
    failing = lib_with("require 'active_record'; class ActiveRecord::Relation; def limit(*) = raise(GraphQL::ExecutionError, 'no'); end")
    assert_match(/got errors/, contest(["naive", failing])[:absent]["impostor"])
  end

  def test_a_contender_that_dies_is_left_out_and_the_others_go_on
    dying = lib_with("JSON.singleton_class.prepend(Module.new { def generate(*) = Process.kill(:KILL, Process.pid) })")
    result = contest(["naive", dying])
    assert_match(/its process died/, result[:absent]["impostor"])
    assert_equal 2, result[:entries]["naive"][:samples][1.0].size
  end

  # Every contender but those whose answer is known to differ, on a workload of each kind.
  def test_all_answers_are_the_same
    %w[harbors limits chinook-aggregates app-list app-search].each do |name|
      workload = Bench::Workload.named(name)
      titles = Bench::Contender.all.select { |contender| contender.serves?(workload) }.map(&:title) - %w[pipeloader-exact]
      assert_empty contest(titles, name, rtts: [], uncounted: true)[:absent], name
    end
  end

  def test_each_process_loads_its_own_gems_only
    gems = %w[graphql-batch batch-loader goldiloader ar_lazy_preload]
    (gems + %w[naive pipeloader]).each do |contender|
      worker = Bench::Worker.new(contender, "narrow-25")
      loaded = worker.load[:libraries]
      assert_equal gems & [contender], gems & loaded, contender
    ensure
      worker.stop
    end
  end

  def test_what_is_counted
    figures = contest(%w[naive pipeloader floor-rows floor-json], rtts: [])[:entries]
    counts = figures.transform_values { |figure| figure.values_at(:round_trips, :statements) }
    assert_equal [290, 290], counts["naive"]
    assert_equal [3, 4], counts["floor-rows"]
    assert_equal [1, 1], counts["floor-json"]
    assert_operator counts["pipeloader"].first, :<, 10
    assert_operator figures["naive"][:bytes_to_client], :>, figures["floor-rows"][:bytes_to_client]
  end

  def test_samples_hold_what_an_answer_cost
    wall, cpu, server, allocations = contest(%w[naive], rtts: [0.0])[:entries]["naive"][:samples][0.0].first
    assert_operator wall, :>, 0
    assert_operator cpu, :>, 0
    assert_operator server, :>, 0 if File.exist?("/proc/self/schedstat")
    assert_operator allocations, :>, 10_000
  end

  def test_ratios_are_of_one_run
    contest = { entries: { "naive" => { samples: { 0.0 => samples(0.2, 0.4, 0.2) } }, "other" => { samples: { 0.0 => samples(0.1, 0.1) } } } }
    table = Bench::Table.new(contest)
    assert_in_delta 0.5, table.share("other", 0.0)
    assert_in_delta 1.0, table.share("naive", 0.0)
  end

  def samples(*seconds) = seconds.map { |wall| [wall, wall / 2, wall / 4, 100] }

  def test_slow_contenders_have_fewer_turns_spread_evenly
    turns = Bench::Turns.new({ "fast" => 0.01, "slow" => 0.5 }, budget: 1.0, least: 2, most: 10, random: Random.new(1))
    rounds = []
    turns.each { |_, names| rounds << names }
    assert_equal 10, rounds.size
    assert(rounds.all? { |names| names.include?("fast") })
    assert_equal([4, 9], rounds.each_index.select { |round| rounds[round].include?("slow") })
  end

  def test_comparison_shows_no_difference_where_there_is_none
    random = Random.new(7)
    noisy = ->(factor) { Array.new(40) { [factor * (1 + random.rand), 0.1, 0.1, 100] } }
    same = comparison(noisy.call(1), noisy.call(1))
    assert_operator same[1], :<, 1
    assert_operator same[2], :>, 1
    assert_operator comparison(noisy.call(0.5), noisy.call(1))[2], :<, 1
  end

  def comparison(now, before) = Bench::Comparison.new({ entries: {} }, nil).ratio(now, before, 0)

  def test_a_journal_goes_on_where_it_was
    versions = [name, Process.pid]
    Bench::Journal.new(versions, "code").fetch("a") { 1 }
    assert_equal(1, Bench::Journal.new(versions, "code").fetch("a") { flunk })
    assert_equal(1, Bench::Journal.new(versions, "other code", older: true).fetch("a") { flunk })
    assert_equal(2, Bench::Journal.new(versions, "other code").fetch("a") { 2 })
    assert_equal(3, Bench::Journal.new([*versions, "another gem"], "code", older: true).fetch("a") { 3 })
    assert_equal(4, Bench::Journal.new(versions, "other code", fresh: true).fetch("a") { 4 })
  ensure
    [versions, [*versions, "another gem"]].each { |each| Bench::Journal.new(each).forget }
  end

  # What a run does that has no time left, and the one that goes on.
  def test_a_run_ends_in_time_and_goes_on
    arguments = %w[--workload narrow-25,columns --only pipeloader --runs 1 --rtt 0]
    run = lambda do |*more|
      out = StringIO.new
      Bench::Run.new(Bench::Options.parse([*arguments, *more]), out: out).call
      out.string
    end
    late = run.call("--minutes", "0", "--fresh")
    assert_match(/Not all was measured within 0.0 minutes/, late)
    refute_match(/Narrow tree|Columns/, late)
    whole = run.call("--minutes", "60")
    assert_match(/Narrow tree.*Columns of one table/m, whole)
    refute_match(/Not all was measured/, whole)
  end

  def test_the_report_says_where_pipeloader_loses
    entries = { "naive" => 0.4, "dataloader" => 0.1, "next-dataloader" => 0.05, "pipeloader" => 0.2, "floor-rows" => 0.001 }
    words = Bench::Verdict.new(Bench::Table.new(made_up(entries))).sentences.join(" ")
    assert_includes words, "Pipeloader is *not* the fastest: it takes 4.0 × as long as next-dataloader, and 2.0 × as long as dataloader"
    assert_includes words, "pipeloader sends 9 statements in 3 round trips"
  end

  def test_pipeloader_has_no_rival_in_itself
    entries = { "naive" => 0.4, "dataloader" => 0.2, "pipeloader" => 0.1, "pipeloader-exact" => 0.05, "next-pipeloader" => 0.01 }
    words = Bench::Verdict.new(Bench::Table.new(made_up(entries))).sentences.join(" ")
    assert_includes words, "Pipeloader is the fastest, dataloader takes 2.0 × as long"
  end

  def test_the_crossover_is_what_one_statement_takes_of_many
    contest = { entries: { "pipeloader-uncoalesced" => 0.4, "pipeloader-uncompiled" => 0.1 }.transform_values { |wall| { samples: { 0.0 => [[wall, wall, wall, 100]] * 3 } } } }
    assert_equal [["count", "5", "0.25", "0.25", "0.25", "1.00"]], Bench::Crossover.new({ "alike-count-5" => contest }).rows
  end

  def test_documents
    results = { whole: true, calibration: { 0.0 => { median: 0.1, p99: 0.2 } }, contests: %w[narrow-25 wide].map { |name| made_up({ "naive" => 0.4, "includes" => 0.2, "pipeloader" => 0.1 }, name) },
                environment: { command: "bin/bench", date: "today", commit: "abc", machine: "2 × fast", versions: { "Ruby" => "3" } } }
    Dir.mktmpdir do |folder|
      Bench::Document.new(results, folder: folder).write
      text = File.read("#{folder}/benchmarks.md")
      assert_includes text, "Pipeloader is the fastest, includes takes 2.0 × as long"
      refute_match(/Provisional|another run/, text)
      text.scan(/!\[\]\((.*?)\)/).flatten.each { |file| assert_match(/\A<\?xml|<svg/, File.read("#{folder}/#{file}")) }
      results[:contests] << made_up({ "naive" => 0.4, "pipeloader" => 0.1 }, "columns", commit: "before")
      Bench::Document.new(results, folder: folder).write
      assert_equal 1, File.read("#{folder}/benchmarks.md").scan("Measured by another run: commit before.").size
      File.write("#{folder}/README.md", "a\n<!-- bin/bench writes this -->\nold\n<!-- up to here -->\nb\n")
      Bench::Readme.new(results, root: folder).write
      assert_match(/\Aa\n.*\*\*Pipeloader\*\*, plain resolvers \| 3 \| 0.25 \|.*\nb\n\z/m, File.read("#{folder}/README.md"))
    end
  end

  def made_up(seconds, workload = "narrow-25", commit: "abc")
    entries = seconds.transform_values { |wall| { round_trips: 3, statements: 9, bytes_to_client: 99, samples: { 0.0 => samples(wall, wall) } } }
    { workload: workload, answer_bytes: 1, absent: {}, entries: entries, measured: { commit: commit, date: "today" } }
  end

  def test_curves_and_stamina
    contests = { 25 => 0.4, 100 => 1.6 }.map { |_, wall| { entries: { "naive" => { samples: { 0.0 => samples(wall) } } } } }
    curve = Bench::Curve.new(workloads: { 25 => "narrow-25", 100 => "narrow-100" })
    assert_equal({ "naive" => [[25, 400.0], [100, 1600.0]] }, curve.lines(contests))
    assert_match(/<polyline/, Bench::LineChart.new("t", "posts", curve.lines(contests)).to_s)
    stamina = Bench::Stamina.new(%w[naive other])
    stamina.learn(100, contests.last)
    assert_equal %w[other], stamina.left(1000)
    assert_equal %w[naive other], stamina.left(200)
  end

  def test_options
    assert_equal %w[narrow-25 narrow-50 narrow-200], Bench::Options.parse(%w[--workload narrow]).workloads
    assert_equal [0.0, 2.5], Bench::Options.parse(%w[--rtt 0,2.5]).settings[:rtts]
    assert_equal %i[contests], Bench::Options.parse(%w[--quick]).parts
    settings = Bench::Options.parse(%w[--runs 5 --rtt 1]).settings(least: 15, rtts: [0.0])
    assert_equal [5, 5, [0.0]], settings.values_at(:least, :most, :rtts)
    assert_equal Bench::Options::PARTS, Bench::Options.parse([]).parts
    assert_predicate Bench::Options.parse([]), :whole?
    refute_predicate Bench::Options.parse(%w[--quick]), :whole?
    refute Bench::Options.parse(%w[--quick]).write?
    assert_raises(OptionParser::InvalidArgument) { Bench::Options.parse(%w[--only nobody]) }
  end

  def test_a_profile_knows_libraries_and_our_parts
    named = Bench::Workload.named("narrow-25")
    worker = Bench::Worker.new("pipeloader", named.name)
    worker.load
    worker.connect(database.address(named))
    profile = worker.profile(0.3)
    assert_equal profile[:samples], profile[:libraries].values.sum
    assert_includes profile[:libraries], "activerecord"
    assert_includes profile[:parts], "wire/burst"
  ensure
    worker.stop
  end

  def test_nothing_is_left_when_it_is_interrupted
    run = Process.spawn("#{__dir__}/../../bin/bench", "--workload", "narrow-25", "--only", "pipeloader", "--runs", "1000",
                        %i[out err] => File::NULL, pgroup: true)
    wait_until { children(run).size > 5 }
    all = children(run)
    Process.kill("INT", -run)
    Process.wait(run)
    assert_equal 130, $?.exitstatus || $?.termsig + 128
    wait_until { all.none? { |pid| alive?(pid) } }
    pass
  end

  # Of all generations.
  def children(pid)
    `ps -eo pid,ppid`.lines.map { |line| line.split.map(&:to_i) }.select { |_, parent| parent == pid }
      .flat_map { |child, _| [child, *children(child)] }
  end

  def alive?(pid)
    Process.kill(0, pid) && !File.read("/proc/#{pid}/stat").match?(/\) Z/)
  rescue Errno::ESRCH, Errno::ENOENT
    false
  end

  # Fails after two minutes: no machine is that slow.
  def wait_until
    1200.times { yield ? return : sleep(0.1) }
    flunk "it didn't come to that"
  end
end

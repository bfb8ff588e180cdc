# frozen_string_literal: true

require_relative "../support/test_helper"
require "pipeloader/minitest"
require "tmpdir"

# The committed file of what each operation takes.
class BudgetsTest < UnitTest
  QUERY = "query Posts { posts { title author { name } } }"
  MORE = "query Posts { posts { title author { name posts { title } } } }"

  # Tests of a user's.
  class Tests < Minitest::Test
    include Pipeloader::Assertions::Budgeted
    def self.runnable_methods = [] # not with the others
    def usual = assert(Schemas.pair.last.execute(QUERY))
    def more = assert(Schemas.pair.last.execute(MORE))
    def nameless = assert(Schemas.pair.last.execute("{ posts { title } }"))
    def twice = 2.times { usual }
    def failing = flunk("for a reason of its own")
  end

  class Broken < Minitest::Test
    include(Module.new { def before_setup = raise(IOError, "before the setup") })
    include Pipeloader::Assertions::Budgeted
    def self.runnable_methods = []
    def usual = flunk
  end

  def setup
    @folder = Dir.mktmpdir
    Pipeloader::Budgets.path = "#{@folder}/budgets.yml"
  end

  def teardown
    super
    ENV.delete("PIPELOADER_BUDGETS")
    Pipeloader::Budgets.path = nil
    FileUtils.remove_entry(@folder)
  end

  def run_test(name) = Tests.new(name).run
  def write(name) = writing { assert_predicate run_test(name), :passed? }
  def file = YAML.safe_load_file(Pipeloader::Budgets.path)

  # An error before the setup is the test's only one.
  def test_what_fails_before_it_begins
    assert_equal ["IOError: before the setup"], Broken.new(:usual).run.failures.map { |it| it.message.lines.first.chomp }
  end

  def writing
    ENV["PIPELOADER_BUDGETS"] = "write"
    yield
  ensure
    ENV.delete("PIPELOADER_BUDGETS")
  end

  def rows = Post.count + User.where(id: Post.distinct.select(:author_id)).count

  def test_written
    write("usual")
    assert_equal({ "Posts" => { "round_trips" => 2, "rows" => rows } }, file)
    assert_match(/\A# The most that each operation takes/, File.read(Pipeloader::Budgets.path))
    assert_predicate run_test("usual"), :passed?
  end

  # Of several tests, and several executions.
  def test_the_most
    write("more")
    assert_equal 3, file["Posts"]["round_trips"]
    before = File.read(Pipeloader::Budgets.path)
    write("usual")
    assert_equal before, File.read(Pipeloader::Budgets.path)
    assert_predicate run_test("usual"), :passed?
  end

  def test_each_execution_for_itself
    write("twice")
    assert_equal 2, file["Posts"]["round_trips"]
  end

  def test_exceeded
    write("usual")
    result = run_test("more")
    refute_predicate result, :passed?
    message = result.failures.map(&:message).join
    assert_match(/^Posts: expected at most 2 round trips, but there were 3:\n  1\. 1 statement, /, message)
    assert_match(/^Too many by: User\.posts/, message)
    assert_match(/^Posts: expected at most #{rows} rows, but there were \d+:/, message)
    assert_match(/^If that is as it should be, run this test with PIPELOADER_BUDGETS=write, and commit /, message)
  end

  # A plain schema takes a round trip for each read.
  def test_without_pipeloader
    write("usual")
    error = assert_raises(Pipeloader::BudgetExceededError) { Pipeloader::Budgets.check { Schemas.pair.first.execute(QUERY) } }
    assert_match(/^Posts: expected at most 2 round trips, but there were \d\d:/, error.message)
    assert_equal 3, Pipeloader::Budgets.check { Schemas.pair.last.execute(QUERY) && 3 }
  end

  def test_what_has_no_budget
    write("nameless")
    refute_path_exists Pipeloader::Budgets.path
    assert_predicate run_test("more"), :passed?
  end

  def test_a_test_that_fails_anyway
    assert_equal ["for a reason of its own"], run_test("failing").failures.map(&:message)
    refute Pipeloader::Measured.now?
  end

  def test_several_processes
    pids = Array.new(3) { |index| fork { Pipeloader::Budgets.new(Pipeloader::Budgets.path).write(fake("Op#{index}")); exit!(0) } }
    pids.each { |pid| Process.wait(pid) }
    assert_equal %w[Op0 Op1 Op2], file.keys
  end

  def test_the_task
    write("usual")
    code = "load \"pipeloader/tasks.rake\"; Pipeloader::Budgets.path = ENV.fetch(\"BUDGETS\"); Rake::Task[\"pipeloader:budgets\"].invoke"
    command = [RbConfig.ruby, "-rbundler/setup", "-I", File.expand_path("../../lib", __dir__), "-rrake", "-rpipeloader/report/budgets", "-e", "extend Rake::DSL; #{code}"]
    output = IO.popen({ "BUDGETS" => Pipeloader::Budgets.path }, command, &:read)
    assert_includes output, "They write #{Pipeloader::Budgets.path}."
    refute_path_exists Pipeloader::Budgets.path
  end

  def fake(name)
    Pipeloader::Ledger.new(trips: [Pipeloader::Ledger::Trip.new(statements: 1, rows: 1, sql: {}, asked: {}, work: name, operation: name)])
  end
end

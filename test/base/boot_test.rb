# frozen_string_literal: true

require_relative "../support/test_helper"
require "open3"

# The gem is loaded in every order in which an application may load it, among classes of any name, and answers.
class BootTest < PipeloaderTest
  # Runs test/support/boot_run.rb.
  #
  # @param steps [Array<String>] of BootRun::STEPS
  def boot(*steps)
    run = [RbConfig.ruby, "-W", "-rbundler/setup", "-I", File.expand_path("../../lib", __dir__), File.expand_path("../support/boot_run.rb", __dir__)]
    output, errors, status = Open3.capture3({ "BOOT_DATABASE" => JSON.generate(TestDatabase.hash) }, *run, *steps)
    assert status.success?, "#{steps.join(", ")}: #{errors.lines.first(20).join}"
    assert_empty errors.lines.grep(%r{/(?:lib/pipeloader|test)/})
    JSON.parse(output)
  end

  # It answers as it does without Pipeloader, in bursts, each of which is told of once.
  def assert_answers(*steps)
    seen = boot(*steps)
    seen["answers"].each { |plain, *piped| piped.each { |answer| assert_equal plain, answer, steps.join(", ") } }
    assert_equal [2, 2], seen.values_at("bursts", "logged"), steps.join(", ")
  end

  def test_before_all_others = assert_answers("pipeloader")

  # Whatever is loaded already.
  [%w[active_record], %w[adapter], %w[graphql], %w[active_record base], %w[adapter graphql], %w[graphql adapter]].each do |hosts|
    define_method("test_after_#{hosts.join("_and_")}") { assert_answers(*hosts, "pipeloader") }
  end

  def test_after_the_adapter_of_sqlite = assert_answers("sqlite", "pipeloader", "adapter")
  def test_after_both_adapters = assert_answers("adapter", "sqlite", "batch", "pipeloader")
  def test_after_a_connection_was_used = assert_answers("active_record", "connected", "graphql", "pipeloader")
  def test_between = assert_answers("active_record", "pipeloader", "adapter", "graphql")
  def test_after_all_code_is_loaded = assert_answers("active_record", "graphql", "eager", "pipeloader", "initialized")
  def test_before_all_code_is_loaded = assert_answers("pipeloader", "eager", "initialized")
  def test_when_models_are_first_used = assert_answers("active_record", "by_base", "base")
  def test_when_the_adapter_is_loaded = assert_answers("active_record", "by_adapter", "connected")
  def test_twice = assert_answers("pipeloader", "connected", "pipeloader", "by_path")
  def test_behind_the_engine = assert_answers("engine", "pipeloader")
  def test_behind_the_engine_which_was_used = assert_answers("engine", "adapter", "gathered", "pipeloader")
  def test_the_engine_behind_all = assert_answers("active_record", "graphql", "pipeloader", "engine")
  def test_loaded_before_a_fork = assert_answers("pipeloader", "answered", "forked")
  def test_loaded_after_a_fork = assert_answers("active_record", "connected", "graphql", "forked", "pipeloader")
  def test_loaded_between_forks = assert_answers("active_record", "forked", "pipeloader", "forked", "connected", "forked")

  # An application's own Record, Read, Plan, Page, …: every name that is in lib/.
  def test_names_of_the_application_before = assert_answers("names", "pipeloader")
  def test_names_of_the_application_after = assert_answers("pipeloader", "adapter", "names")
  def test_names_of_the_application_after_it_has_answered = assert_answers("pipeloader", "answered", "names")
  def test_names_that_are_loaded_when_they_are_called = assert_answers("autoloads", "pipeloader", "eager")

  def test_defaults
    code = 'require "pipeloader"; class App < GraphQL::Schema; use Pipeloader; end; print App.pipeloader_options.inspect, App.pipeloader_compiles?'
    expected = { fiber_limit: nil, coalesce: true, compile: true, plan_bytes: 32 * 1024 * 1024, forecast: true, trips: :auto, rest: true, lanes: 1, settings: nil, snapshot: false,
                 breaker: true, extensions: nil }
    assert_equal "#{expected.inspect}true", IO.popen([RbConfig.ruby, "-rbundler/setup", "-I", File.expand_path("../../lib", __dir__), "-e", code], &:read)
  end

  # What tests assert isn't loaded in production.
  def test_loads_nothing_of_tests
    code = 'require "pipeloader"; print Pipeloader.constants.grep(/\\A(?:Ledger|Budgets?|Assertions|Matchers|CallSite|CompiledFields|Strict|ReadLoop)\\z/).inspect, ' \
           "$LOADED_FEATURES.grep(%r{/(?:minitest|rspec)}).inspect"
    assert_equal "[][]", IO.popen([RbConfig.ruby, "-rbundler/setup", "-I", File.expand_path("../../lib", __dir__), "-e", code], &:read)
  end

  # Neither ActiveRecord::Base nor an adapter is loaded sooner than the application does it.
  def test_loads_nothing_ahead
    code = 'require "pipeloader"; print ActiveRecord.autoload?(:Base).nil?, $LOADED_FEATURES.grep(%r{active_record/connection_adapters/(?:postgresql|sqlite3)}).size'
    assert_equal "false0", IO.popen([RbConfig.ruby, "-rbundler/setup", "-I", File.expand_path("../../lib", __dir__), "-e", code], &:read)
  end
end

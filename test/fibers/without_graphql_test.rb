# frozen_string_literal: true

require_relative "../support/answers"
require "open3"
require "ripper"

# `require "pipeloader/active_record"`: Pipeloader.map and Pipeloader.gather, where no graphql-ruby is installed.
class WithoutGraphQLTest < AnswerTest
  LIB = File.expand_path("../../lib", __dir__)
  # Round trips of some cases.
  TRIPS = { "nested" => 3, "associations" => 3, "found_by" => 1, "scopes" => 2, "a_thread" => 3, "isolated" => 4 }.freeze

  def bare_run(face)
    database = TestDatabase.hash.to_h.merge(pool: 8)
    settings = { "BARE_DATABASE" => JSON.generate(database), "BARE_SEED" => ENV.fetch("PIPELOADER_SEED", "20261128"), "BARE_PROGRAMS" => "30", "BARE_FACE" => face }
    output, errors, status = restoring { Open3.capture3(settings, RbConfig.ruby, "-W", "-rbundler/setup", "-I", LIB, File.expand_path("../support/bare_run.rb", __dir__)) }
    assert status.success?, errors.lines.first(20).join
    assert_empty errors.lines.grep(%r{/lib/pipeloader|/test/})
    JSON.parse(output)
  end

  def test_it_does_what_a_loop_does
    run = bare_run("pipeloader/active_record")
    assert_equal ["graphql", false], run.values_at("missing", "graphql")
    run["cases"].each do |name, (plain, piped, trips, _, reads)|
      assert_equal plain, piped, name
      assert_equal TRIPS[name], trips, name if TRIPS.key?(name)
      assert_operator trips, :<, reads, name if %w[many writes state].include?(name)
    end
    assert_operator run["cases"].size, :>, 12
    assert_equal [[Post.count, User.count], "ActiveRecord::RecordNotFound"], run["gathered"]
    assert_empty run["differ"]
    assert_equal [true, "proof: no such option"], run.values_at("lanes", "proof")
    assert_engine run["features"]
    assert_equal bare_run("pipeloader").slice("cases", "gathered", "differ"), run.slice("cases", "gathered", "differ")
  end

  private

  # Nothing of what it has loaded knows of graphql-ruby.
  def assert_engine(features)
    assert_operator features.size, :>, 80
    naming = features.select do |name|
      Ripper.lex(File.read("#{LIB}/pipeloader/#{name}.rb")).any? { |_, kind, text| kind == :on_const && text.start_with?("GraphQL") }
    end
    assert_empty naming
  end
end

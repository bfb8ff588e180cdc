# frozen_string_literal: true

require "open3"
require_relative "../support/test_helper"
require_relative "fuzz"

# bin/fuzz: that it says the same of a seed each time, and that it finds what is there to be found.
class ProgramsTest < PipeloaderTest
  CHECKS = [Fuzz::Check.new(run: :execute, compile: true, field_exact: false, cache: false)].freeze

  def test_a_seed_is_a_program
    texts = Array.new(2) { Array.new(5) { |seed| program(seed) } }
    assert_equal(*texts)
    assert_equal 5, texts.first.uniq.size
  end

  # In a process without this one's models.
  def test_programs_run
    said, status = Open3.capture2e({ "PIPELOADER_DATABASE_URL" => PrivateCluster.url }, RbConfig.ruby, "bin/fuzz", "--seed", "3", chdir: File.expand_path("../..", __dir__))
    assert_predicate status, :success?, said
    assert_match(/1 programs, 1 same/, said)
  end

  # By its own resolver, which asks what is done only with Pipeloader.
  def test_a_difference_is_found_and_made_smaller
    world = small_world
    assert_equal :different, trial(Fuzz::Maker.text(world)).status
    small = Fuzz::Shrinker.new(world, 600) { |text| trial(text).status == :different }.call
    assert_equal <<~RUBY.squish, small.squish
      tables do create_table(:things) { |t| t.string :name } end rows do end
      class OddQuery < GraphQL::Schema::Object field :odd, Boolean def odd = Pipeloader::ResolverFiber.current.nil? end
      schema do query OddQuery end
      document(<<~'GRAPHQL') query Q { odd } GRAPHQL
    RUBY
  end

  def test_what_answers_differently_by_itself_is_discarded
    text = tiny("rand")
    report = trial(text)
    assert_equal [:same, 1], [report.status, report.unsteady]
  end

  def test_a_crash_is_found = assert_equal(:crash, trial(tiny("Process.kill(:KILL, Process.pid)")).status)

  def test_a_hang_is_found = assert_equal(:hang, trial(tiny("sleep"), deadline: 2).status)

  private

  def known = Fuzz.features.select(&:known).map(&:name)
  def program(seed) = Fuzz::Maker.text(Fuzz::Maker.new(seed, engine: "interpreter", without: known).make)
  def trial(text, **options) = Fuzz::Trial.run(text, engine: "interpreter", checks: CHECKS, database: TestDatabase.hash, **options)

  def small_world
    Fuzz::World.new(1, "interpreter").tap do |world|
      world.sections[:tables].open("tables do", keep: true) << Fuzz::Node.new("create_table(:things) { |t| t.string :name }", keep: true)
      world.sections[:rows].open("rows do", keep: true) << "row :things, id: 1"
      query = world.sections[:types].open("class OddQuery < GraphQL::Schema::Object")
      query << "field :odd, Boolean" << "def odd = Pipeloader::ResolverFiber.current.nil?"
      world.sections[:schema].open("schema do", keep: true) << Fuzz::Node.new("query OddQuery", keep: true)
      document = Fuzz::DocumentNode.new("query", {})
      document.operation << "odd" << "__typename"
      world.sections[:documents] << document
    end
  end

  def tiny(body)
    <<~RUBY
      tables { create_table(:things) { |t| t.string :name } }
      rows { row :things, id: 1 }
      class TinyQuery < GraphQL::Schema::Object
        field :tiny, Float
        def tiny = #{body}
      end
      schema { query TinyQuery }
      document("{ tiny }")
    RUBY
  end
end

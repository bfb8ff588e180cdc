# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/library"

# Field-exact projection: the same answers as from whole rows, byte by byte, from SELECT lists with nothing in them but what the
# query selects and the keys that hold its tree together.
class ProjectionCase < PipeloaderTest
  TITLED = Class.new(Library::Base) { graphql_name("Titled"); field(:title, String, null: false) }

  # The answer is that of whole rows; +sql+ is what the projected one reads, in any order, by table: {"works" => %w[id title]}.
  # A table that is read in several ways has several lists; nil stands for whole rows.
  def assert_reads(expected, query, schemas = Library.pair, misses: 0, **options)
    missed = WireCounter.events("projection_miss.pipeloader") { @answer = assert_same_answer(query, schemas, **options) }
    refute @answer.key?("errors"), @answer["errors"].inspect
    assert_equal misses, missed.size, missed.inspect
    actual = selected { schemas.last.execute(query, **options) }
    assert_equal expected.transform_values { |lists| lists.first.is_a?(Array) || lists.first.nil? ? lists : [lists] },
                 expected.keys.to_h { |table| [table, actual.fetch(table, [])] }
    @answer
  end

  # @return [Hash] {table => [columns of one kind of its reads, …]}, sorted; nil for whole rows
  def selected(&block)
    sql(&block).grep_v(/COUNT/).map { |it| [it[/FROM "(\w+)"/, 1], it[/\ASELECT (.*?) FROM/, 1]] }.uniq
      .group_by(&:first).transform_values { |pairs| pairs.map { |_, list| list.end_with?("*") ? nil : list.scan(/"\w+"\."(\w+)"/).flatten } }
  end

  def sql(&block) = WireCounter.trips(&block).flatten

  def execute(query, schema = Library.pair.last, **options) = schema.execute(query, **options).to_h

  # A pair of schemas with a root type of its own.
  def schemas(**options, &block)
    query = Class.new(Library::Query) do
      graphql_name "Query"
      class_eval(&block)
    end
    Library.make(query: query, **options)
  end

  # An object type over works, with more in it.
  def work_type(name = "SpecialWork", base = Library::Base, &block)
    Class.new(base) do
      graphql_name name
      field :title, String, null: false
      class_eval(&block) if block
    end
  end

  # Schemas whose field `specials` returns all works as +type+.
  def special(type, **options)
    schemas(**options) do
      field :specials, [type], null: false
      def specials = ::Work.order(:id)
    end
  end

  # Yields the works as a narrowed read brings them, in a resolver, and as whole ones; both must give the same.
  def assert_behaves(misses: nil, &block)
    results = []
    pair = schemas do
      field :specials, [Library::Work], null: false
      field :probe, String
      define_method(:specials) { context[:works] = ::Work.order(:id).limit(3) }
      define_method(:probe) { results << context[:works].to_a.then(&block) && "done" }
    end
    seen = pair.map { |schema| WireCounter.events("projection_miss.pipeloader") { execute("{ specials { title } probe }", schema) } }
    assert_equal results.first.inspect, results.last.inspect
    assert_equal misses, seen.last.size, seen.last.inspect if misses
    results.last
  end
end

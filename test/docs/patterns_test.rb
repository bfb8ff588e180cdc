# frozen_string_literal: true

require_relative "../support/test_helper"
require "pipeloader/minitest"

# The table at the top of docs/plans.md: what it calls compiled is, the rest isn't, and is once it is written as its last column says.
class PatternsTest < PipeloaderTest
  include Pipeloader::Assertions

  FILE = File.expand_path("../../docs/plans.md", __dir__)
  # [[code, "yes" or "no", other code or nil], …]
  ROWS = File.read(FILE)[/^## Which patterns.*?(?=^The rows)/m].gsub("\\|", "¦").lines.grep(/^\| `(?:def|field) /).map do |line|
    pattern, compiled, instead = line.split("|").drop(1).map(&:strip)
    [pattern, compiled, instead].map { |cell| cell.tr("¦", "|") }.then { |code, answer, other| [code[/`(.*)`/, 1], answer, other[/`((?:def|field) .*)`/, 1]] }
  end.freeze

  # What a method returns, where no `field` says so.
  TYPES = { "comment_count" => Integer, "memo_count" => Integer, "any_comments" => GraphQL::Types::Boolean, "mine" => GraphQL::Types::Boolean,
            "last_comment" => Schemas::Comment }.freeze
  SELECTED = { Schemas::User => "{ name }", Schemas::Comment => "{ body }" }.freeze

  module Types
    User = Schemas::User
    Comment = Schemas::Comment
  end

  def test_there_are_some
    assert_equal [15, 3], [ROWS.size, ROWS.count(&:last)]
  end

  ROWS.each do |code, answer, instead|
    name = code[/\A(?:def |field :)(\w+)/, 1]
    define_method(:"test_#{name}") { assert_pattern(name, code, answer) }
    define_method(:"test_#{name}_instead") { assert_pattern(name, instead, "yes") } if instead
  end

  private

  def assert_pattern(name, code, answer)
    plain, piped = schemas(name, code)
    query = "{ posts { #{GraphQL::Schema::Member::BuildType.camelize(name)} #{selection(plain, name)} } }"
    context = { viewer_id: 1, pid: 7 }
    expected = plain.execute(query, context: context).to_h
    refute expected.key?("errors"), expected.inspect
    field = "Probed.#{GraphQL::Schema::Member::BuildType.camelize(name)}"
    answer == "yes" ? assert_compiled(field) { compare(expected, piped, query, context) } : refute_compiled(field) { compare(expected, piped, query, context) }
  end

  def compare(expected, piped, query, context)
    assert_equal JSON.generate(expected), JSON.generate(piped.execute(query, context: context).to_h)
  end

  def selection(schema, name)
    type = schema.get_field("Probed", GraphQL::Schema::Member::BuildType.camelize(name)).type.unwrap
    type.graphql_name.end_with?("Connection") ? "(first: 2) { nodes { body } }" : SELECTED[type]
  end

  def schemas(name, code)
    type = post_type(name, code)
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :posts, [type], null: false
      def posts = ::Post.order(:id)
    end
    Schemas.make(query: query, mutation: nil)
  end

  def post_type(name, code)
    type = Class.new(GraphQL::Schema::Object) { graphql_name "Probed" }
    type.field(name, TYPES.fetch(name, String), null: true) if code.start_with?("def")
    PatternsTest.const_set(:"Type#{type.object_id}", type)
    PatternsTest.module_eval("class Type#{type.object_id}\n#{code}\nend", FILE)
    type
  end
end

# frozen_string_literal: true

require_relative "../support/unit_helper"

# @skip and @include: what of a selection set is left, by the values of the variables that they ask.
class ConditionsTest < UnitTest
  SCHEMA = Class.new(GraphQL::Schema)

  # {selection => [variables that it asks, {values => fields that are left}]}
  LEFT = {
    "a b" => [[], { {} => %w[a b] }],
    "a @skip(if: true) b @skip(if: false)" => [[], { {} => %w[b] }],
    "a @include(if: true) b @include(if: false)" => [[], { {} => %w[a] }],
    "a @skip(if: $x) b" => [%w[x], { { "x" => true } => %w[b], { "x" => false } => %w[a b] }],
    "a @include(if: $x) b @include(if: $y)" => [%w[x y], { { "x" => true, "y" => false } => %w[a], { "x" => false, "y" => true } => %w[b] }],
    "a @include(if: $x) @skip(if: $y)" => [%w[x y], { { "x" => true, "y" => false } => %w[a], { "x" => true, "y" => true } => [], { "x" => false, "y" => false } => [] }],
    "a @include(if: $x) b @skip(if: $x)" => [%w[x], { { "x" => true } => %w[a], { "x" => false } => %w[b] }],
    "a @loud b @loud(if: $x)" => [[], { { "x" => false } => %w[a b] }],
    "a @loud @skip(if: $x)" => [%w[x], { { "x" => true } => [], { "x" => false } => %w[a] }],
    "a { b @skip(if: $x) ... @include(if: $y) { c @skip(if: $z) } }" => [%w[x y z], { {} => %w[a] }]
  }.freeze

  # {selection => whether a directive of the application's is above, or in, its first field}
  FOREIGN = {
    "a" => [false, false], "a @skip(if: true)" => [false, false], "a @loud" => [true, true], "a { b @loud }" => [false, true],
    "a { ... @loud { b } }" => [false, true], "a { b { c { d @loud } } }" => [false, true], "a { b @include(if: true) { c } }" => [false, false],
    "a { ...F @loud }" => [false, true]
  }.freeze

  each_case(LEFT) do |variables, left|
    document = parse(name.delete_prefix("test_"))
    assert_equal variables, Pipeloader::Conditions.asked(document).variables
    left.each do |values, fields|
      assert_equal fields, document.definitions.first.selections.select { |node| Pipeloader::Conditions.new(SCHEMA, values).met?(node) }.map(&:name), values.inspect
    end
  end

  each_case(FOREIGN, "foreign") do |above, within|
    field = parse(name.delete_prefix("test_foreign_")).definitions.first.selections.first
    conditions = Pipeloader::Conditions.new(SCHEMA)
    assert_equal [above, within], [conditions.foreign?(field), conditions.foreign_within?(field)]
  end

  def test_fragments
    asked = Pipeloader::Conditions.asked(GraphQL.parse("{ ...F ... on Node { c } ... { d } } fragment F on Query { a { b @skip(if: $x) ... on Node { c } } }"))
    assert_equal [%w[x], %w[Node Query]], [asked.variables, asked.types]
  end

  # A directive of one of these names is foreign if it's the application's; it leaves nothing out that is known.
  def test_own_directive_of_such_a_name
    own = Class.new(GraphQL::Schema::Directive) { graphql_name "include"; locations(GraphQL::Schema::Directive::FIELD) }
    conditions = Pipeloader::Conditions.new(Class.new(GraphQL::Schema) { directive(own) })
    field, skipped = parse("a @include(if: false) b @skip(if: true)").definitions.first.selections
    assert_equal [true, true], [conditions.foreign?(field), conditions.met?(field)]
    assert_equal [false, false], [conditions.foreign?(skipped), conditions.met?(skipped)]
  end

  def parse(selection) = GraphQL.parse("{ #{selection} }")
end

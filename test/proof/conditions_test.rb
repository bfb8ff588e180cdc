# frozen_string_literal: true

require_relative "../support/unit_helper"

# @skip and @include: what of a selection set is left, by the values of the variables that they ask.
class ConditionsTest < UnitTest
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
    assert_equal variables, Pipeloader::Conditions.variables(document)
    left.each do |values, fields|
      assert_equal fields, document.definitions.first.selections.select { |node| Pipeloader::Conditions.met?(node, values) }.map(&:name), values.inspect
    end
  end

  each_case(FOREIGN, "foreign") do |above, within|
    field = parse(name.delete_prefix("test_foreign_")).definitions.first.selections.first
    assert_equal [above, within], [Pipeloader::Conditions.foreign?(field), Pipeloader::Conditions.foreign_within?(field)]
  end

  def test_fragments
    assert_equal %w[x], Pipeloader::Conditions.variables(GraphQL.parse("{ ...F } fragment F on Query { a { b @skip(if: $x) } }"))
  end

  def parse(selection) = GraphQL.parse("{ #{selection} }")
end

# frozen_string_literal: true

require_relative "../support/unit_helper"

# Which values an SQL text has that may become parameters, and what is left of it.
class LiteralsTest < UnitTest
  # {what => [SQL, parameters that it has, SQL with parameters, all of its values]}
  LIFTED = {
    number: ["SELECT * FROM t WHERE a = 3", [], "SELECT * FROM t WHERE a = $1", [3]],
    text: ["SELECT * FROM t WHERE a = 'x'", [], "SELECT * FROM t WHERE a = $1", ["x"]],
    quote_in_a_text: ["SELECT * FROM t WHERE a = 'it''s'", [], "SELECT * FROM t WHERE a = $1", ["it's"]],
    empty_text: ["SELECT * FROM t WHERE a = ''", [], "SELECT * FROM t WHERE a = $1", [""]],
    limit_and_offset: ["SELECT * FROM t LIMIT 5 OFFSET 10", [], "SELECT * FROM t LIMIT $1 OFFSET $2", [5, 10]],
    list: ["SELECT * FROM t WHERE a IN (1, 2,3)", [], "SELECT * FROM t WHERE a IN ($1, $2,$3)", [1, 2, 3]],
    list_of_texts: ["SELECT * FROM t WHERE a in ('x', 'y,')", [], "SELECT * FROM t WHERE a in ($1, $2)", ["x", "y,"]],
    behind_parameters: ["SELECT * FROM t WHERE a = $1 AND b = 'x'", [7], "SELECT * FROM t WHERE a = $1 AND b = $2", [7, "x"]],
    no_spaces: ["SELECT * FROM t WHERE a='x'AND b=3", [], "SELECT * FROM t WHERE a=$1AND b=$2", ["x", 3]],
    lines: ["SELECT * FROM t\nWHERE a =\n 3\nLIMIT\n 1", [], "SELECT * FROM t\nWHERE a =\n $1\nLIMIT\n $2", [3, 1]],
    largest: ["SELECT * FROM t WHERE a = 999999999999999999", [], "SELECT * FROM t WHERE a = $1", [10**18 - 1]],
    other_alphabets: ["SELECT * FROM t WHERE a = 'Füße 漢字'", [], "SELECT * FROM t WHERE a = $1", ["Füße 漢字"]],
    beside_an_alias: ["SELECT a AS \"= 3\" FROM t WHERE a = 3", [], "SELECT a AS \"= 3\" FROM t WHERE a = $1", [3]],
    beside_a_text: ["SELECT 'a = 3' FROM t WHERE a = 3", [], "SELECT 'a = 3' FROM t WHERE a = $1", [3]],
    beside_a_comment: ["SELECT * FROM t /* a = 3 */ WHERE a = 3 -- b = 4", [], "SELECT * FROM t /* a = 3 */ WHERE a = $1 -- b = 4", [3]]
  }.freeze

  # {why => SQL that has none}
  LEFT = {
    none: "SELECT * FROM t", a_parameter: "SELECT * FROM t WHERE a = $1", greater: "SELECT * FROM t WHERE a > 3",
    fraction: "SELECT * FROM t WHERE a = 1.5", exponent: "SELECT * FROM t WHERE a = 1e5", too_large: "SELECT * FROM t WHERE a = 1000000000000000000",
    negative: "SELECT * FROM t WHERE a = -3", null: "SELECT * FROM t WHERE a = NULL", column: "SELECT * FROM t WHERE a = b",
    backslash: "SELECT * FROM t WHERE a = 'x\\y'", escape: "SELECT * FROM t WHERE a = E'x'", national: "SELECT * FROM t WHERE a = N'x'",
    interval: "SELECT * FROM t WHERE a = '1'::interval hour", list_of_others: "SELECT * FROM t WHERE a IN (1, b)", list_of_a_query: "SELECT * FROM t WHERE a IN (SELECT 1)",
    in_a_text: "SELECT 'a = 3' FROM t", in_a_name: "SELECT \"a = 3\" FROM t", in_a_comment: "SELECT * FROM t /* a = 3 */",
    at_the_end_of_a_line: "SELECT * FROM t -- a = 3\n", a_name_with_a_number: "SELECT * FROM t WHERE a = b3", limit_all: "SELECT * FROM t LIMIT ALL",
    too_long: "SELECT * FROM t WHERE a = 3 OR b IS #{"NOT " * 1500}NULL"
  }.freeze

  # {OIDs of the parameters' types => whether all values of `a = 3 AND b = 'x'` are taken for what they are}
  TYPES = { [20, 25] => true, [21, 25] => true, [23, 1700] => true, [26, 25] => true, [1700, 25] => true, [700, 25] => false, [701, 25] => false, [25, 25] => false }.freeze

  def lift(sql, params = []) = Pipeloader::Literals.of(sql, params)

  each_case(LIFTED, "lifted") do |sql, params, expected, values|
    literals = lift(sql, params)
    assert_equal [expected, values], [literals&.sql, literals&.params]
  end

  each_case(LEFT.transform_values { |sql| [sql] }, "left") { |sql| assert_nil lift(sql)&.sql }

  def test_types
    TYPES.each { |types, fit| assert_equal fit, lift("SELECT * FROM t WHERE a = 3 AND b = 'x'").fit?(types), types.inspect }
    assert lift("SELECT * FROM t WHERE a = $1 AND b = 3", [1.5]).fit?([701, 23]) # (what was a parameter before, stays one)
  end

  # One statement for those that differ in nothing else.
  def test_keys
    one, other, text, longer = ["a = 3", "a = 44", "a = '3'", "a = 3 AND b = 3"].map { |condition| lift("SELECT * FROM t WHERE #{condition}").key }
    assert_equal one, other
    assert_equal 3, [one, text, longer].uniq.size
  end
end

# frozen_string_literal: true

require_relative "../support/unit_helper"

# One statement for many reads of one SQL text: which texts may be part of one, which parameters may differ, and how it is written.
class ShapeTest < UnitTest
  INT, TEXT, BYTEA, MOOD = 23, 25, 17, 90_000

  # {why => SQL that can't be a part of another statement}
  ALONE = {
    locking: "SELECT * FROM t WHERE a = $1 FOR UPDATE", sharing: "SELECT * FROM t WHERE a = $1 for  share", key: "SELECT * FROM t FOR NO KEY UPDATE",
    key_share: "SELECT * FROM t FOR\nKEY SHARE", backslash: "SELECT E'\\n' FROM t WHERE a = $1", dollars: "SELECT $$x$$ FROM t WHERE a = $1",
    tagged_dollars: "SELECT $x$y$x$ FROM t WHERE a = $1", semicolon: "SELECT * FROM t WHERE a = $1; "
  }.freeze
  TOGETHER = { plain: "SELECT * FROM t WHERE a = $1", a_word: "SELECT format FROM t WHERE a = $1", a_semicolon_inside: "SELECT ';' FROM t WHERE a = $1" }.freeze

  # {where => [SQL, which parameters may differ: the others may not]}
  KEYS = {
    equal: ["SELECT * FROM t WHERE a = $1", [0]],
    spaces: ["SELECT * FROM t WHERE a =\n $1", [0]],
    list: ["SELECT * FROM t WHERE a IN ($1, $2)", [0, 1]],
    limit: ["SELECT * FROM t WHERE a > $1 LIMIT $2 OFFSET $3", [1, 2]],
    comparisons: ["SELECT * FROM t WHERE a > $1 AND b >= $2 AND c <= $3 AND d <> $4 AND e != $5 AND f ~= $6", []],
    like: ["SELECT * FROM t WHERE a LIKE $1 OR b = $2", [1]],
    not_in: ["SELECT * FROM t WHERE a NOT IN ($1, $2) AND b IN ($3)", [2]],
    twice: ["SELECT * FROM t WHERE a = $1 AND b = $1", [0]],
    also_otherwise: ["SELECT * FROM t WHERE a = $1 AND b > $1 AND c = $2", [1]],
    function: ["SELECT * FROM t WHERE a = lower($1) AND b = $2", [1]],
    in_a_text: ["SELECT 'a = $1' FROM t WHERE a > $1 AND b = $2", [1]],
    in_a_name: ["SELECT \"a = $1\" FROM t WHERE a = $1", [0]],
    without_a_table: ["SELECT $1::int + $2::int", [0, 1]],
    from_in_a_text: ["SELECT $1::text || ' from '", [0]],
    order: ["SELECT * FROM t WHERE a = $1 ORDER BY $2::int", [0]]
  }.freeze

  # {what => [SQL, types, parameters of each read, expected SQL or nil, its parameters, their types]}
  WRAPPED = {
    one: ["SELECT * FROM t WHERE a = $1", [INT], [[3], [7]], <<~SQL, ["{3,7}"], [1007]],
      SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_n
      FROM unnest($1) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_n),
      LATERAL (SELECT * FROM (
      SELECT * FROM t WHERE a = pipeloader_keys.pipeloader_1
      ) AS pipeloader_read OFFSET 0) AS pipeloader_rows
    SQL
    common_one_behind: ["SELECT * FROM t WHERE a = $1 LIMIT $2", [INT, INT], [[3, 10], [7, 10]], <<~SQL, ["{3,7}", 10], [1007, 23]],
      SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_n
      FROM unnest($1) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_n),
      LATERAL (SELECT * FROM (
      SELECT * FROM t WHERE a = pipeloader_keys.pipeloader_1 LIMIT $2
      ) AS pipeloader_read OFFSET 0) AS pipeloader_rows
    SQL
    common_one_before: ["SELECT * FROM t WHERE b > $1 AND a = $2", [TEXT, INT], [["x", 3], ["x", 7]], <<~SQL, ["{3,7}", "x"], [1007, 25]],
      SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_n
      FROM unnest($1) WITH ORDINALITY AS pipeloader_keys(pipeloader_2, pipeloader_n),
      LATERAL (SELECT * FROM (
      SELECT * FROM t WHERE b > $2 AND a = pipeloader_keys.pipeloader_2
      ) AS pipeloader_read OFFSET 0) AS pipeloader_rows
    SQL
    two: ["SELECT * FROM t WHERE a = $1 AND b = $2", [INT, TEXT], [[3, "x"], [7, "y,"]], <<~SQL, ["{3,7}", '{x,"y,"}'], [1007, 1009]],
      SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_n
      FROM unnest($1, $2) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_2, pipeloader_n),
      LATERAL (SELECT * FROM (
      SELECT * FROM t WHERE a = pipeloader_keys.pipeloader_1 AND b = pipeloader_keys.pipeloader_2
      ) AS pipeloader_read OFFSET 0) AS pipeloader_rows
    SQL
    differs_where_it_may_not: ["SELECT * FROM t WHERE a > $1", [INT], [[3], [7]], nil],
    no_array: ["SELECT * FROM t WHERE a = $1", [BYTEA], [%w[a], %w[b]], nil],
    an_array_of_no_type: ["SELECT * FROM t WHERE a = $1", [MOOD + 1], [%w[a], %w[b]], nil]
  }.freeze

  def shape(sql, types) = Pipeloader::Shape.new(sql, nil, Pipeloader::Statement::Description.new(types, ["a"]), { MOOD => MOOD + 5, MOOD + 1 => 0 })

  # With values of which each differs from read to read but those of +same+.
  def wrapped(sql, count, differing)
    rows = Array.new(2) { |read| Array.new(count) { |index| differing.include?(index) ? read : 9 } }
    shape(sql, [INT] * count).wrap(rows)
  end

  each_case(ALONE.transform_values { |sql| [sql] }, "alone") { |sql| assert Pipeloader::Shape.alone?(sql) && !shape(sql, [INT]).wraps? }
  each_case(TOGETHER.transform_values { |sql| [sql] }, "together") { |sql| refute Pipeloader::Shape.alone?(sql) || !shape(sql, [INT]).wraps? }

  each_case(KEYS, "keys") do |sql, keys|
    count = sql.scan(/\$(\d)/).flatten.map(&:to_i).max
    assert_equal(keys, (0...count).select { |index| wrapped(sql, count, [index]) })
    assert_equal keys.any?, !wrapped(sql, count, keys).nil? if keys.any?
  end

  each_case(WRAPPED, "wrapped") do |sql, types, rows, expected, params, expected_types|
    wrapped = shape(sql, types).wrap(rows)
    next assert_nil(wrapped) unless expected

    assert_equal [expected, params, expected_types], wrapped&.to_a
  end

  def test_types_of_ones_own
    assert_equal "{a,b}", shape("SELECT * FROM t WHERE a = $1", [MOOD]).wrap([%w[a], %w[b]]).params.first
    assert_equal [MOOD + 2], shape("SELECT 1", [INT, MOOD, MOOD + 1, MOOD + 2]).unknown_types
  end

  def test_one_text_for_all_that_differ_alike
    it = shape("SELECT * FROM t WHERE a = $1 AND b = $2", [INT, INT])
    assert_same it.wrap([[1, 2], [3, 2]]).sql, it.wrap([[5, 9], [6, 9]]).sql
    refute_equal it.wrap([[1, 2], [3, 2]]).sql, it.wrap([[1, 2], [1, 3]]).sql
  end

  def test_given_up
    it = shape("SELECT * FROM t WHERE a = $1", [INT])
    assert it.wraps?
    it.give_up
    refute it.wraps?
    refute shape("SELECT * FROM t", []).wraps?
  end

  def test_for_each_key
    sql = Pipeloader::Shape.for_each_key("SELECT '$2' FROM t WHERE b = $1 AND a = $2 AND c = $3", [1], "$1::bigint[]")
    assert_equal <<~SQL, sql
      SELECT pipeloader_rows.*, pipeloader_keys.pipeloader_1
      FROM unnest($1::bigint[]) WITH ORDINALITY AS pipeloader_keys(pipeloader_1, pipeloader_n),
      LATERAL (SELECT * FROM (
      SELECT '$2' FROM t WHERE b = $2 AND a = pipeloader_keys.pipeloader_1 AND c = $3
      ) AS pipeloader_read OFFSET 0) AS pipeloader_rows
    SQL
  end
end

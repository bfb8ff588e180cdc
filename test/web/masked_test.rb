# frozen_string_literal: true

require_relative "../support/unit_helper"
require_relative "../support/web"

class MaskedTest < UnitTest
  SQL = {
    plain: ['SELECT "a1".* FROM "a1" WHERE x = $1 LIMIT $2', 'SELECT "a1".* FROM "a1" WHERE x = $1 LIMIT $2'],
    string: ["x = 'it''s' AND y = 1", "x = '…' AND y = …"],
    escaped: ["x = E'a\\'b' AND y", "x = '…' AND y"],
    dollar: ["x = $a$ '1 $a$ AND $$b$$", "x = '…' AND '…'"],
    numbers: ["x IN (1, 2.5, 1e10, 1e-3) AND t2.c3", "x IN (…, …, …, …) AND t2.c3"],
    quoted_name: ["\"it's\" = 'x'", "\"it's\" = '…'"],
    comment: ["SELECT 1 /* user='me' */ -- and you\nFROM x", "SELECT … /* … */ /* … */\nFROM x"],
    fractions: ["x > .75 AND y IN (.5,1.)", "x > … AND y IN (…,…)"],
    continued: ["x = E'a\\'b'\n  'c\\'d' AND y", "x = '…' AND y"],
    dollar_in_a_name: ["foo$a$ = $a$x'$a$ AND y$b", "foo$a$ = '…' AND y$b"],
    dollar_with_an_accent: ["$\u00e9t\u00e9$ hush $\u00e9t\u00e9$ AND y", "'…' AND y"],
    nested_comment: ["/* a /* b */ c */ x", "/* … */ x"],
    carriage_return: ["-- a\r'b'\n'c' d", "/* … */\r'…'\n'…' d"],
    unicode_string: ["x = U&'\\0061' AND B'101' AND X'1f'", "x = U&'…' AND B'…' AND X'…'"],
    cut_in_an_escape: ["x = E'it\\'s y\\", "x = '…'"],
    cut: ["x = 'never ends", "x = '…'"],
    cut_comment: ["x /* never ends", "x /* … */"],
    invalid: ["x = '\xff' AND \xff".b, "x = '…' AND \u{fffd}"]
  }.freeze

  each_case(SQL, :sql) { |given, masked| assert_equal masked, Pipeloader::Masked.sql(given) }

  GRAPHQL = {
    plain: ["query Q1($a: Int2) { b3(c: $a) }", "query Q1($a: Int2) { b3(c: $a) }"],
    string: ['{ a(b: "x \\" # y", c: RED, d: true) }', '{ a(b: "…", c: RED, d: true) }'],
    block: ["{ a(b: \"\"\"x \"y\" \\\"\"\" z\"\"\") { c } }", '{ a(b: "…") { c } }'],
    numbers: ["{ a(b: 12, c: -1.5e-3, d: [1 2]) }", "{ a(b: …, c: …, d: [… …]) }"],
    comment: ["{ a # \"it's\n b }", "{ a # …\n b }"],
    empty: ['{ a(b: "", c: """""", d: "x") }', '{ a(b: "…", c: "…", d: "…") }'],
    cut_in_an_escape: ['{ a(b: "x\\', '{ a(b: "…"'],
    unclosed: ['{ a(b: "x', '{ a(b: "…"']
  }.freeze

  each_case(GRAPHQL, :graphql) { |given, masked| assert_equal masked, Pipeloader::Masked.graphql(given) }
end

# frozen_string_literal: true

require_relative "../support/unit_helper"

# What query transformers have put around an SQL text: comments, or more than that.
class TagTextsTest < UnitTest
  TEXT = "SELECT 1"

  # {what => what it was made: comments before, and behind}
  TAGS = {
    nothing: ["", ""], behind: ["", " /*a*/"], before: ["/*a*/ ", ""], both: ["/*a*/", "/*b*/"], several: ["/*a*/ /*b*/\n", " /*c*//*d*/ "],
    to_the_end_of_a_line: ["-- a\n", " -- b"], return: ["-- a\r", ""], stars: ["/***/", "/* * / */"], empty: ["/**/", "--"], lines: ["/* a\nb */\n", ""],
    alphabets: ["/*ä 漢字*/", ""], statement_in_a_comment: ["/* DELETE FROM t; */", " -- ; DELETE FROM t"]
  }.freeze

  # {why => what was made of the text}
  MORE = {
    a_condition: "SELECT 1 WHERE false", another_text: "SELECT 2", a_name: "x SELECT 1", a_semicolon: "SELECT 1; /*a*/", a_hint: "/*+ x */ SELECT 1",
    a_hint_behind: "SELECT 1 /*+ x */", nested: "/* /* */ */ SELECT 1", nested_behind: "SELECT 1 /* /* */ */", open: "SELECT 1 /* a", open_within: "/* /* */ SELECT 1",
    behind_a_line: "SELECT 1 -- a\n LIMIT 0", behind_a_return: "SELECT 1 --\r LIMIT 0", no_line_before: "-- a SELECT 1",
    invalid: "SELECT 1 /*\xff*/"
  }.freeze

  each_case(TAGS, "tags") do |before, after|
    tags = Pipeloader::Tags.around(TEXT, "#{before}#{TEXT}#{after}")
    assert_equal [TEXT, [before, after], "#{before}SELECT 2#{after}"], [tags&.text, tags&.key, tags&.on("SELECT 2")]
  end

  each_case(MORE.transform_values { |sql| [sql] }, "more") { |sql| assert_nil Pipeloader::Tags.around(TEXT, sql)&.key }
end

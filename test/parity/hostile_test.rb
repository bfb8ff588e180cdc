# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/plan_types"

# Documents that select the same very often: it is proved, read and made once. (How much that costs against plain graphql-ruby, says
# bin/hostile.)
class HostileTest < PlanTest
  SCHEMAS = PlanTypes.make

  def pair = SCHEMAS

  def many(count, selection) = Array.new(count) { |n| "#{selection[/\w+/]}#{n}: #{selection}" }.join(" ")

  def test_an_association_under_many_names
    query = "{ posts(limit: 3) { title #{many(40, "author { name b: name posts { title } }")} } }"
    assert_plan query
    assert_equal 3, statements(query), "posts, authors, their posts"
  end

  # What is alike but for a name in the response is another plan, of the same rows.
  def test_associations_that_differ_below
    assert_plan "{ posts(limit: 3) { a: author { x: name } b: author { y: name } c: author { x: name y: name } d: author { y: name x: name } } }"
    assert_plan "{ posts(limit: 3) { a: author { x: name } b: author { x: id } c: author { x: __typename } } }"
    assert_plan "{ posts(limit: 3) { a: comments { x: body post { title } } b: comments { x: body post { t: title } } } }"
  end

  def test_merged_and_conditional_ones
    assert_plan "{ posts(limit: 3) { a: author { name } a: author { id } b: author { name } c: author { id } } }"
    assert_plan "query($no: Boolean = false) { posts(limit: 3) { a: author { name @include(if: $no) id } b: author { name id } } }"
    assert_plan "{ posts(limit: 3) { a: author { ...F } b: author { ... on User { name } } c: author { name } } } fragment F on User { name id }"
  end

  # One of them doesn't fit: so none does.
  def test_one_that_does_not_fit
    assert_aside "{ posts { a: requiredEditor { name } b: editor { name } c: requiredEditor { name } } }", errors: true
    assert_plan "{ posts { #{many(5, "editor { name }")} } }"
  end

  # More than a list of arguments may have on a fiber's stack.
  def test_more_fields_than_a_stack_has_room_for
    with_opaque = "{ posts(limit: 1) { loud #{many(20_000, "loud")} } }"
    assert_equal SCHEMAS.first.execute(with_opaque).to_h, SCHEMAS.last.execute(with_opaque).to_h
  end

  def test_many_names_beside_what_is_opaque
    assert_plan "{ posts(limit: 3) { loud #{many(30, "author { name }")} #{many(30, "teaser")} #{many(30, "loud")} } }", made: [Post, User]
  end

  # What is proved of fields doesn't grow with how often they are selected.
  def test_a_field_is_proved_once
    proved = 0
    trace = TracePoint.new(:call) { |point| proved += 1 if point.method_id == :objection && point.self.is_a?(Pipeloader::PlainField) }
    trace.enable
    SCHEMAS.last.execute("{ posts(limit: 1) { #{many(50, "title")} #{many(50, "author { #{many(5, "name")} }")} } }")
    trace.disable
    assert_operator proved, :<=, 9
    assert_operator proved, :>, 0
  ensure
    trace&.disable
  end

  private

  def statements(query)
    SCHEMAS.last.execute(query)
    WireCounter.events("sql.active_record") { SCHEMAS.last.execute(query) }.count { |it| it[:sql].start_with?("SELECT") }
  end
end

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

  # What it does to them, nobody knows.
  class Keeper < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, -> { order(:id) }, foreign_key: :post_id
    def association(name) = super.tap { |it| it.target = name == :author ? User.find(1) : [] unless it.loaded? }
  end

  def test_associations_by_a_method_of_the_model
    person = type("Person") { field :name, String }
    remark = type("Remark") { field :body, String }
    keeper = type("Keeper") do
      field :title, String
      field :loud, String
      field :author, person
      field :comments, [remark]
      field :signed, String
      def loud = object.title.dup.upcase
      def signed = object.author&.name
    end
    schemas = schemas({ keepers: [[keeper], -> { Keeper.order(:id).limit(4) }] })
    ["title author { name }", "loud author { name }", "comments { body }", "loud comments { body }", "title signed", "loud signed"].each do |selected|
      4.times { assert_equal(*schemas.map { |schema| schema.execute("{ keepers { #{selected} } }").to_h }, selected) }
    end
  end

  # One fiber reads for all of them; where one can't be read, the others are.
  def test_one_of_many_that_can_not_be_read
    person = type("Person") { field :name, String }
    odd = type("Odd") { field :loud, String; field :writer, person; field :broken, person; def loud = object.title.dup.upcase }
    schemas = schemas({ odds: [[odd], -> { Odd.order(:id).limit(3) }] })
    assert_plan "{ odds { loud #{many(3, "writer { name }")} } }", schemas, made: [Odd, User]
    assert_plan "{ odds { loud #{many(3, "writer { name }")} broken { name } } }", schemas, made: [Odd, User], errors: true
    return if Engine::NEXT

    assert_equal({ "HostileTest::Odd" => 3 }, instantiated { schemas.last.execute("{ odds { loud #{many(3, "writer { name }")} broken { name } } }") })
  end

  class Odd < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :writer, class_name: "User", foreign_key: :author_id
    belongs_to :broken, -> { where("1 / (users.id - users.id) = 1") }, class_name: "User", foreign_key: :author_id
  end

  # A fiber for each association that is asked for beside an opaque field would be a document's to choose. (On Next they are fields
  # of one object, which graphql-ruby resolves.)
  def test_fibers_for_many_names_beside_what_is_opaque
    return assert_plan("{ posts(limit: 1) { loud } }", made: [Post]) if Engine::NEXT

    query = "{ posts(limit: 1) { loud #{many(300, "author { name }")} } }"
    most = SCHEMAS.last.execute(query) && begin
      begun = 0
      trace = TracePoint.new(:c_call) { |point| begun += 1 if point.method_id == :new && point.self.equal?(Fiber) }
      trace.enable
      SCHEMAS.last.execute(query)
      begun
    ensure
      trace&.disable
    end
    assert_operator most, :<, 50
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

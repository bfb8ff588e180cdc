# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/plan_types"
require_relative "../wire/subprocess"

# What is kept of documents is bounded in bytes, and those of the application stay.
class KeptOperationsTest < PlanTest
  include Subprocess

  APPLICATION = "{ posts { title author { name } } }"

  Request = Class.new

  def test_what_came_once_is_kept_if_it_is_small
    schema = schema()
    schema.execute(small = "{ posts { title } }")
    schema.execute(long = long(0))
    assert schema.pipeloader_operations.key?(small)
    refute schema.pipeloader_operations.key?(long)
    schema.execute(long)
    assert schema.pipeloader_operations.key?(long)
  end

  def test_bounded_in_bytes_and_the_application_stays
    schema = schema(plan_bytes: 2_000_000)
    4.times { schema.execute(APPLICATION) }
    known = operation(schema, APPLICATION)
    40.times { |n| 2.times { schema.execute(long(n)) } }
    assert_operator schema.pipeloader_operations.bytes, :<=, 2_000_000
    refute schema.pipeloader_operations.key?(long(0))
    assert schema.pipeloader_operations.key?(long(39))
    schema.execute(APPLICATION)
    assert_same known, operation(schema, APPLICATION)
  end

  def test_the_default_bound_and_that_of_a_subclass
    assert_equal 32 * 1024 * 1024, schema.pipeloader_options[:plan_bytes]
    parent = schema(plan_bytes: 2_000_000)
    assert_equal 2_000_000, Class.new(parent).pipeloader_options[:plan_bytes]
  end

  # Who asks as often as an attacker can.
  def test_what_came_more_often_stays
    schema = schema(plan_bytes: 2_000_000)
    20.times { schema.execute(APPLICATION) }
    known = operation(schema, APPLICATION)
    12.times { |n| 4.times { schema.execute(long(n)) } }
    assert_same known, operation(schema, APPLICATION)
  end

  # Three quarters of what is kept are for what came often; what doesn't go in there, stays if there is room.
  def test_what_came_often_stays_where_there_is_room
    kept = Pipeloader::KeptOperations.new(100_000)
    texts = Array.new(9) { |n| "{ posts { title#{n} } }".ljust(250) } # 9,750 bytes each
    first, *others = Array.new(6) { texts.map { |text| kept.fetch(text) } }
    others.each { |again| assert(first.zip(again).all? { |one, other| one.equal?(other) }) }
    assert_operator kept.bytes, :<=, 100_000
  end

  def test_what_is_not_kept_answers_alike
    schema = schema(plan_bytes: 1)
    plain = Class.new(GraphQL::Schema) { query(PlanTypes::Query) }.tap { |it| it.orphan_types(PlanTypes::User, PlanTypes::Post) }
    2.times { assert_equal plain.execute(long(0)).to_h, schema.execute(long(0)).to_h }
    assert_equal 0, schema.pipeloader_operations.bytes
  end

  # Each text is new: what is kept of it may lead to the request that came first. What the stack still holds is the last ones.
  def test_no_request_is_kept
    schema = schema()
    texts = Array.new(30) { |n| "{ posts { title author { name } body a#{n}: title ...Opaque } } fragment Opaque on Post { comments { body } }" }
    asked = 0
    texts.each { |text| asked += 1 if schema.execute(text, context: { request: Request.new }).to_h["data"] }
    GC.start
    assert_equal [30, 30], [asked, texts.count { |text| schema.pipeloader_operations.key?(text) }]
    assert_operator ObjectSpace.each_object(Request).count, :<=, 5
  end

  # Ruby keeps the last thousand methods that were called by their names: what a resolver raises, or returns, was one of its object's.
  def test_no_request_is_kept_by_what_a_resolver_raises
    post = type("KeptRaising") do
      %i[raising odd].each { |name| field name, Integer }
      define_method(:raising) { raise GraphQL::ExecutionError, rand.to_s }
      define_method(:odd) { Object.new }
    end
    schema = schemas({ one: [post, -> { Post.order(:id).first }] }).last
    Thread.new { 30.times { schema.execute("{ one { raising odd } }", context: { request: Request.new }) } }.join
    GC.start
    assert_operator ObjectSpace.each_object(Request).count, :<=, 5
  end

  # In a process of its own: what other tests have left may go meanwhile.
  def test_the_estimate_is_near_what_is_used
    grown, estimated = in_process do
      schema = schema()
      2.times { schema.execute(APPLICATION) }
      before, counted = used, schema.pipeloader_operations.bytes
      documents = Array.new(6) { |n| long(n) }
      documents.each { |it| 2.times { schema.execute(it) } }
      [used - before, schema.pipeloader_operations.bytes - counted]
    end
    assert_in_delta 1, grown.fdiv(estimated), 0.45
  end

  private

  def schema(**options)
    Class.new(GraphQL::Schema) do
      query(PlanTypes::Query)
      orphan_types(PlanTypes::User, PlanTypes::Post)
      use(Pipeloader, **options)
      validate_timeout(nil)
    end
  end

  def operation(schema, text) = schema.pipeloader_operations.values.find { |it| it[:text] == text }&.values&.grep(Pipeloader::Operation)&.first

  def long(number) = "{ posts(limit: 1) { #{Array.new(300) { |n| "a#{number}_#{n}: title" }.join(" ")} } }"

  def used
    4.times { GC.start }
    ObjectSpace.memsize_of_all
  end
end

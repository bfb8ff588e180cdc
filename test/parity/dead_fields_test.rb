# frozen_string_literal: true

require_relative "../support/plans"

# Fields beside a null that propagates: without Pipeloader they aren't begun, here they may have been. And what is no error of the
# resolver's: what it throws.
class DeadFieldsTest < PlanTest
  OTHERS = {
    adds: ->(field) { field.context.add_error(GraphQL::ExecutionError.new("added")) },
    adds_later: ->(field) { ::Tag.count && field.context.add_error(GraphQL::ExecutionError.new("added")) },
    returns: ->(_) { GraphQL::ExecutionError.new("returned") },
    raises: ->(_) { raise GraphQL::ExecutionError, "raised" },
    fails: ->(_) { raise KeyError, "failed" },
    unfinished: ->(_) { raise NotImplementedError, "later" },
    unfinished_later: ->(_) { ::Tag.count && raise(NotImplementedError, "later") },
    refused: ->(_) { raise GraphQL::UnauthorizedError, "no" }
  }.freeze

  USER = type("DeadUser") do
    field :must, String, null: false
    field :first, String
    field :other, String
    field :others, [self], null: true
    def must = ::Post.where(id: -1).pick(:title)
    def first = OTHERS.fetch(context[:other]).call(self) && "x"
    def other = OTHERS.fetch(context[:other]).call(self) && "x"
    def others = OTHERS.fetch(context[:other]).call(self) && [object]
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :user, USER
    field :users, [USER, { null: true }]
    field :reads, String
    field :fails, String
    field :other, String
    field :warden, String
    field :wardens, [USER]
    def user = ::User.find(1)
    def users = ::User.order(:id).limit(3)
    def reads = ::Tag.count.to_s
    def fails = ::Tag.count && raise(KeyError, "first")
    def other = OTHERS.fetch(context[:other]).call(self) && "x"
    def warden = (::Tag.count if context[:late]) || throw(context[:thrown], "thrown")
    def wardens = throw(context[:thrown], "thrown")
  end

  TEXTS = ["{ user { must other } }", "{ user { other must } }", "{ users { must other } reads }", "{ user { first must other } reads }",
           "{ user { must others { other } } }", "{ reads user { others { must other } } }"].freeze

  OTHERS.each_key do |other|
    TEXTS.each_with_index do |text, index|
      define_method(:"test_#{other}_#{index}") { assert_alike(text, context: { other: other }) }
    end
  end

  # Of those that leave it is the first.
  unless Engine::NEXT
    def test_what_leaves_first
      %i[unfinished fails].each { |other| assert_alike("{ fails other }", context: { other: other }) }
      %i[unfinished fails].each { |other| assert_alike("{ other fails }", context: { other: other }) }
    end
  end

  def test_handlers_that_add
    [nil, "late"].each do |late|
      assert_alike("{ user { must other } }", context: { other: :fails }) do
        rescue_from(KeyError) { |_, _, _, context| late && ::Tag.count; context.add_error(GraphQL::ExecutionError.new("handled")) }
      end
    end
  end

  # As Warden does, past whoever rescues errors.
  def test_what_is_thrown
    handlers = [nil, StandardError, ArgumentError, UncaughtThrowError]
    [%i[warden warden], %i[warden other]].product(handlers, [true, false], ["{ warden }", "{ reads warden }", "{ reads wardens { other } }"]).each do |(thrown, caught), handler, late, text|
      alike = pair { rescue_from(handler) { |_| raise GraphQL::ExecutionError, "handled" } if handler }.map do |schema|
        catch(caught) { text_of(outcome { schema.execute(text, context: { thrown: thrown, late: late }).to_h }) }
      end
      assert_equal(*alike)
    end
  end

  private

  def pair(&) = Schemas.make(query: Query, mutation: nil, &)

  def assert_alike(text, **options, &)
    outcomes = pair(&).map { |schema| Array.new(3) { whole { schema.execute(text, **options).to_h } } }
    assert_equal(*outcomes)
  end

  def whole
    text_of(outcome { yield })
  rescue NotImplementedError => e
    [e.class, e.message]
  end
end

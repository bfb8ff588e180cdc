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

  Later = Struct.new(:block) { def get = block.call }

  SECRET = type("DeadSecret") do
    field :title, String
    def self.authorized?(_object, context) = OTHERS.fetch(context[:other]).call(Struct.new(:context).new(context)) && true
  end
  POST = type("DeadPost") do
    field :title, String, null: false
    field :n, Integer
    def title = nil
    def self.authorized?(post, context) = context[:listed]&.call(post, context) || true
  end
  # Lazy values, lists and what is asked for their objects.
  BUSY = type("DeadBusy") do
    field :must, String, null: false
    field :must_now, String, null: false
    field :must_late, String, null: false
    field :later, String
    field :secrets, [SECRET]
    field :secret, SECRET
    field :posts, [POST]
    field :strict, [POST], null: false
    field :failing, [POST], null: false
    field :later_self, self
    def later_self = Later.new(-> { object })
    def must = ::Post.where(id: -1).pick(:title)
    def must_now = nil
    def must_late = Later.new(-> { ::Post.where(id: -1).pick(:title) })
    def later = Later.new(-> { OTHERS.fetch(context[:other]).call(self) && "x" })
    def secrets = [object, object]
    def secret = object
    def posts = [nil, *::Post.order(:id).limit(2)]
    def strict = posts
    def failing = Enumerator.new { |all| all << ::Post.find(1) && raise(KeyError, "boom") }
  end

  NOISY = Class.new(GraphQL::Schema::Scalar) do
    graphql_name "DeadNoisy"
    def self.coerce_result(value, context) = context.add_error(GraphQL::ExecutionError.new("written")) && value
  end
  CELL = type("DeadCell") do
    field :must, String, null: false
    def must = ::Post.where(id: -1).pick(:title)
    def self.authorized?(cell, context) = context.add_error(GraphQL::ExecutionError.new("asked for #{cell}")) && true
  end
  LISTS = type("DeadLists") do
    field :must, String, null: false
    field :tags, [NOISY]
    field :tag, NOISY
    field :grid, [[CELL]]
    field :strict_grid, [[CELL]], null: false
    def must = ::Post.where(id: -1).pick(:title)
    def tags = ::Tag.count && %w[a b]
    def tag = ::Tag.count && "a"
    def grid = [[1, 2], [3]]
    def strict_grid = grid
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :lists, LISTS
    def lists = ::User.find(1)
    field :busy, BUSY
    field :later_busy, BUSY
    def busy = ::User.find(1)
    def later_busy = Later.new(-> { ::User.find(1) })
    field :user, USER
    field :users, [USER, { null: true }]
    field :strict_users, [USER]
    def strict_users = ::User.order(:id).limit(3)
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
           "{ user { must others { other } } }", "{ reads user { others { must other } } }", "{ strictUsers { must other } }",
           "{ reads strictUsers { other must first } }", "{ user { others { other } must } }", "{ strictUsers { first others { must } other } }"].freeze

  OTHERS.each_key do |other|
    TEXTS.each_with_index do |text, index|
      define_method(:"test_#{other}_#{index}") { assert_alike(text, context: { other: other }) }
      define_method(:"test_#{other}_#{index}_with_a_dataloader") { assert_alike(text, context: { other: other }) { use GraphQL::Dataloader } } unless Engine::NEXT
    end
  end

  pairs = %w[must mustNow mustLate].product(["later", "secrets { title }", "secret { title }", "laterSelf { later secret { title } }"])
  BUSY_TEXTS = [*pairs, *pairs.map(&:reverse)].map { |fields| fields.join(" ") }.flat_map { |fields| ["{ busy { #{fields} } }", "{ laterBusy { #{fields} } reads }"] }.freeze

  unless Engine::NEXT
    BUSY_TEXTS.product(OTHERS.keys).each do |text, other|
      define_method(:"test_busy_#{text.scan(/\w+/).join("_")}_#{other}") { assert_alike(text, context: { other: other }) }
    end

    def test_items_of_a_list_that_is_null
      listed = ->(post, context) { context.add_error(GraphQL::ExecutionError.new("asked for #{post.id}")) && true }
      ["{ busy { posts { n } } }", "{ busy { strict { n } } reads }", "{ busy { must strict { n } } }", "{ busy { strict { n } must } }"].each do |text|
        assert_alike(text, context: { listed: listed })
      end
    end

    def test_lists_of_scalars_and_of_lists
      ["{ lists { must tags } }", "{ lists { tags must } }", "{ lists { must tag } }", "{ lists { tag must } }", "{ lists { grid { must } } }",
       "{ lists { strictGrid { must } must } }", "{ lists { must strictGrid { must } } }", "{ lists { must grid { must } } }"].each do |text|
        assert_alike(text)
        assert_alike(text) { use GraphQL::Dataloader }
      end
    end

    # What leaves where a list's own item has made all above it null.
    def test_a_list_that_fails_behind_its_item
      assert_alike("{ busy { failing { title } } }")
    end

    def test_queries_of_one_multiplex
      %i[adds adds_later raises].product([["{ busy { mustNow } }", "{ user { other } }"],
                                          ["{ reads }", "{ user { must other } }"],
                                          ["{ user { must other } }", "{ user { other } }", "{ reads }"]]).each do |other, texts|
        plain, piped = pair.map { |schema| schema.multiplex(texts.map { |text| { query: text, context: { other: other } } }).map { |it| text_of(it.to_h) } }
        assert_equal plain, piped
      end
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

  def pair(&block)
    Schemas.make(query: Query, mutation: nil) do
      lazy_resolve(Later, :get)
      class_eval(&block) if block
    end
  end

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

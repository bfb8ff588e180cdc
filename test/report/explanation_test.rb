# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/explained"

# Pipeloader.explain: what became of each field, and why.
class ExplanationTest < PipeloaderTest
  include Explained

  QUERY = "{ posts { __typename title author { name } } users { name postsCount profile { bio } } }"

  def explain(query = QUERY, pipeloader: { compile: true }, **options, &block)
    Pipeloader.explain(Schemas.make(pipeloader: pipeloader, &block).last, query, **options)
  end

  def field(explanation, *keys)
    keys.inject({ fields: explanation.to_h[:fields] }) { |it, key| it[:fields].find { |below| below[:key] == key } }
  end

  def test_a_plain_subtree
    explanation = explain
    assert field(explanation, "posts")[:compiled]
    assert field(explanation, "posts", "author", "name")[:compiled]
    assert_match(/^posts: compiled\n  __typename: compiled\n  title: compiled\n  author: compiled\n    name: compiled\n/, explanation.to_s)
  end

  def test_a_field_of_its_own
    skip "mixed trees are the Interpreter's" if Engine::NEXT

    explanation = explain("{ posts { title authorName author { name } } users { postsCount } }")
    assert_equal "Post.authorName: resolver method `author_name` on Schemas::Post", field(explanation, "posts", "authorName")[:reason]
    assert_match(/author_name/, field(explanation, "posts")[:reason])
    assert field(explanation, "posts", "title")[:compiled]
    assert field(explanation, "posts", "author", "name")[:compiled]
    assert field(explanation, "users", "postsCount")[:compiled]
  end

  def test_the_statements_of_each_burst
    bursts = explain("{ posts { author { name } } }").to_h[:bursts]
    assert_equal [[1, false, []], [2, false, []]], bursts.map { |it| it.values_at(:trip, :lane, :settings) }
    assert_match(/\ASELECT "posts"."id", "posts"."author_id" FROM "posts"/, bursts.first[:statements].keys.first)
    assert_match(/= ANY\(\$1::bigint\[\]\)\z/, bursts.last[:statements].keys.first)
  end

  def test_the_statements_of_one_trip
    bursts = explain("{ posts { author { name } } }", pipeloader: { trips: :one }).to_h[:bursts]
    assert_equal [1], bursts.map { |it| it[:trip] }
    assert_equal 2, bursts.first[:statements].size
  end

  # Their names, and not their values.
  def test_settings
    told = explain("{ posts { title } }", pipeloader: { settings: ->(_) { { "statement_timeout" => "54321" } } })
    assert_match(/^burst 1, under statement_timeout: SELECT/, told.to_s)
    refute_match(/54321/, told.to_s)
  end

  class Titled < ActiveRecord::Base
    self.table_name = "posts"
    has_many :comments, foreign_key: :post_id
    def heading = @heading ||= title.strip
  end

  # What keeps a field from being compiled, is told where a calculation beside it doesn't.
  def test_the_obstacle_beside_a_calculation
    post = Class.new(Schemas::Base) do
      graphql_name "Labeled"
      field :label, String
      def label = "#{object.comments.count} #{object.heading}"
    end
    query = Class.new(Schemas::Base) do
      graphql_name "Query"
      field :posts, [post]
      def posts = Titled.order(:id)
    end
    schema = Schemas.make(query: query, pipeloader: { compile: true }).last
    told = Pipeloader.explain(schema, "{ posts { label } }").to_h[:fields].first[:fields].first
    assert_match(/\A`heading` keeps @heading/, told[:obstacle])
    assert_equal told.slice(:obstacle, :location), Pipeloader.explain_schema(schema, models: { post => Titled }).to_h[:types]["Labeled"][:fields]["label"].slice(:obstacle, :location)
  end

  def test_of_an_open_breaker
    schema = Schemas.make(pipeloader: { compile: true, breaker: true }).last
    capture_io { Pipeloader.breaker.open!(schema, { query: "{ posts { title } }" }, "NoMethodError: of ours") }
    [%w[posts], %w[posts title]].each do |keys|
      assert_equal "executed without Pipeloader since NoMethodError: of ours", field(Pipeloader.explain(schema, "{ posts { title } }"), *keys)[:reason]
    end
    assert field(Pipeloader.explain(schema, "{ posts { id } }"), "posts")[:compiled]
  ensure
    Pipeloader.breaker.reset
  end

  def test_switched_off
    explanation = explain(pipeloader: { compile: false })
    refute field(explanation, "posts", "title")[:compiled]
    assert_match(/plans are off/, explanation.to_s)
  end

  module Watching
    def begin_execute_field(*) = @watched = true
  end

  def test_watched
    explanation = explain { trace_with(Watching) }
    assert_match(/somebody watches every field/, field(explanation, "posts", "title")[:reason])
  end

  def test_a_mutation_is_refused
    error = assert_raises(ArgumentError) { explain("mutation { __typename }") }
    assert_match(/explain executes what it explains, and this is a mutation/, error.message)
  end

  def test_a_schema_without_pipeloader_is_refused
    error = assert_raises(ArgumentError) { Pipeloader.explain(Schemas.pair.first, QUERY) }
    assert_match(/doesn't `use Pipeloader`/, error.message)
  end

  def test_an_invalid_query
    explanation = explain("{ nothingLikeThat }")
    assert_match(/\Aerror: Field 'nothingLikeThat' doesn't exist/, explanation.to_s)
    assert_empty explanation.to_h[:fields]
  end

  # A type, a union and an interface over posts and users, and connections of them.
  module Types
    class Base < GraphQL::Schema::Object; end

    module Named
      include GraphQL::Schema::Interface
      field :id, "ID"
      definition_methods do
        def resolve_type(object, _context) = object.is_a?(::Post) ? Post : User
      end
    end

    class User < Base
      graphql_name "Person"
      implements Named
      field :name, String
    end

    class Post < Base
      graphql_name "Text"
      implements Named
      field :title, String
      field :author, User
      field :mine, GraphQL::Types::Boolean
      def mine = context.dig(:viewer_id) == object.author_id
    end

    class Guarded < Base
      field :title, String
      field :mine, GraphQL::Types::Boolean
      def self.authorized?(object, context) = super && object.id != context[:hidden]
      def mine = context.dig(:viewer_id) == object.author_id
    end

    class Counted < GraphQL::Types::Relay::BaseConnection
      graphql_name "CountedConnection"
      edge_type Post.edge_type
      field :total_count, Integer
      def total_count = object.items.size
    end

    class Any < GraphQL::Schema::Union
      possible_types Post, User
      def self.resolve_type(object, _context) = object.is_a?(::Post) ? Post : User
    end

    class Query < Base
      field :any, [Any]
      field :texts, [Any]
      field :no_text, Any
      field :named, [Named]
      field :guarded, Guarded.connection_type
      field :counted, Counted
      field :posts, [Post]
      field :failing, [Post], null: false
      def any = ::Post.order(:id).first(2) + ::User.order(:id).first(2)
      def texts = ::Post.order(:id).first(2)
      def no_text = nil
      def named = any
      def guarded = ::Post.order(:id)
      def counted = ::Post.order(:id)
      def posts = ::Post.order(:id)
      def failing = raise(GraphQL::ExecutionError, "no")
    end
  end

  def schema(**options) = @schema ||= Schemas.make(query: Types::Query, mutation: nil, pipeloader: { compile: true, **options }).last

  def explained(query, **options) = assert_explained(schema, query, **options)

  def test_members_of_a_union
    told = explained("{ any { __typename ... on Text { title author { name } } ... on Person { name } } }")
    assert_equal %w[Person.__typename Person.name Text.__typename Text.author Text.title], field(told, "any")[:fields].map { |it| it[:field] }.sort
    assert field(told, "any", "author", "name")[:compiled]
    assert_match(/\Aany: by graphql-ruby \(what came there isn't as it is in the database\)$/, told.to_s)
    assert_match(/^  Text.author: compiled\n    name: compiled\n  Person/, told.to_s)
  end

  # Only of the types that came; of what comes nowhere each field once.
  def test_of_a_union_what_came
    told = explained("{ texts { ... on Text { title } ... on Person { name } } noText { ... on Text { id title } ... on Person { id name } } }")
    assert_equal %w[Text.title], field(told, "texts")[:fields].map { |it| it[:field] }
    assert field(told, "texts")[:compiled]
    assert_equal [%w[id title name], ["nothing came there"]], [:key, :reason].map { |what| field(told, "noText")[:fields].map { |it| it[what] }.uniq }
  end

  def test_an_interface
    told = explained("{ named { id ... on Text { title mine } } }")
    assert_equal %w[Person.id Text.id Text.mine Text.title], field(told, "named")[:fields].map { |it| it[:field] }.sort
    refute field(told, "named", "mine")[:compiled]
  end

  def test_nodes_that_are_authorized
    told = explained("{ guarded { edges { node { title mine } } nodes { mine } } }", context: { viewer_id: 1, hidden: 3 })
    [%w[guarded], %w[guarded edges], %w[guarded edges node], %w[guarded edges node mine], %w[guarded nodes]].each do |keys|
      refute field(told, *keys)[:compiled], keys.join(".")
    end
  end

  def test_a_count_beside_a_page
    told = explained("{ counted { totalCount nodes { title } pageInfo { hasNextPage } } }")
    [%w[counted], %w[counted totalCount], %w[counted nodes title]].each { |keys| assert field(told, *keys)[:compiled], keys.join(".") }
  end

  def test_with_the_query_cache
    first, second = ActiveRecord::Base.cache { Array.new(2) { explained("{ posts { title author { name } } }") } }
    assert_equal 2, first.to_h[:bursts].size
    assert_equal first.to_h, second.to_h
  end

  def test_in_a_transaction
    text = "{ posts { title author { name } } }"
    assert field(Post.transaction { explained(text) }, "posts")[:compiled]
    told = Post.transaction { Pipeloader.explain(Schemas.make(pipeloader: { snapshot: true }).last, text).tap(&:to_h) }
    assert_equal "a transaction is open", field(told, "posts")[:reason]
  end

  def test_disabled
    told = Pipeloader.disabled { explained("{ posts { title } }") }
    assert_equal ["Pipeloader is disabled"] * 2, [field(told, "posts"), field(told, "posts", "title")].map { |it| it[:reason] }
    assert_empty told.to_h[:bursts]
  end

  # What executes, or is refused, is explained.
  def test_never_raises
    ["{ posts { ", "", "fragment F on Query { posts { id } }", "query A { posts { id } } query B { posts { id } }", "{ __schema { types { name } } }",
     "{ __typename __type(name: \"Text\") { fields { name } } }", "{ failing { id } posts { id } }", "{ posts @skip(if: true) { id } }",
     "query($on: Boolean!) { posts { id @include(if: $on) } }"].each do |query|
      told = explained(query)
      executed = schema.execute(query).to_h
      assert_equal executed.key?("data"), !told.to_h.key?(:errors), query
      assert_equal executed["errors"], told.to_h[:errors], query unless executed.key?("data")
    end
  end

  # What is looked at may ask the server by itself, such as for a type that nobody has met yet.
  def test_reads_on_the_way
    assert_equal [[1]], Pipeloader::DryRun.within_response { User.connection.execute("SELECT 1").values }
  end
end

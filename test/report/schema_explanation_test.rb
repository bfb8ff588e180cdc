# frozen_string_literal: true

require_relative "../support/plans"

class SchemaExplanationTest < PlanTest
  module Shop
    class Writer < ActiveRecord::Base
      self.table_name = "users"
      has_many :posts, class_name: "SchemaExplanationTest::Shop::Text", foreign_key: :author_id
      def loud = name.then { |it| it.upcase }
    end

    class Text < ActiveRecord::Base
      self.table_name = "posts"
      belongs_to :author, class_name: "SchemaExplanationTest::Shop::Writer"
    end
  end

  Color = Class.new(GraphQL::Schema::Enum) { graphql_name("Color"); value("RED") }
  Range = Class.new(GraphQL::Schema::InputObject) { graphql_name("Range"); argument(:from, GraphQL::Types::Int) }

  class Base < GraphQL::Schema::Object; end

  # Found by an association.
  class Person < Base
    field :name, String
    field :loud, String
    field :texts, "[SchemaExplanationTest::TextType]", null: false, method: :posts
  end

  class Stats < Base
    field :count, Integer
  end

  class Refused < Base
    field :title, String
    field :again, self, method: :itself
    def self.authorized?(object, _context) = object.persisted?
  end

  class TextType < Base
    graphql_name "Text"
    field :title, String
    field :author, Person
    field :stats, Stats
    field :author_posts, Integer
    field :excerpt, String do
      argument :length, Integer
    end
    field :colored, String do
      argument :color, Color
      argument :words, [String]
    end
    field :ranged, String do
      argument :range, Range
    end
    field :missing, String
    def author_posts = object.author.dup.posts.count
    def excerpt(length:) = object.title[0, length]
    def colored(color:, words:) = "#{object.title} #{color} #{words.join}"
  end

  class Query < Base
    graphql_name "Query"
    field :texts, [TextType], null: false
    field :refused, Refused
    def texts = Shop::Text.all
  end

  SCHEMA = Class.new(GraphQL::Schema) { query(Query); use(Pipeloader) }

  def test_fields
    told = Pipeloader.explain_schema(SCHEMA, models: { TextType => Shop::Text }).to_h
    assert_equal %w[Person Text], told[:types].keys.sort
    assert_equal %w[Refused Stats], told[:without_model].sort
    text = told[:types]["Text"]
    assert_equal "SchemaExplanationTest::Shop::Text", text[:model]
    assert_equal %w[author excerpt title], text[:fields].select { |_, it| it[:compiled] }.keys.sort
    line = TextType.instance_method(:author_posts).source_location.last
    assert_equal({ compiled: false, reason: "resolver method `author_posts` on SchemaExplanationTest::TextType",
                   obstacle: "`author_posts` asks `dup` of SchemaExplanationTest::Shop::Writer",
                   location: "test/report/schema_explanation_test.rb:#{line}" }, text[:fields]["authorPosts"])
    assert_equal({ compiled: false, reason: "it takes an argument that can't be made up" }, text[:fields]["ranged"])
    assert_match(/has no method `missing`/, text[:fields]["missing"][:reason])
    person = told[:types]["Person"]
    assert_equal "SchemaExplanationTest::Shop::Writer", person[:model]
    assert_match(%r{\Atest/report/schema_explanation_test.rb:\d+\z}, person[:fields]["loud"][:location])
    assert_equal [told[:types].each_value.sum { |it| it[:fields].count { |_, field| field[:compiled] } }, 11], told.values_at(:compiled, :fields)
  end

  # A type as a whole.
  def test_type
    told = Pipeloader.explain_schema(SCHEMA, models: { "Refused" => Shop::Text }).to_h[:types]["Refused"]
    assert_match(/authorized\?/, told[:fields]["title"][:reason])
  end

  def test_text
    told = Pipeloader.explain_schema(SCHEMA, models: { TextType => Shop::Text }).to_s
    assert_match(/^Text: 3 of 8 fields\n/, told)
    assert_match(/^  authorPosts: by graphql-ruby \(resolver method .*\), test\S+:\d+$/, told)
    assert_match(/^Stats: no model is known$/, told)
    assert_match(/^\d+ of 11 fields of records are compiled \(\d+ %\)\z/, told)
  end

  # What a query then does is what was said.
  def test_agrees_with_explain
    told = Pipeloader.explain_schema(Schemas.pair.last).to_h[:types]["Post"][:fields]
    ["title", "author { __typename }", "commentsCount", "authorName", "tagIds", "commenters { __typename }"].each do |selected|
      said = Pipeloader.explain(Schemas.pair.last, "{ posts { #{selected} } }").to_h[:fields].first[:fields].first
      assert_equal said[:compiled], told.fetch(said[:key])[:compiled], said.inspect
    end
  end

  # By its name, in the modules around it.
  def test_names
    told = Pipeloader.explain_schema(Schemas.pair.last).to_h
    assert_equal %w[Post User], %w[Post User].map { |name| told[:types].fetch(name)[:model] }
  end

  # Whom Pipeloader is on for, plays no role, nor whose executions are proved.
  def test_whoever_it_is_on_for
    counted = type("Post") do
      field :counted, Integer
      def counted = object.comments.where(score: 1).count
    end
    schema = make(query: type("Query") { field :posts, [counted]; def posts = Post.all }).last
    asked = 0
    [false, 0, 0.5, -> { asked += 1; false }, true].each do |enabled|
      Pipeloader.enabled = enabled
      told = Pipeloader.explain_schema(schema, models: { counted => Post }).to_h[:types]["Post"][:fields]["counted"]
      assert_equal({ compiled: true }, told, enabled.inspect)
      assert_equal true, Pipeloader.disabled { Pipeloader.explain_schema(schema, models: { counted => Post }).to_h[:types]["Post"][:fields]["counted"] }[:compiled]
    end
    assert_equal 0, asked
  ensure
    Pipeloader.enabled = true
  end

  def test_without_pipeloader
    assert_raises(ArgumentError) { Pipeloader.explain_schema(Class.new(GraphQL::Schema)) }
  end

  def test_nothing_in_it
    assert_equal "\n0 of 0 fields of records are compiled", Pipeloader.explain_schema(Class.new(GraphQL::Schema) { use(Pipeloader) }).to_s
  end
end

# frozen_string_literal: true

require_relative "../support/plans"

# Decorators that are their models to `case`, as Draper's: they have none of a record's insides.
class DecoratorsTest < PlanTest
  class Decorator
    attr_reader :object

    def self.of(records) = records.map { |record| new(record) }
    def initialize(object) = @object = object
    def is_a?(type) = super || object.is_a?(type)
    def kind_of?(type) = is_a?(type)
    def respond_to_missing?(...) = object.respond_to?(...)
    def method_missing(...) = object.public_send(...)
  end

  # As Draper::Decoratable includes itself into every model.
  module Decoratable
    def ===(other) = super || (Decorator.equal?(other.class) && super(other.object))
  end

  # A module can't be taken out again: its method is.
  def test_decorators
    ActiveRecord::Base.extend(Decoratable)
    in_blocks
    in_fields
    in_the_context
  ensure
    Decoratable.send(:remove_method, :===)
  end

  private

  def in_blocks
    posts = Decorator.of(::Post.order(:id))
    answers = Array.new(5) { Pipeloader.map(posts) { |post| ::Comment.where(post_id: post.id).count } }
    assert_equal [posts.map { |post| ::Comment.where(post_id: post.id).count }], answers.uniq
  end

  def in_fields
    decorated = type("Decorated") do
      field :title, String
      field :n, Integer
      field :author_name, String
      def n = ::Comment.where(post_id: object.id).count + 0
      def author_name = object.author&.name.dup
    end
    query = type("Query") do
      field :posts, [decorated]
      field :post, decorated
      def posts = Decorator.of(::Post.order(:id))
      def post = Decorator.new(::Post.find(1))
    end
    assert_alike("{ posts { title n authorName } post { title n } }", make(query: query, pipeloader: { forecast: true, breaker: false }))
  end

  def in_the_context
    mine = type("Mine") { field(:mine, GraphQL::Types::Boolean); def mine = object.author_id == context[:viewer]&.id }
    query = type("Query") { field(:posts, [mine]); def posts = ::Post.order(:id) }
    assert_alike("{ posts { mine } }", make(query: query, pipeloader: { breaker: false }), context: { viewer: Decorator.new(::User.find(5)) })
  end

  def assert_alike(text, schemas, **options)
    plain, piped = schemas.map { |schema| Array.new(5) { text_of(outcome { schema.execute(text, **options).to_h }) } }
    assert_equal plain, piped
    refute_includes plain.first, "raised"
  end
end

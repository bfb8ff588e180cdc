# frozen_string_literal: true

require_relative "../support/plans"

# A resolver sets a key of the context, reads, and finds there what it has set: also where its siblings use the same key meanwhile.
class ContextKeysTest < PlanTest
  # Takes out what the resolver has handed over.
  class Page < GraphQL::Schema::FieldExtension
    def resolve(object:, arguments:, context:, **)
      posts = yield(object, arguments)
      { posts: posts, search: context.delete(:search) }
    end
  end

  POST = type("KeyedPost") do
    field :title, String
    field :said, String
    field :taken, String

    def said
      context[:said] = object.title
      count = Comment.where(post_id: object.id).count
      "#{context[:said]} #{context.fetch(:said)} #{context.dig(:said)} #{context.key?(:said)} #{count}"
    end

    def taken
      context[:taken] = object.id
      count = Comment.where(post_id: object.id).count
      "#{context.delete(:taken)} #{context.key?(:taken)} #{context.delete(:taken).inspect} #{count}"
    end
  end

  PAGE = type("KeyedPage") do
    field :posts, [POST]
    field :search, Integer
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :search, PAGE, extensions: [Page] do
      argument :id, Integer
    end
    field :all, PAGE, extensions: [Page]
    field :posts, [POST]
    field :kept, Integer
    field :summed, Integer
    field :generated, Integer
    def posts = Post.order(:id).limit(5).to_a
    def all = Post.where(id: 1..Post.count).order(:id).limit(2).to_a
    def kept = (context[:kept] ||= { sum: Post.sum(:id) })[:sum]

    def summed
      context[:summed] = 0
      Pipeloader.map([1, 2, 3]) { |id| context[:summed] += Comment.where(post_id: id).count + id }
      context[:summed]
    end

    def generated
      context[:generated] = 0
      Enumerator.new { |enumerator| (context[:generated] += Post.count) && enumerator << 1 }.next
      context[:generated]
    end

    def search(id:)
      User.where(id: id).pick(:name)
      context[:search] = id
      Post.where(author_id: User.where(id: id).pluck(:id)).order(:id).limit(2).to_a
    end
  end

  def setup
    @schemas = [make(query: Query), make(query: Query) { use GraphQL::Dataloader }]
  end

  def test_searches_side_by_side
    skip "Execution::Next has other extensions" if Engine::NEXT
    assert_alike "{ a: search(id: 1) { search posts { title } } b: search(id: 2) { search posts { title } } c: search(id: 3) { search } }"
  end

  def test_a_field_beside_that_takes_what_is_there
    skip "Execution::Next has other extensions" if Engine::NEXT
    assert_alike "{ a: search(id: 1) { search posts { title } } all { search posts { title } } b: search(id: 2) { search } }"
    assert_alike "{ all { search posts { title } } a: search(id: 1) { search posts { title } } more: all { search } }"
  end

  def test_fields_of_a_list
    assert_alike "{ posts { title said } }"
    assert_alike "{ posts { taken said } more: posts { taken } }"
  end

  # What a field has others do for it, sets for it.
  def test_on_behalf_of_a_field
    assert_alike "{ summed other: summed generated }"
  end

  def test_what_is_kept_for_all
    assert_alike "{ a: kept b: kept c: kept }"
  end

  def test_another_execution_finds_its_own
    @schemas.each do |plain, piped|
      context = { search: 7 }
      assert_equal plain.execute("{ posts { taken } }").to_h, piped.execute("{ posts { taken } }", context: context).to_h
      assert_equal [7, false], [context[:search], context.key?(:taken)]
    end
  end

  private

  def assert_alike(query)
    @schemas.each do |plain, piped|
      expected = plain.execute(query).to_h
      refute expected.key?("errors"), expected.inspect
      3.times { assert_equal expected, piped.execute(query).to_h }
    end
  end
end

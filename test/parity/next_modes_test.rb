# frozen_string_literal: true

require_relative "../support/plans"

return unless Engine::NEXT

# How Execution::Next is told to resolve a field (`resolve_each:`, `resolve_batch:`, …) is what resolves it, whatever else has its
# name; and lists of results of odd sizes.
class NextModesTest < PlanTest
  Note = Struct.new(:text, :hidden)
  Stat = Struct.new(:name, :total, :notes, :twice)

  class NoteType < GraphQL::Schema::Object
    graphql_name "ModeNote"
    field :text, String
  end

  class StatType < GraphQL::Schema::Object
    graphql_name "ModeStat"
    field :name, String
    field :total, Integer, resolve_each: true
    field :twice, Integer, resolve_batch: true
    field :fixed, Integer, resolve_static: true
    field :theme, String, hash_key: "theme", resolve_each: :shown
    field :notes, [NoteType], resolve_batch: :visible

    def self.total(stat, _context) = stat[:total] * 2
    def self.twice(stats, _context) = stats.map { |it| it[:total] * 4 }
    def self.fixed(_context) = 7
    def self.shown(stat, _context) = "shown #{stat[:name]}"
    def self.visible(stats, _context) = stats.map { |it| it[:notes].reject { |note| note[:hidden] } }
  end

  class Person < GraphQL::Schema::Object
    graphql_name "ModePerson"
    field :name, String
  end

  class PostType < GraphQL::Schema::Object
    graphql_name "ModePost"
    field :title, String
    field :author, Person, null: false, resolve_batch: :authors
    field :editor, Person, resolve_batch: :editors
    field :writer, Person, null: false, method: :author

    def self.authors(posts, context) = context[:authors].call(posts)
    def self.editors(posts, context) = context[:authors].call(posts)
  end

  class Guarded < GraphQL::Schema::Object
    graphql_name "ModeGuarded"
    field :title, String
    def self.authorized?(post, context) = context[:nobody].nil? && !post.title.nil?
  end

  class Query < GraphQL::Schema::Object
    field :stats, [StatType], resolve_static: :stats
    field :posts, [PostType, { null: true }], resolve_static: :posts
    field :many, [Guarded, { null: true }], resolve_static: :many

    def self.stats(context) = context[:stats]
    def self.posts(_context) = ::Post.order(:id).limit(4)
    def self.many(context) = context[:many]
  end

  class Mutation < GraphQL::Schema::Object
    field :touch, [Guarded], resolve_static: :touch
    def self.touch(context) = ::Post.where(id: 0).update_all(likes: 1) && context[:many]
  end

  STATS = {
    structs: [Stat.new("a", 1, [Note.new("secret", true), Note.new("open", false)], 9), Stat.new("b", 2, [], 9)],
    hashes: [{ name: "a", total: 1, notes: [{ text: "secret", hidden: true }], twice: 9, fixed: 1, "theme" => "dark" }],
    strings: [{ "name" => "a", total: 1, notes: [], twice: 9, "fixed" => 1, "theme" => "dark" }]
  }.freeze

  STATS.each do |name, stats|
    define_method(:"test_#{name}") { assert_same_answer("{ stats { name total twice fixed theme notes { text } } }", context: { stats: stats }) }
    %w[name total twice fixed theme].each do |field|
      define_method(:"test_#{name}_#{field}") { assert_same_answer("{ stats { #{field} } }", context: { stats: stats }) }
    end
  end

  SIZES = {
    fewer: ->(posts) { ::User.where(id: posts.map(&:author_id)).order(:id).first(2) },
    more: ->(posts) { ::User.order(:id).first(posts.size + 2) },
    none: ->(_) { [] },
    one_less: ->(posts) { ::User.order(:id).first(posts.size - 1) },
    nothing: ->(_) {},
    nils: ->(posts) { [nil, *::User.order(:id).first(posts.size - 2), nil] }
  }.freeze

  SIZES.each do |name, authors|
    %w[author editor].each do |field|
      define_method(:"test_#{name}_of_#{field}") do
        assert_same_answer("{ posts { title #{field} { name } } }", context: { authors: authors })
      end
    end
  end

  def test_type_error_that_raises
    assert_same_answer("{ posts { writer { name } } }", type_error: ->(*) { raise GraphQL::ExecutionError, "internal" })
    assert_same_answer("{ posts { writer { name } } }", type_error: ->(*) {})
  end

  # A list of arguments has its limits, on a fiber above all.
  def test_many_objects_that_are_authorized
    many = Array.new(17_000) { ::Post.new(title: "one of many") }
    assert_same_answer("mutation { touch { title } }", context: { many: many }, size: 17_000)
  end

  private

  def assert_same_answer(document, type_error: nil, size: nil, **options)
    plain, piped = schemas(type_error).map { |schema| Array.new(size ? 1 : 3) { outcome { schema.execute(document, **options).to_h } } }
    assert_equal text_of(plain), text_of(piped)
    assert_equal size, piped.last.dig("data", "touch").size if size
  end

  def schemas(type_error)
    Schemas.make(query: Query, mutation: Mutation).each do |schema|
      schema.define_singleton_method(:type_error, &type_error) if type_error
    end
  end
end

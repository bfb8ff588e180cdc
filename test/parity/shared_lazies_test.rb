# frozen_string_literal: true

require_relative "../support/answers"

# A lazy value that several fields, or objects, share: whoever comes second finds what the first has found.
class SharedLaziesTest < AnswerTest
  # Wraps nothing: on Execution::Next a schema without one has no lazy values.
  Other = Struct.new(:value)

  class Author < GraphQL::Schema::Object
    graphql_name "LazyAuthor"
    field :name, String
    field :email, String
    field :checked, Boolean

    def self.authorized?(_author, context) = context[:allowed] ? (context[:may] ||= lazily { ::Post.where(id: 1).exists? }) : true
    def self.lazily(&) = GraphQL::Execution::Lazy.new(&)

    def name = first.then { |user| user.name + object.id.to_s }
    def email = first.then { |user| user.name.upcase }

    private

    def first = context[:first] ||= self.class.lazily { ::User.order(:id).first }
  end

  class Post < GraphQL::Schema::Object
    graphql_name "LazyPost"
    field :author, Author
    field :comments_count, Integer

    def author = (context[:users] ||= {})[object.author_id] ||= Author.lazily { ::User.find_by(id: object.author_id) }
    def comments_count = GraphQL::Execution::Lazy.all([author, object.comments.count]).then { |user, count| user ? count : -count }
  end

  class Query < GraphQL::Schema::Object
    field :posts, [Post]
    field :viewer, Author
    field :again, Author

    def posts = ::Post.order(:id).to_a
    def viewer = context[:viewer] ||= Author.lazily { ::User.find(2) }
    def again = viewer
  end

  def schemas = Schemas.make(query: Query, mutation: nil) { lazy_resolve(Other, :value) }

  ["{ posts { author { name email } } }", "{ posts { commentsCount author { name } } viewer { name email } again { email } }",
   "{ a: viewer { name } again { name } b: viewer { email } posts { a: author { name } b: author { email } } }"].each_with_index do |text, index|
    define_method(:"test_shared_#{index}") do
      [{}, { allowed: true }].each do |context|
        plain, piped = schemas.map { |schema| Array.new(3) { schema.execute(text, context: context.dup).to_h } }
        assert_equal plain, piped
        refute_includes plain.to_s, "errors"
      end
    end
  end

  # As graphql-ruby: it is over for all.
  def test_one_that_fails
    query = query_type(GraphQL::Schema::Object) do
      4.times { |index| field(:"f#{index}", Integer) }
      define_method(:shared) { context[:shared] ||= GraphQL::Execution::Lazy.new { ::Post.find(-1).id } }
      4.times { |index| define_method(:"f#{index}") { shared } }
    end
    plain, piped = Schemas.make(query: query, mutation: nil) { lazy_resolve(Other, :value) }.map { |schema| schema.execute("{ f0 f1 f2 f3 }").to_h }
    assert_equal plain, piped
    assert_equal 1, plain["errors"].size
  end
end

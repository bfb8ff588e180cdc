# frozen_string_literal: true

# Run by adapter_test.rb in a process of its own, in which nothing but SQLite is loaded: prints what it saw as JSON.

require "active_record"
require "pipeloader"
require "json"

ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:authors) { |t| t.string :name; t.string :bio }
  create_table(:posts) { |t| t.string :title; t.text :body; t.integer :likes, default: 0; t.belongs_to :author }
end

class Author < ActiveRecord::Base
  has_many :posts, -> { order(:id) }
end

class Post < ActiveRecord::Base
  belongs_to :author, optional: true
end

2.times { |i| Author.create!(name: "author #{i}", bio: "bio #{i}") }
5.times { |i| Post.create!(title: "post #{i}", body: "body #{i}", author_id: [nil, 1, 2][i % 3]) }

module Types
  class Author < GraphQL::Schema::Object
    field :name, String
    field :posts, ["Types::Post"]
    field :posts_count, Integer, selects: []
    def posts_count = object.posts.count
  end

  class Post < GraphQL::Schema::Object
    field :id, ID
    field :title, String
    field :author, Author
    field :excerpt, String, selects: %i[body]
    field :hidden, String, selects: []
    field :loud, String
    field :author_name, String
    field :siblings, Integer
    def author_name = ::Author.find_by(id: object.author_id)&.name
    def siblings = ::Post.where(author_id: object.author_id).count
    def excerpt = object.body[0, 3]
    def hidden = object.then(&:body)
    def loud = object.title.dup.upcase
  end

  class Query < GraphQL::Schema::Object
    field :posts, [Post]
    field :paged, Post.connection_type
    field :failing, String
    def posts = ::Post.order(:id)
    def paged = ::Post.order(:id)
    def failing = ::Post.where("no_such_column = 1").first
  end

  class Mutation < GraphQL::Schema::Object
    field :like, Post
    def like = ::Post.transaction { ::Post.find(1).tap { |post| post.update!(likes: post.likes + 1) } }
  end
end

PLAIN, PIPED = [false, true].map do |piped|
  Class.new(GraphQL::Schema) do
    query Types::Query
    mutation Types::Mutation
    rescue_from(ActiveRecord::StatementInvalid) { |error| raise GraphQL::ExecutionError, error.message }
    use Pipeloader, field_exact: true, breaker: false if piped
  end
end

QUERIES = [
  "{ posts { title author { name } } }",
  "{ posts { id author { name posts { title } postsCount } } paged(first: 2) { edges { node { title } } pageInfo { hasNextPage } } }",
  "{ posts { excerpt } }",
  "{ posts { hidden title } }",
  "{ posts { loud author { name } } }",
  "{ failing posts { title } }",
  "{ posts { authorName siblings } }",
  "mutation { like { id author { name } authorName } }"
].freeze

def seen(name)
  payloads = []
  ActiveSupport::Notifications.subscribed(->(*, payload) { payloads << payload }, name) { yield }
  payloads
end

def answer(schema, query)
  answer = nil
  ActiveRecord::Base.transaction do
    answer = schema.execute(query).to_json
    raise ActiveRecord::Rollback
  end
  answer
end

puts JSON.generate(
  answers: QUERIES.map { |query| [PLAIN, PIPED].map { |schema| answer(schema, query) } },
  sql: seen("sql.active_record") { QUERIES.first(1).each { |query| PIPED.execute(query) } }.map { |it| it[:sql] }.uniq,
  missed: seen("projection_miss.pipeloader") { PIPED.execute(QUERIES[3]) }.size,
  bursts: seen("burst.pipeloader") { QUERIES.each { |query| PIPED.execute(query) } }.size,
  pg: $LOADED_FEATURES.grep(%r{/pg(?:_ext)?\.(?:rb|so)\z}).size
)

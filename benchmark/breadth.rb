# frozen_string_literal: true

# Pipeloader and graphql-breadth-ruby (gmac/graphql-breadth-ruby on GitHub, which is no gem as yet) in one run:
#
#     bundle exec ruby benchmark/breadth.rb PATH      a checkout of it; Ruby 3.3 or later
#
# Medians of an answer, from a document that is parsed and taken for valid, as breadth validates none, to a Hash: of 1,000 Structs
# in memory, and of 50 posts with their authors, ten comments each, and the commenters. Breadth has a resolver for each field, and
# a loader for each association; the other contenders have plain types.

require "ostruct"
path = ARGV.shift or abort "breadth: where is its checkout? bundle exec ruby benchmark/breadth.rb PATH"
$LOAD_PATH.unshift File.join(path, "lib")
ENV["MT_NO_PLUGINS"] = "1"
require "minitest"
Minitest.define_singleton_method(:autorun) { nil } # the tests' database and tables, and none of the tests
require_relative "../test/support/test_helper"
require "graphql/breadth"

Post.limit(nil).delete_all
Comment.limit(nil).delete_all

# @return [Array<Integer>] ids of the new rows
def insert(model, rows) = model.insert_all!(rows, returning: :id).rows.flatten

AUTHORS = insert(User, (1..100).map { |number| { name: "author #{number}" } })
POSTS = insert(Post, (1..50).map { |number| { title: "post #{number}", author_id: AUTHORS[number * 7 % 100] } })
insert(Comment, (1..500).map do |number|
  { body: "comment #{number}", post_id: POSTS[number % 50], commenter_id: AUTHORS[number * 3 % 100] }
end)
Thing = Struct.new(:id, :title, :score)
THINGS = Array.new(1000) { |index| Thing.new(index.to_s, "thing #{index}", index) }.freeze

# As naive code has it.
module Plain
  class Author < GraphQL::Schema::Object
    field :name, String
  end

  class Comment < GraphQL::Schema::Object
    field :body, String
    field :commenter, Author
  end

  class Post < GraphQL::Schema::Object
    field :title, String
    field :author, Author
    field :comments, [Comment]
  end

  class Thing < GraphQL::Schema::Object
    field :id, ID, null: false
    field :title, String, null: false
    field :score, Integer, null: false
  end

  class Query < GraphQL::Schema::Object
    field :posts, [Post], null: false, resolve_static: true
    field :things, [Thing], null: false, resolve_static: true
    def self.posts(*) = ::Post.order(:id)
    def self.things(*) = THINGS
    def posts = self.class.posts
    def things = self.class.things
  end

  Interpreter = Class.new(GraphQL::Schema) { query Query }
  Next = Class.new(GraphQL::Schema) { query Query; use GraphQL::Execution::Next }
  Piped = Class.new(GraphQL::Schema) { query Query; use Pipeloader }
  PipedNext = Class.new(GraphQL::Schema) { query Query; use GraphQL::Execution::Next; use Pipeloader }
end

# As breadth's documentation has it.
module Breadth
  class ById < GraphQL::Breadth::LazyLoader
    def perform(ids, _context) = User.where(id: ids).each { |user| fulfill_key(user.id, user) }
  end

  class ByPost < GraphQL::Breadth::LazyLoader
    def perform(ids, _context)
      Comment.where(post_id: ids).order(:id).group_by(&:post_id).each { |id, comments| fulfill_key(id, comments) }
    end
  end

  class Loading < GraphQL::Breadth::FieldResolver
    def initialize(loader, key)
      super()
      @loader = loader
      @key = key
    end

    def resolve(field, _context) = field.lazy(loader_class: @loader, keys: field.objects.map { |it| it.public_send(@key) })
  end

  class Root < GraphQL::Breadth::FieldResolver
    def initialize(&block)
      super()
      @block = block
    end

    def resolve(field, _context) = field.resolve_all(@block.call)
  end

  CALLING = ->(name) { GraphQL::Breadth::MethodResolver.new(name) }
  RESOLVERS = {
    "Query" => { "posts" => Root.new { Post.order(:id).to_a }, "things" => Root.new { THINGS } },
    "Post" => { "title" => CALLING[:title], "author" => Loading.new(ById, :author_id), "comments" => Loading.new(ByPost, :id) },
    "Comment" => { "body" => CALLING[:body], "commenter" => Loading.new(ById, :commenter_id) },
    "Author" => { "name" => CALLING[:name] },
    "Thing" => { "id" => CALLING[:id], "title" => CALLING[:title], "score" => CALLING[:score] }
  }.freeze
  SCHEMA = GraphQL::Schema.from_definition(Plain::Interpreter.to_definition)

  def self.call(document)
    GraphQL::Breadth::Executor.new(SCHEMA, document, resolvers: RESOLVERS, root_object: {}, context: {}, variables: {}).result
  end
end

CONTENDERS = {
  "naive, Interpreter" => ->(document) { Plain::Interpreter.execute(document: document, validate: false).to_h },
  "naive, Execution::Next" => ->(document) { Plain::Next.execute_next(document: document, validate: false).to_h },
  "breadth" => Breadth.method(:call),
  "Pipeloader" => ->(document) { Plain::Piped.execute(document: document, validate: false).to_h },
  "Pipeloader, Execution::Next" => ->(document) { Plain::PipedNext.execute_next(document: document, validate: false).to_h }
}.freeze
RUNS = 60

def seconds
  before = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - before
end

{ "1,000 Structs, three fields" => "{ things { id title score } }",
  "50 posts" => "{ posts { title author { name } comments { body commenter { name } } } }" }.each do |name, text|
  document = GraphQL.parse(text)
  answers = CONTENDERS.transform_values { |call| JSON.generate(Array.new(5) { call.(document) }.last) }
  abort "breadth: answers differ: #{answers.transform_values { |it| it[0, 200] }}" unless answers.values.uniq.one?

  times = CONTENDERS.transform_values { [] }
  RUNS.times do
    CONTENDERS.to_a.shuffle.each do |contender, call|
      GC.start
      times[contender] << seconds { call.(document) }
    end
  end
  medians = times.transform_values { |all| all.sort[RUNS / 2] * 1000 }
  puts name
  medians.each { |contender, ms| puts format("  %-28s %7.2f ms  %5.2f of breadth", contender, ms, ms / medians["breadth"]) }
end
puts RUBY_DESCRIPTION, "graphql #{GraphQL::VERSION}, activerecord #{ActiveRecord::VERSION::STRING}, breadth #{GraphQL::Breadth::VERSION}"

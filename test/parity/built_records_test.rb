# frozen_string_literal: true

require_relative "../support/test_helper"

# Records that a resolver makes in memory (`object.comments.build`, `object.author = …`), to ask a policy, say: an earlier field's
# records are on their way by then, and aren't these.
class BuiltRecordsTest < PipeloaderTest
  module Presenter
    def title = super.upcase
    def comments = super.limit(1)
  end

  class User < Schemas::Base
    field :name, String
    field :loud, String
    def loud = "#{object.name}!#{context.dig(:nothing)}"
  end

  class Comment < Schemas::Base
    field :id, ID
    field :body, String
    field :loud, String
    def loud = "#{object.body}!#{context.dig(:nothing)}"
  end

  class Post < Schemas::Base
    field :title, String
    field :comments, [Comment]
    field :author, User
    field :bodies, [String]
    field :built, Boolean
    field :added, Integer
    field :assigned, String
    field :asked, String
    field :presented, String
    field :renamed, String
    def bodies = object.comments.map { |it| "#{it.body}#{context.dig(:nothing)}" }
    def built = object.comments.build(body: "draft").new_record?
    def added = object.comments.new(body: "new") && object.comments.target.size
    def presented = object.extend(Presenter).class.name
    def renamed = (def object.title = "own") && "#{context.dig(:nothing)}"
    def asked = object.author&.name
    def assigned = (object.author = ::User.new(name: "nobody")).name
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :posts, [Post]
    field(:post, Post) { argument :id, Integer }
    def posts = ::Post.order(:id).limit(4)
    def post(id:) = ::Post.find(id)
  end

  PAIRS = [{}, { compile: false }].map { |options| Schemas.make(query: Query, mutation: nil, pipeloader: options) }

  # On the Interpreter a field may come before one that waits, though it is selected behind it. See docs/internals.md.
  BEHIND = Engine::NEXT ? ["comments { loud } built all: comments { id loud }", "author { loud } assigned again: author { name }"] : []

  ["comments { id body } built", "comments { body loud } built", "built comments { id loud }", "bodies built", "built bodies",
   "title comments { id } comments { loud } added", "author { loud } assigned", "author { name } assigned",
   "author { loud } asked assigned", "author { name } asked assigned", "assigned author { loud }",
   "comments { loud } author { loud } built assigned", *BEHIND].each do |below|
    define_method("test_#{below.scan(/\w+/).join("_")}") do
      ["{ posts { #{below} } }", "{ post(id: 1) { #{below} } }", "{ a: post(id: 3) { #{below} } b: post(id: 1) { #{below} } }"].each do |query|
        PAIRS.each { |pair| 2.times { assert_same_answer(query, pair) } }
      end
    end
  end

  # A resolver that gives its record other methods is seen by what is selected behind it.
  ["presented title", "title presented again: title", "renamed title", "presented comments { id }", "presented comments { loud } title"].each do |below|
    define_method("test_#{below.scan(/\w+/).join("_")}") do
      PAIRS.each { |pair| 2.times { assert_same_answer("{ posts { #{below} } post(id: 1) { #{below} } }", pair) } }
    end
  end
end

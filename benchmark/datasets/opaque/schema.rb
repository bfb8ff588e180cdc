# frozen_string_literal: true

require_relative "../example_root"

# Resolver methods over the example's models, each with code of its own, so that nobody can see from outside what it reads.
# As in an application, nothing here knows of any contender.
module Opaque
  class Base < GraphQL::Schema::Object
    private

    def shown(text) = context.dig(:shouting) ? text.upcase : text.strip
  end

  module Types
    class Author < Base
      field :name, String, null: false

      def name = shown(object.name)
    end

    class User < Base
      field :name, String, null: false

      def name = shown(object.name)
    end

    class Comment < Base
      field :body, String, null: false
      field :commenter, User, null: false

      def body = shown(object.body)
      def commenter = object.commenter.presence
    end

    class Post < Base
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, [Comment], null: false

      def title = shown(object.title)
      def author = object.author.presence
      def comments = object.comments.to_a
    end

    Query = Bench::Datasets::ExampleRoot.of(Post)
  end
end

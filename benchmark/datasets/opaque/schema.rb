# frozen_string_literal: true

# Resolver methods over the example's models, each with code of its own, so that nobody can see from outside what it reads.
# As in an application, nothing here knows of any contender.
module Opaque
  module Types
    class Author < GraphQL::Schema::Object
      field :name, String, null: false

      def name = object.name.strip
    end

    class User < GraphQL::Schema::Object
      field :name, String, null: false

      def name = object.name.strip
    end

    class Comment < GraphQL::Schema::Object
      field :body, String, null: false
      field :commenter, User, null: false

      def body = object.body.strip
      def commenter = object.commenter.presence
    end

    class Post < GraphQL::Schema::Object
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, [Comment], null: false

      def title = object.title.strip
      def author = object.author.presence
      def comments = object.comments.to_a
    end

    class Query < GraphQL::Schema::Object
      field :posts, [Post], null: false do
        argument :limit, Integer, required: true
      end

      def posts(limit:) = Example::Post.order(:id).limit(limit)
    end
  end
end

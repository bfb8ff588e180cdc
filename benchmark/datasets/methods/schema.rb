# frozen_string_literal: true

require_relative "../example_root"

# Resolver methods over the example's models that do nothing but to ask the record. As in an application, nothing here knows of
# any contender.
module Methods
  module Types
    class Author < GraphQL::Schema::Object
      field :name, String, null: false

      def name = object.name
    end

    class User < GraphQL::Schema::Object
      field :name, String, null: false

      def name = object.name
    end

    class Comment < GraphQL::Schema::Object
      field :body, String, null: false
      field :commenter, User, null: false

      def body = object.body
      def commenter = object.commenter
    end

    class Post < GraphQL::Schema::Object
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, [Comment], null: false

      def title = object.title
      def author = object.author
      def comments = object.comments
    end

    Query = Bench::Datasets::ExampleRoot.of(Post)
  end
end

# frozen_string_literal: true

require_relative "../example_root"

# Plain types over the example's models. As in an application, nothing here knows of any contender.
module Aggregates
  module Types
    class Comment < GraphQL::Schema::Object
      field :body, String, null: false
    end

    class Author < GraphQL::Schema::Object
      field :name, String, null: false
      field :post_count, Integer, null: false
      field :latest_posts, ["Aggregates::Types::Post"], null: false do
        argument :limit, Integer, required: true
      end

      def post_count = object.posts.count
      def latest_posts(limit:) = object.posts.order(id: :desc).limit(limit)
    end

    class Post < GraphQL::Schema::Object
      field :title, String, null: false
      field :author, Author, null: false
      field :comment_count, Integer, null: false
      field :last_commenter_id, Integer
      field :letters, Integer, null: false
      field :discussed, Boolean, null: false
      field :latest_comments, [Comment], null: false do
        argument :limit, Integer, required: true
      end

      def comment_count = object.comments.count
      def last_commenter_id = object.comments.maximum(:commenter_id)
      def letters = object.comments.sum("length(body)")
      def discussed = object.comments.exists?(["commenter_id > 250"])
      def latest_comments(limit:) = object.comments.reorder(id: :desc).limit(limit)
    end

    Query = Bench::Datasets::ExampleRoot.of(Post)
  end
end

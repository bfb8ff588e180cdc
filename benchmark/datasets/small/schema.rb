# frozen_string_literal: true

require_relative "../../../example/schema"

class Example::Broad < ActiveRecord::Base
end

# Types over the example's models as a small request meets them: one record, its counts, checks in code of one's own, a Hash.
# As in an application, nothing here knows of any contender.
module Small
  # Reads seven times, each time by what it has read before.
  class Report
    def initialize(post) = @post = post

    def lines
      author = @post.author
      last = @post.comments.last
      others = author.posts.where.not(id: @post.id).order(:id).limit(2).to_a
      [author.name, last.body, last.commenter.name, last.commenter.team.name, others.map(&:title).join(", "),
       Example::Comment.where(post_id: others.map(&:id)).count.to_s, Example::Post.where(author_id: author.id).maximum(:title)]
    end
  end

  module Types
    class Settings < GraphQL::Schema::Object
      field :theme, String, null: false, hash_key: :theme
      field :locale, String, null: false, hash_key: :locale
    end

    class User < ::Example::Types::User
      field :settings, Settings, null: false
      field :comment_count, Integer, null: false
      field :issue_count, Integer, null: false

      def settings = { theme: "dark", locale: context[:locale] || "en" }
      def comment_count = Example::Comment.where(commenter_id: object.id).count
      def issue_count = Example::Issue.where(creator_id: object.id).count
    end

    Author = ::Example::Types::Author

    class Comment < GraphQL::Schema::Object
      field :body, String, null: false
      field :commenter, User, null: false
    end

    class Post < GraphQL::Schema::Object
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, [Comment], null: false
      field :latest, [Comment], null: false
      field :comment_count, Integer, null: false
      field :discussed, Boolean, null: false
      field :moderator, User
      field :report, [String], null: false

      def latest = object.comments.reorder(id: :desc).limit(3)
      def comment_count = object.comments.count
      def discussed = object.comments.exists?(["commenter_id > 250"])
      def moderator = context[:hidden] ? nil : Example::User.find(1 + (object.id % 500))
      def report = Report.new(object).lines
    end

    class Broad < GraphQL::Schema::Object
      Bench::Datasets::Small::COLUMNS.each { |name| field name, String, null: false, camelize: false }
    end

    class Query < GraphQL::Schema::Object
      field :viewer, User, null: false
      field :post, Post do
        argument :id, ID, required: true
      end
      field :broads, [Broad], null: false do
        argument :limit, Integer, required: true
      end

      def viewer = Example::User.find(context[:viewer_id] || 7)
      def post(id:) = Example::Post.find(id)
      def broads(limit:) = Example::Broad.order(:id).limit(limit)
    end

    class Mutation < GraphQL::Schema::Object
      field :rename, Post, null: false do
        argument :id, ID, required: true
        argument :title, String, required: true
      end

      def rename(id:, title:)
        post = Example::Post.find(id)
        Example::Post.transaction { post.update_columns(title: title) }
        post
      end
    end
  end
end

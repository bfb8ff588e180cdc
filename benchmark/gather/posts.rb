# frozen_string_literal: true

require_relative "../blog"
require_relative "level"

module Gather
  # posts → author, comments → author
  class Posts < Tree
    class CommentResource
      include Alba::Resource
      attributes :body
      one :author, resource: NameResource
    end

    class PostResource
      include Alba::Resource
      attributes :title
      one :author, resource: NameResource
      many :comments, resource: CommentResource
    end

    class CommentSerializer < ActiveModel::Serializer
      attributes :body
      belongs_to :author, serializer: NameSerializer
    end

    class PostSerializer < ActiveModel::Serializer
      attributes :title
      belongs_to :author, serializer: NameSerializer
      has_many :comments, serializer: CommentSerializer
    end

    SERIALIZERS = {
      "plain Ruby" => lambda do |post|
        { title: post.title, author: { name: post.author.name },
          comments: post.comments.map { |comment| { body: comment.body, author: { name: comment.author.name } } } }
      end,
      "alba" => ->(post) { PostResource.new(post).to_h },
      "jbuilder" => lambda do |post|
        Jbuilder.new do |json|
          json.title post.title
          json.author(post.author, :name)
          json.comments(post.comments) do |comment|
            json.body comment.body
            json.author(comment.author, :name)
          end
        end.attributes!
      end,
      "AMS" => ams(PostSerializer)
    }.freeze
    INCLUDES = [:author, { comments: :author }].freeze
    SIZE = 50
    PEOPLE = 200

    def records = Post.order(:id)

    def load_async
      posts = records.to_a
      Level.load([posts, :author, :comments])
      Level.load([posts.flat_map(&:comments), :author])
      posts
    end

    def seed
      Person.insert_all!((1..PEOPLE).map { |id| { name: "Person #{id}" } })
      Post.insert_all!((1..@size).map { |id| { title: "Post #{id}", author_id: id % PEOPLE + 1 } })
      Comment.insert_all!((1..(@size * 5)).map do |id|
        { body: "Comment #{id}", post_id: (id % @size) + 1, author_id: (id * 7 % PEOPLE) + 1 }
      end)
      ActiveRecord::Base.connection.execute("ANALYZE")
    end
  end
end

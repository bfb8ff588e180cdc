# frozen_string_literal: true

require_relative "level"

module Gather
  # posts → author, comments → commenter: how these are serialized and loaded, whichever tables they are in.
  module PostTree
    class CommentResource
      include Alba::Resource
      attributes :body
      one :commenter, resource: NameResource
    end

    class PostResource
      include Alba::Resource
      attributes :title
      one :author, resource: NameResource
      many :comments, resource: CommentResource
    end

    class CommentSerializer < ActiveModel::Serializer
      attributes :body
      belongs_to :commenter, serializer: NameSerializer
    end

    class PostSerializer < ActiveModel::Serializer
      attributes :title
      belongs_to :author, serializer: NameSerializer
      has_many :comments, serializer: CommentSerializer
    end

    SERIALIZERS = {
      "plain Ruby" => lambda do |post|
        { title: post.title, author: { name: post.author.name },
          comments: post.comments.map { |comment| { body: comment.body, commenter: { name: comment.commenter.name } } } }
      end,
      "alba" => ->(post) { PostResource.new(post).to_h },
      "jbuilder" => lambda do |post|
        Jbuilder.new do |json|
          json.title post.title
          json.author(post.author, :name)
          json.comments(post.comments) do |comment|
            json.body comment.body
            json.commenter(comment.commenter, :name)
          end
        end.attributes!
      end,
      "AMS" => Tree.ams(PostSerializer)
    }.freeze
    INCLUDES = [:author, { comments: :commenter }].freeze

    def load_async
      posts = records.to_a
      Level.load([posts, :author, :comments])
      Level.load([posts.flat_map(&:comments), :commenter])
      posts
    end
  end
end

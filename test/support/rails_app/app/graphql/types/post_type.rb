# frozen_string_literal: true

module Types
  class PostType < Types::BaseObject
    implements Types::NodeType
    field :title, String, null: false
    field :shout, String, null: false
    field :byline, String, null: false
    field :created_at, GraphQL::Types::ISO8601DateTime, null: false
    field :user, Types::UserType, null: false
    field :comments, [Types::CommentType], null: false
    field :comments_page, Types::CommentType.connection_type, null: false, method: :comments

    # Own code, as `dup` is nothing that a plan knows.
    def byline = "#{context[:prefix]}by #{object.user.name.dup}"
  end
end

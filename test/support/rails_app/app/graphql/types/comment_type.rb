# frozen_string_literal: true

module Types
  class CommentType < Types::BaseObject
    implements Types::NodeType
    field :body, String, null: false
    field :user, Types::UserType
    field :post, Types::PostType
  end
end

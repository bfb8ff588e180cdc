# frozen_string_literal: true

module Types
  class CommentType < Types::BaseObject
    implements Types::NodeType
    field :body, String, null: false
    field :commenter, Types::UserType, null: false
    field :post, Types::PostType, null: false
  end
end

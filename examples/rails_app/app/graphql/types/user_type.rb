# frozen_string_literal: true

module Types
  class UserType < Types::BaseObject
    implements Types::NodeType
    field :name, String, null: false
    field :post_count, Integer, null: false
    field :latest_posts, [Types::PostType], null: false do
      argument :limit, Integer, required: false, default_value: 3
    end

    def post_count = object.posts.count
    def latest_posts(limit:) = object.posts.order(id: :desc).limit(limit)
  end
end

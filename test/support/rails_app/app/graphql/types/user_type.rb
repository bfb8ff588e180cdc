# frozen_string_literal: true

module Types
  class UserType < Types::BaseObject
    implements Types::NodeType
    field :name, String, null: false
    field :posts_count, Integer, null: false
    field :latest, [Types::PostType], null: false do
      argument :limit, Integer, required: false, default_value: 2
    end

    def posts_count = object.posts.count
    def latest(limit:) = object.posts.order(id: :desc).limit(limit)
  end
end

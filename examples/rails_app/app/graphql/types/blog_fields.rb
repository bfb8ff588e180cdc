# frozen_string_literal: true

module Types
  # What the query has besides what the generator gives it.
  module BlogFields
    extend ActiveSupport::Concern

    included do
      field :posts, [Types::PostType], null: false do
        argument :limit, Integer, required: false, default_value: 50
      end
      field :posts_page, Types::PostType.connection_type, null: false
      field :users, [Types::UserType], null: false
    end

    def posts(limit:) = Post.order(:id).limit(limit)
    def posts_page = Post.order(:id)
    def users = User.order(:name)
  end
end

# frozen_string_literal: true

module Types
  # What the query has besides what the generator gives it.
  module BlogFields
    extend ActiveSupport::Concern

    included do
      field :users, [Types::UserType], null: false
      field :posts, [Types::PostType], null: false
      field :posts_page, Types::PostType.connection_type, null: false
      field :posts_by_page, Types::PostType.collection_type, null: false do
        argument :page, Integer, required: false
        argument :per, Integer, required: false
      end
      field :records, [Types::RecordType], null: false
      field :broken, String
    end

    def users = User.order(:id)
    def posts = Post.order(:id)
    def posts_page = Post.order(:id)
    def posts_by_page(page: nil, per: nil) = Post.order(:id).page(page).per(per)
    def records = Record.order(:id)
    def broken = Post.where("no_such_column").first.title
  end
end

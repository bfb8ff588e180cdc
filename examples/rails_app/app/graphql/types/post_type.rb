# frozen_string_literal: true

module Types
  class PostType < Types::BaseObject
    implements Types::NodeType
    field :title, String, null: false
    field :headline, String, null: false
    field :author, Types::UserType, null: false
    field :comments, [Types::CommentType], null: false
    field :comments_page, Types::CommentType.connection_type, null: false, method: :comments
    field :comment_count, Integer, null: false
    field :keenest_reader, String

    # Only computes from a column: compiled.
    def headline = "#{object.title.upcase}!"

    # Only asks an association: compiled.
    def comment_count = object.comments.count

    # Code of its own, which reads the name of one commenter after the other: not compiled, but read together.
    def keenest_reader
      names = object.comments.map { |comment| comment.commenter.name }
      names.tally.max_by { |_name, times| times }&.first
    end
  end
end

# frozen_string_literal: true

# The example's types, but for lists, which are Relay connections. As in an application, nothing here knows of any contender.
module Pages
  module Types
    Author = ::Example::Types::Author
    Comment = ::Example::Types::Comment
    User = ::Example::Types::User

    class Post < GraphQL::Schema::Object
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, Comment.connection_type, null: false
    end

    class Query < GraphQL::Schema::Object
      field :posts, Post.connection_type, null: false

      def posts = Example::Post.order(:id)
    end
  end
end

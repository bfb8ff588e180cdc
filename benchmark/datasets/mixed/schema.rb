# frozen_string_literal: true

# The example's types with fields that are methods besides: one that works something out from columns, one that looks at the
# context, too. As in an application, nothing here knows of any contender.
module Mixed
  module Labelled
    def label = "#{context[:prefix]}#{object.class.model_name.element} #{object.id}"
  end

  # As a method of an interface would be.
  module Named
    def initials = object.name.scan(/\b\w/).join
  end

  module Types
    class Author < ::Example::Types::Author
      include Labelled
      include Named
      field :label, String, null: false
      field :initials, String, null: false
    end

    class User < ::Example::Types::User
      include Labelled
      include Named
      field :label, String, null: false
      field :initials, String, null: false
    end

    class Comment < GraphQL::Schema::Object
      include Labelled
      field :label, String, null: false
      field :body, String, null: false
      field :commenter, User, null: false
      field :excerpt, String, null: false

      def excerpt = object.body[0, 20].strip
    end

    class Post < GraphQL::Schema::Object
      include Labelled
      field :label, String, null: false
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, [Comment], null: false
      field :heading, String, null: false

      def heading = "#{object.title} by ##{object.author_id}"
    end

    class Query < ::Example::Types::Query
      field :posts, [Post], null: false do
        argument :limit, Integer, required: true
      end
    end
  end
end

# frozen_string_literal: true

require_relative "../example_root"

# The example's types with fields that are methods besides: one that works something out from columns, one that looks at the
# context, too. As in an application, nothing here knows of any contender.
module Mixed
  module Labelled
    def self.included(type) = type.field(:label, String, null: false)
    def label = "#{context[:prefix]}#{object.class.model_name.element} #{object.id}"
  end

  module Named
    def self.included(type) = type.field(:initials, String, null: false)
    def initials = object.name.scan(/\b\w/).join
  end

  module Types
    class Author < ::Example::Types::Author
      include Labelled
      include Named
    end

    class User < ::Example::Types::User
      include Labelled
      include Named
    end

    class Comment < GraphQL::Schema::Object
      include Labelled
      field :body, String, null: false
      field :commenter, User, null: false
      field :excerpt, String, null: false

      def excerpt = object.body[0, 20].strip
    end

    class Post < GraphQL::Schema::Object
      include Labelled
      field :title, String, null: false
      field :author, Author, null: false
      field :comments, [Comment], null: false
      field :heading, String, null: false

      def heading = "#{object.title} by ##{object.author_id}"
    end

    Query = Bench::Datasets::ExampleRoot.of(Post)
  end
end

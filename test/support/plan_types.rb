# frozen_string_literal: true

require_relative "schemas"

# Types with no code of their own over the tables of models.rb.
module PlanTypes
  module Named
    include GraphQL::Schema::Interface
    field :name, String
  end

  module Node
    include GraphQL::Schema::Interface
    field :id, GraphQL::Types::ID, null: false
  end

  class User < Schemas::Base
    implements Named
    implements Node
    field :profile, "PlanTypes::Profile"
    field :posts, ["PlanTypes::Post"], null: false
    field :comments, ["PlanTypes::Comment"], null: false
    field :commented_posts, ["PlanTypes::Post"], null: false
    field :attachments, ["PlanTypes::Attachment"], null: false
    field :vehicles, ["PlanTypes::Vehicle"], null: false
  end

  class Profile < Schemas::Base
    field :bio, String
    field :user, User
  end

  class Comment < Schemas::Base
    implements Node
    field :body, String, null: false
    field :score, Integer, null: false
    field :post, "PlanTypes::Post"
    field :commenter, User
  end

  class Tag < Schemas::Base
    implements Named
    field :posts, ["PlanTypes::Post"], null: false
  end

  class Tagging < Schemas::Base
    field :position, Integer
    field :post, "PlanTypes::Post"
    field :tag, Tag
  end

  class Post < Schemas::Base
    implements Node
    field :title, String, null: false
    field :heading, String, method: :title
    field :body, String
    field :likes, Integer, null: false
    field :author_id, ID
    field :author, User
    field :editor, User
    field :required_editor, User, null: false, method: :editor
    field :comments, [Comment], null: false
    field :loose_comments, [Comment, { null: true }], method: :comments
    field :top_comments, [Comment], null: false
    field :last_comment, Comment
    field :required_last_comment, Comment, null: false, method: :last_comment
    field :commenters, [User], null: false
    field :taggings, [Tagging], null: false
    field :tags, [Tag], null: false
    field :attachments, ["PlanTypes::Attachment"], null: false
    # Worked out from columns; the second fails, or is nothing, for some.
    field :teaser, String, null: false
    field :rate, Integer
    field :must_rate, Integer, null: false, resolver_method: :rate
    def teaser = "#{object.title}: #{object.body.to_s.truncate(4)}"
    def rate = object.likes == 7 ? nil : 10 / (object.likes - 5)
    # Code of its own.
    field :loud, String
    field :opaque_author, User
    field :fails, String
    field :must_fail, String, null: false, resolver_method: :fails
    def loud = object.title.dup.upcase
    def opaque_author = object.then(&:author)
    def fails = raise(GraphQL::ExecutionError, "no #{object.title}")
  end

  class Employee < Schemas::Base
    implements Named
    field :manager, Employee
    field :reports, [Employee], null: false
  end

  class Attachment < Schemas::Base
    implements Named
    field :name, String
  end

  class Vehicle < Schemas::Base
    field :name, String
  end

  class Query < Schemas::Base
    field :posts, [Post], null: false do
      argument :limit, Integer, required: false
    end
    field :post, Post do
      argument :id, ID
    end
    field :users, [User], null: false
    field :profiles, [Profile], null: false
    field :comments, [Comment], null: false
    field :tags, [Tag], null: false
    field :employees, [Employee], null: false
    field :named, [Named], null: false
    field :attachments, [Attachment], null: false
    def posts(limit: nil) = ::Post.order(:id).limit(limit)
    def post(id:) = ::Post.find_by(id: id)
    def users = ::User.order(:id)
    def profiles = ::Profile.order(:id)
    def comments = ::Comment.order(:id)
    def tags = ::Tag.order(:id)
    def employees = ::Employee.order(:id)
    def named = ::User.order(:id)
    def attachments = ::Attachment.order(:id)
  end

  # The plain schema, and the one that compiles; the block is evaluated in both.
  def self.make(&block)
    [false, true].map do |piped|
      Class.new(GraphQL::Schema) do
        query(Query)
        orphan_types(User, Post)
        class_eval(&block) if block
        define_singleton_method(:resolve_type) { |_type, object, _context| PlanTypes.const_get(object.class.name) }
        use(Pipeloader, compile: true, fiber_limit: 16_000) if piped
      end
    end
  end
end

# frozen_string_literal: true

# GraphQL types over models.rb with resolvers as anyone would write them, and schemas of them with and without Pipeloader.
module Schemas
  class Base < GraphQL::Schema::Object; end

  class User < Base
    field :id, ID, null: false
    field :name, String, null: false
    field :profile, "Schemas::Profile"
    field :posts, ["Schemas::Post"], null: false
    field :posts_count, Integer, null: false
    field :commented_posts, ["Schemas::Post"], null: false
    field :vehicles, ["Schemas::Vehicle"], null: false
    field :attachments, ["Schemas::Attachment"], null: false

    def posts = object.posts.order(:id)
    def posts_count = object.posts.count
  end

  class Profile < Base
    field :bio, String
    field :user, User
  end

  class Comment < Base
    field :id, ID, null: false
    field :body, String, null: false
    field :score, Integer, null: false
    field :post, "Schemas::Post"
    field :commenter, User
  end

  class Tag < Base
    field :name, String, null: false
    field :posts, ["Schemas::Post"], null: false
  end

  class Post < Base
    field :id, ID, null: false
    field :title, String, null: false
    field :likes, Integer, null: false
    field :author, User
    field :editor, User
    field :comments, [Comment], null: false
    field :comments_connection, Comment.connection_type, null: false, method: :comments
    field :top_comments, [Comment], null: false
    field :last_comment, Comment
    field :commenters, [User], null: false
    field :tags, [Tag], null: false
    field :tag_ids, [Integer], null: false
    field :attachments, ["Schemas::Attachment"], null: false
    field :comments_count, Integer, null: false
    field :comments_size, Integer, null: false
    field :commented, Boolean, null: false
    field :score_sum, Integer, null: false
    field :audit_notes, [String], null: false
    field :author_name, String
    field :required_author, User, null: false, method: :author
    field :required_editor, User, null: false, method: :editor
    field :fussy, String
    field :very_fussy, String, null: false, resolver_method: :fussy

    def comments_count = object.comments.count
    def comments_size = object.comments.size
    def commented = object.comments.exists?
    def score_sum = object.comments.sum(:score)
    def audit_notes = ::Audit.where(post_id: object.id).order(:id).pluck(:note)
    def author_name = ::User.find_by(id: object.author_id.itself)&.name # which no plan sees through

    # Fails for some, after a read, without one, or by what it reads.
    def fussy
      case object.id % 5
      when 1 then raise GraphQL::ExecutionError, "no #{object.title}"
      when 2 then raise GraphQL::ExecutionError, "only #{object.comments.count} comments"
      when 3 then ::Comment.find(object.id + 1000).body
      else object.comments.maximum(:body)
      end
    end
  end

  class Employee < Base
    field :name, String
    field :manager, Employee
    field :reports, [Employee], null: false
  end

  class Attachable < GraphQL::Schema::Union
    possible_types User, Post
    def self.resolve_type(object, _context) = object.is_a?(::User) ? User : Post
  end

  class Attachment < Base
    field :name, String
    field :attachable, Attachable
  end

  module Named
    include GraphQL::Schema::Interface
    field :name, String
    definition_methods { def resolve_type(object, _context) = object.is_a?(::Car) ? Car : Bike }
  end

  class Vehicle < Base
    field :type, String
    field :name, String
    field :user, User
  end

  class Car < Base
    implements Named
    field :user, User
  end

  class Bike < Base
    implements Named
    field :user, User
  end

  class LineItem < Base
    field :label, String
    field :notes, [String], null: false
    def notes = object.notes.map(&:text)
  end

  class Query < Base
    field :posts, [Post], null: false do
      argument :limit, Integer, required: false
      argument :ids, [ID], required: false
    end
    field :posts_connection, Post.connection_type, null: false
    field :post, Post do
      argument :id, ID
    end
    field :users, [User], null: false
    field :user, User do
      argument :name, String
    end
    field :comments, [Comment], null: false
    field :tags, [Tag], null: false
    field :employees, [Employee], null: false
    field :attachments, [Attachment], null: false
    field :things, [Named], null: false
    field :line_items, [LineItem], null: false
    field :failing_sql, String
    field :failing_list, [Post]

    def posts(limit: nil, ids: nil)
      relation = ::Post.order(:id)
      relation = relation.limit(limit) if limit
      ids ? relation.where(id: ids) : relation
    end

    def posts_connection = ::Post.order(:id)
    def post(id:) = ::Post.find(id)
    def users = ::User.order(:id)
    def user(name:) = ::User.find_by(name: name)
    def comments = ::Comment.order(:id)
    def tags = ::Tag.order(:id)
    def employees = ::Employee.order(:id)
    def attachments = ::Attachment.order(:id)
    def things = ::Vehicle.order(:id)
    def line_items = ::LineItem.order(:order_id, :number)
    def failing_sql = ::Post.connection.select_value("SELECT 1 / 0")
    def failing_list = ::Post.where("no_such_column = 1")
  end

  class Mutation < Base
    field :add_comment, Comment do
      argument :post_id, ID
      argument :body, String
    end
    field :like, Post do
      argument :id, ID
    end

    def add_comment(post_id:, body:)
      ::Post.find(post_id).comments.create!(body: body)
    end

    def like(id:)
      post = ::Post.find(id)
      post.update!(likes: post.likes + 1)
      post
    end
  end

  class << self
    # The schema without and the one with Pipeloader.
    def pair = @pair ||= make

    # The same without plans, so that each read parks.
    def parked = @parked ||= make(pipeloader: { compile: false, forecast: false })

    # New schemas of the same types; the block is evaluated in both.
    #
    # @return [Array(Class, Class)]
    def make(query: Query, mutation: Mutation, pipeloader: {}, &block)
      [false, true].map do |piped|
        Class.new(GraphQL::Schema) do
          query(query)
          mutation(mutation)
          orphan_types(Car, Bike)
          rescue_from(ActiveRecord::RecordNotFound) { |error| raise GraphQL::ExecutionError, error.message }
          rescue_from(ActiveRecord::StatementInvalid) do |error|
            raise GraphQL::ExecutionError.new(error.message, extensions: { "class" => error.class.name })
          end
          class_eval(&block) if block
          use(Pipeloader, **pipeloader) if piped
        end
      end
    end

    # Runs the block as the resolver of one field, or of +fields+ that are siblings, and returns what it returned in
    # each: without Pipeloader and with it. For what doesn't belong in a response.
    #
    # @param before [Proc] called before each of the two
    # @return [Array(Array, Array)]
    def resolve(fields = 1, context: {}, before: nil, depth_first: false, &block)
      results = nil
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        fields.times do |index|
          field :"f#{index}", String
          define_method(:"f#{index}") do
            results[index] = instance_exec(index, &block)
            "done"
          end
        end
      end
      make(query: query, mutation: nil) { Engine.depth_first(self) if depth_first }.map do |schema|
        results = []
        before&.call
        answer = schema.execute("{ #{Array.new(fields) { |index| "f#{index}" }.join(" ")} }", context: context).to_h
        raise answer["errors"].inspect if answer.key?("errors")

        results
      end
    end
  end
end

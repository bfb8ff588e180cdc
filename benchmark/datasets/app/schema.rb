# frozen_string_literal: true

# A community's site as a Rails team writes it: what `rails g graphql:install` makes, a policy on each type, soft deletion,
# single-table inheritance, polymorphic associations. As in an application, nothing here knows of any contender.
module App
  class ApplicationRecord < ActiveRecord::Base
    self.abstract_class = true
  end

  module SoftDeletable
    extend ActiveSupport::Concern

    included { default_scope { where(deleted_at: nil) } }
  end

  module Likeable
    extend ActiveSupport::Concern

    included { has_many :likes, as: :likeable, class_name: "App::Like" }
  end

  module Commentable
    extend ActiveSupport::Concern

    included { has_many :comments, -> { order(:id) }, as: :commentable, class_name: "App::Comment" }
  end

  class Team < ApplicationRecord
  end

  class User < ApplicationRecord
    belongs_to :team, class_name: "App::Team", optional: true
    has_many :posts, foreign_key: :author_id, class_name: "App::Post", inverse_of: :author
  end

  class Person < User
  end

  class Bot < User
  end

  class Tag < ApplicationRecord
  end

  class Tagging < ApplicationRecord
    belongs_to :post, class_name: "App::Post"
    belongs_to :tag, class_name: "App::Tag"
  end

  class Post < ApplicationRecord
    include SoftDeletable
    include Likeable
    include Commentable

    enum :status, { draft: 0, published: 1, archived: 2 }
    belongs_to :author, class_name: "App::User"
    belongs_to :reviewer, class_name: "App::User", optional: true
    has_many :taggings, class_name: "App::Tagging"
    has_many :tags, -> { order(:id) }, through: :taggings, class_name: "App::Tag"
    scope :newest, -> { order(id: :desc) }
    scope :matching, ->(text) { where("posts.title ILIKE ?", "%#{sanitize_sql_like(text)}%") }
  end

  class Article < Post
  end

  class Question < Post
  end

  class Photo < ApplicationRecord
    include SoftDeletable
    include Likeable
    include Commentable

    belongs_to :author, class_name: "App::User"
  end

  class Comment < ApplicationRecord
    include SoftDeletable
    include Likeable

    belongs_to :commentable, polymorphic: true
    belongs_to :author, class_name: "App::User"
  end

  class Like < ApplicationRecord
    belongs_to :likeable, polymorphic: true
    belongs_to :user, class_name: "App::User"
  end

  class Activity < ApplicationRecord
    enum :verb, { wrote: 0, liked: 1, shared: 2 }
    belongs_to :actor, class_name: "App::User"
    belongs_to :subject, polymorphic: true
  end

  # A page of a list, by its number.
  class Page
    Metadata = Struct.new(:total_count, :current_page, :total_pages, keyword_init: true)

    def initialize(relation, number:, size:)
      @relation = relation
      @number = number
      @size = size
    end

    def collection = @relation.offset((@number - 1) * @size).limit(@size)

    def metadata
      total = @relation.count
      Metadata.new(total_count: total, current_page: @number, total_pages: total.fdiv(@size).ceil)
    end
  end

  class ApplicationPolicy
    attr_reader :user, :record

    def initialize(user, record)
      @user = user
      @record = record
    end

    def show? = false
  end

  class UserPolicy < ApplicationPolicy
    def show? = user.staff? || record.active?
  end

  class TeamPolicy < ApplicationPolicy
    def show? = user.staff? || !record.secret? || record.id == user.team_id
  end

  class PostPolicy < ApplicationPolicy
    def show? = user.staff? || record.published? || author?

    private

    def author? = record.author_id == user.id
  end

  class PhotoPolicy < ApplicationPolicy
    def show? = user.staff? || !record.hidden? || record.author_id == user.id
  end

  class CommentPolicy < ApplicationPolicy
    def show? = user.staff? || !record.spam?
  end

  class TagPolicy < ApplicationPolicy
    def show? = user.staff? || !record.internal?
  end

  class ActivityPolicy < ApplicationPolicy
    def show? = user.staff? || !record.hidden? || record.actor_id == user.id
  end

  module Types
    class BaseArgument < GraphQL::Schema::Argument
    end

    class BaseField < GraphQL::Schema::Field
      argument_class BaseArgument
    end

    class BaseObject < GraphQL::Schema::Object
      field_class BaseField
    end

    class BaseEdge < BaseObject
      include GraphQL::Types::Relay::EdgeBehaviors
    end

    class BaseConnection < BaseObject
      include GraphQL::Types::Relay::ConnectionBehaviors

      edge_type_class BaseEdge
      field :total_count, Integer, null: false
      def total_count = object.items.size
    end

    # In files of their own, as the generator makes them, the bases refer to one another by autoloading.
    class BaseObject
      edge_type_class BaseEdge
      connection_type_class BaseConnection
    end

    class BaseEnum < GraphQL::Schema::Enum
    end

    class BaseUnion < GraphQL::Schema::Union
      edge_type_class BaseEdge
      connection_type_class BaseConnection
    end

    module BaseInterface
      include GraphQL::Schema::Interface

      field_class BaseField
      edge_type_class BaseEdge
      connection_type_class BaseConnection
    end

    module Node
      include BaseInterface
      include GraphQL::Types::Relay::NodeBehaviors
    end

    class Status < BaseEnum
      value "DRAFT", value: "draft"
      value "PUBLISHED", value: "published"
      value "ARCHIVED", value: "archived"
    end

    class Verb < BaseEnum
      value "WROTE", value: "wrote"
      value "LIKED", value: "liked"
      value "SHARED", value: "shared"
    end

    class Settings < BaseObject
      field :theme, String, null: false, hash_key: "theme"
      field :locale, String, null: false, hash_key: "locale"
      field :weekly_digest, Boolean, null: false, hash_key: "weekly_digest"
    end

    class Team < BaseObject
      implements Node
      def self.authorized?(object, context) = super && TeamPolicy.new(context[:viewer], object).show?

      field :name, String, null: false
    end

    module Actor
      include BaseInterface
      implements Node

      field :name, String, null: false
      field :avatar_url, String, null: false
      field :active, Boolean, null: false, method: :active?
      def avatar_url = "https://images.example.com/#{object.avatar_key}.png"
    end

    class Person < BaseObject
      implements Actor
      def self.authorized?(object, context) = super && UserPolicy.new(context[:viewer], object).show?

      field :team, Team
      field :settings, Settings, null: false
      field :is_viewer, Boolean, null: false
      field :posts_count, Integer, null: false
      def is_viewer = object.id == context[:viewer].id
      def posts_count = object.posts.published.count
    end

    class Bot < BaseObject
      implements Actor
      def self.authorized?(object, context) = super && UserPolicy.new(context[:viewer], object).show?

      field :team_name, String
      def team_name = object.team&.name
    end

    class Tag < BaseObject
      implements Node
      def self.authorized?(object, context) = super && TagPolicy.new(context[:viewer], object).show?

      field :name, String, null: false
    end

    class Comment < BaseObject
      implements Node
      def self.authorized?(object, context) = super && CommentPolicy.new(context[:viewer], object).show?

      field :body, String, null: false
      field :created_at, GraphQL::Types::ISO8601DateTime, null: false
      field :author, Actor, null: false
      field :likes_count, Integer, null: false
      field :liked_by_viewer, Boolean, null: false
      def likes_count = object.likes.count
      def liked_by_viewer = object.likes.exists?(user_id: context[:viewer].id)
    end

    module Post
      include BaseInterface
      implements Node

      field :title, String, null: false
      field :excerpt, String, null: false do
        argument :length, Integer, required: false, default_value: 80
      end
      field :status, Status, null: false
      field :published, Boolean, null: false
      field :created_at, GraphQL::Types::ISO8601DateTime, null: false
      field :author, Actor, null: false
      field :author_name, String, null: false
      field :reviewer_name, String
      field :tags, [Tag], null: false
      field :comments, Comment.connection_type, null: false
      field :last_comment, Comment
      field :comments_count, Integer, null: false
      field :likes_count, Integer, null: false
      field :liked_by_viewer, Boolean, null: false
      field :editable, Boolean, null: false

      def excerpt(length:) = object.body.truncate(length)
      def published = object.published?
      def author_name = object.author.name
      def reviewer_name = object.reviewer&.name
      def last_comment = object.comments.last
      def comments_count = object.comments.count
      def likes_count = object.likes.count
      def liked_by_viewer = object.likes.exists?(user_id: context[:viewer].id)
      def editable = context[:viewer].staff? || object.author_id == context[:viewer].id
    end

    class Article < BaseObject
      implements Post
      def self.authorized?(object, context) = super && PostPolicy.new(context[:viewer], object).show?

      field :reading_minutes, Integer, null: false
      def reading_minutes = (object.words / 200.0).ceil
    end

    class Question < BaseObject
      implements Post
      def self.authorized?(object, context) = super && PostPolicy.new(context[:viewer], object).show?

      field :solved, Boolean, null: false
    end

    class Photo < BaseObject
      implements Node
      def self.authorized?(object, context) = super && PhotoPolicy.new(context[:viewer], object).show?

      field :caption, String
      field :url, String, null: false
      field :author, Actor, null: false
      field :comments_count, Integer, null: false
      def url = "https://images.example.com/#{object.image_key}.jpg"
      def comments_count = object.comments.count
    end

    class Subject < BaseUnion
      possible_types Article, Question, Photo, Comment
    end

    class SearchResult < BaseUnion
      possible_types Article, Question

      def self.resolve_type(object, _context)
        case object
        when App::Article then Article
        when App::Question then Question
        else raise "Unexpected search result: #{object.class}"
        end
      end
    end

    class Activity < BaseObject
      implements Node
      def self.authorized?(object, context) = super && ActivityPolicy.new(context[:viewer], object).show?

      field :verb, Verb, null: false
      field :created_at, GraphQL::Types::ISO8601DateTime, null: false
      field :actor, Actor, null: false
      field :actor_name, String, null: false
      field :subject, Subject, null: false
      def actor_name = object.actor.name
    end

    class PageMetadata < BaseObject
      field :total_count, Integer, null: false
      field :current_page, Integer, null: false
      field :total_pages, Integer, null: false
    end

    class SearchResultPage < BaseObject
      field :collection, [SearchResult], null: false
      field :metadata, PageMetadata, null: false
    end

    class Query < BaseObject
      field :node, Node do
        argument :id, ID, required: true
      end
      field :viewer, Person, null: false
      field :posts, [Post], null: false do
        argument :limit, Integer, required: true
      end
      field :post_connection, Post.connection_type, null: false do
        argument :status, Status, required: false
      end
      field :activities, [Activity], null: false do
        argument :limit, Integer, required: true
      end
      field :search, SearchResultPage, null: false do
        argument :text, String, required: true
        argument :page, Integer, required: false, default_value: 1
        argument :per_page, Integer, required: false, default_value: 25
      end

      def node(id:) = context.schema.object_from_id(id, context)
      def viewer = context[:viewer]
      def posts(limit:) = App::Post.published.newest.limit(limit)

      def post_connection(status: nil)
        posts = App::Post.newest
        status ? posts.where(status: status) : posts
      end

      def activities(limit:) = App::Activity.order(id: :desc).limit(limit)
      def search(text:, page:, per_page:) = Page.new(matches(text: text), number: page, size: per_page)

      private

      def matches(text:) = App::Post.published.matching(text).newest
    end
  end

  class Schema < GraphQL::Schema
    query Types::Query
    orphan_types Types::Person, Types::Bot, Types::Article, Types::Question, Types::Team, Types::Tag, Types::Photo
    max_depth 15
    default_max_page_size 50

    def self.id_from_object(object, type, _context) = GraphQL::Schema::UniqueWithinType.encode(type.graphql_name, object.id)

    def self.object_from_id(id, _context)
      type, key = GraphQL::Schema::UniqueWithinType.decode(id)
      App.const_get(type).find_by(id: key)
    end

    def self.resolve_type(_type, object, _context) = Types.const_get(object.class.name.demodulize)
  end
end

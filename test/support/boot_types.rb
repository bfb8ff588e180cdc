# frozen_string_literal: true

# The application of boot_run.rb.

Object.autoload(:Record, File.expand_path("boot_record.rb", __dir__))

module BootTypes
  class User < ActiveRecord::Base; end

  class Comment < ActiveRecord::Base
    self.table_name = "comments"
  end

  class Post < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "BootTypes::User", optional: true
    has_many :comments, -> { order(:id) }, class_name: "BootTypes::Comment"
    def byline = "#{title} (#{likes})"
  end

  User.table_name = "users"

  class Current < ActiveSupport::CurrentAttributes
    attribute :user
  end

  Thing = Struct.new(:label)

  class Type < GraphQL::Schema::Object
    BY_METHOD = (GraphQL::Schema::Field.method_defined?(:execution_mode) ? { resolve_legacy_instance_method: true } : {}).freeze

    # A field whose resolver is a method of the type, on either engine.
    def self.resolved(name, *arguments, **options, &) = field(name, *arguments, **options, **BY_METHOD, &)
  end

  class UserType < Type
    field :name, String
  end

  class CommentType < Type
    field :body, String
  end

  class PagedType < GraphQL::Types::Relay::BaseConnection
    edge_type CommentType.edge_type
    field :total_count, Integer, **Type::BY_METHOD
    def total_count = object.items.size
  end

  class PostType < Type
    field :id, ID
    field :title, String
    field :byline, String
    field :author, UserType
    field :comments, [CommentType]
    field :paged, PagedType, method: :comments
    resolved :hidden, Boolean
    resolved :count, Integer
    resolved :loud, String
    resolved :latest, [CommentType] do
      argument :limit, Integer
    end
    def count = object.comments.count
    def loud = object.title.upcase.then { |title| "#{title}!" }
    def latest(limit:) = object.comments.order(id: :desc).limit(limit)
    def hidden = context[:nobody] == object.author
  end

  class RecordType < Type
    graphql_name "Record"
    field :id, ID
    field :name, String
    field :record, self
    resolved :boss, String
    def boss = object.record.then { |record| record && "the boss is #{record.name}" }
  end

  class ThingType < Type
    field :label, String
  end

  class Query < Type
    resolved :posts, [PostType]
    resolved :page, PostType.connection_type
    resolved :things, [ThingType]
    resolved :record, RecordType
    resolved :records, [RecordType]
    resolved :failing, String
    resolved :current, String
    def posts = Post.order(:id)
    def page = Post.order(:id).limit(3)
    def things = [Thing.new("one"), Thing.new("two")]
    def record = ::Record.find(3)
    def records = ::Record.order(:id)
    def failing = Post.where("no_such_column = 1").first

    # A sibling's `Current` isn't seen, before a read nor after it.
    def current = Current.set(user: "me") { "#{Post.count} #{Current.user}" }
  end
end

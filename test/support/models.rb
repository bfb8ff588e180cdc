# frozen_string_literal: true

ActiveRecord::Schema.verbose = false
ActiveRecord::Schema.define do
  create_table(:users) { |t| t.string :name, null: false }
  create_table(:profiles) { |t| t.belongs_to :user; t.string :bio }
  create_table(:posts) do |t|
    t.string :title, null: false
    t.text :body
    t.integer :likes, null: false, default: 0
    t.belongs_to :author
    t.belongs_to :editor
  end
  create_table(:comments) do |t|
    t.belongs_to :post
    t.belongs_to :commenter
    t.string :body, null: false
    t.integer :score, null: false, default: 0
  end
  create_table(:tags) { |t| t.string :name, null: false }
  create_table(:taggings) { |t| t.belongs_to :post; t.belongs_to :tag; t.integer :position }
  create_table(:employees) { |t| t.string :name; t.belongs_to :manager }
  create_table(:attachments) { |t| t.string :name; t.belongs_to :attachable, polymorphic: true }
  create_table(:vehicles) { |t| t.string :type; t.string :name; t.belongs_to :user }
  create_table(:line_items, primary_key: %i[order_id number]) { |t| t.bigint :order_id; t.integer :number; t.string :label }
  create_table(:line_notes) { |t| t.bigint :order_id; t.integer :number; t.string :text }
end

class User < ActiveRecord::Base
  has_one :profile
  has_many :posts, foreign_key: :author_id, inverse_of: :author
  has_many :comments, foreign_key: :commenter_id
  has_many :commented_posts, -> { distinct.order(:id) }, through: :comments, source: :post
  has_many :vehicles, -> { order(:id) }
  has_many :attachments, -> { order(:id) }, as: :attachable
end

class Profile < ActiveRecord::Base
  belongs_to :user
end

class Post < ActiveRecord::Base
  belongs_to :author, class_name: "User", optional: true
  belongs_to :editor, class_name: "User", optional: true
  has_many :comments, -> { order(:id) }
  has_many :top_comments, -> { where("score > 5").order(score: :desc, id: :asc).limit(2) }, class_name: "Comment"
  has_many :commenters, -> { reorder(:id).distinct }, through: :comments
  has_many :taggings
  has_many :tags, -> { order(:name) }, through: :taggings
  # What is preloaded first, says in which order the rest is asked for.
  has_many :placed_taggings, -> { order(:id) }, class_name: "Tagging"
  has_many :placed_tags, through: :placed_taggings, source: :tag
  has_many :attachments, -> { order(:id) }, as: :attachable
  has_one :last_comment, -> { order(id: :desc) }, class_name: "Comment"
  scope :popular, -> { where(likes: 5..) }
end

class Comment < ActiveRecord::Base
  belongs_to :post, optional: true
  belongs_to :commenter, class_name: "User", optional: true
end

class Tag < ActiveRecord::Base
  has_many :taggings
  has_many :posts, -> { order(:id) }, through: :taggings
end

class Tagging < ActiveRecord::Base
  belongs_to :post
  belongs_to :tag
end

class Employee < ActiveRecord::Base
  belongs_to :manager, class_name: "Employee", optional: true
  has_many :reports, -> { order(:id) }, class_name: "Employee", foreign_key: :manager_id
end

class Attachment < ActiveRecord::Base
  belongs_to :attachable, polymorphic: true, optional: true
end

class Vehicle < ActiveRecord::Base
  belongs_to :user, optional: true
end

class Car < Vehicle; end

class Bike < Vehicle; end

class LineItem < ActiveRecord::Base
  self.primary_key = %i[order_id number]
  has_many :notes, -> { order(:id) }, class_name: "LineNote", foreign_key: %i[order_id number]
end

class LineNote < ActiveRecord::Base
  belongs_to :line_item, foreign_key: %i[order_id number]
end

# A second database, with one table.
class Second < ActiveRecord::Base
  self.abstract_class = true
  establish_connection(TestDatabase.hash(TestDatabase::SECOND))
end

Second.connection_pool.with_connection do |connection|
  connection.create_table(:audits) { |t| t.bigint :post_id; t.string :note }
end

class Audit < Second; end

# The same rows each time: some keys NULL, some parents without children, ties.
module Seed
  # What is put back: other files have tables of their own.
  TABLES = ActiveRecord::Base.connection.tables - %w[schema_migrations ar_internal_metadata]

  def self.load
    random = Random.new(42)
    User.insert_all!((1..8).map { |i| { name: "user #{i}" } })
    Profile.insert_all!((1..8).step(2).map { |i| { user_id: i, bio: "bio #{i}" } })
    Post.insert_all!((1..12).map do |i|
      { title: "post #{i}", body: "body " * i, likes: random.rand(10), author_id: i % 4 == 0 ? nil : random.rand(1..8),
        editor_id: i % 3 == 0 ? random.rand(1..8) : nil }
    end)
    Comment.insert_all!((1..40).map do |i|
      { post_id: random.rand(1..10), commenter_id: i % 7 == 0 ? nil : random.rand(1..8), body: "comment #{i}", score: random.rand(10) }
    end)
    Tag.insert_all!(%w[ruby sql graphql fibers].map { |name| { name: name } })
    Tagging.insert_all!((1..20).map { |i| { post_id: random.rand(1..12), tag_id: random.rand(1..4), position: i } })
    Employee.insert_all!((1..7).map { |i| { name: "employee #{i}", manager_id: i == 1 ? nil : i / 2 } })
    Attachment.insert_all!((1..10).map do |i|
      { name: "file #{i}", attachable_type: [nil, "User", "Post"][i % 3], attachable_id: i % 3 == 0 ? nil : random.rand(1..8) }
    end)
    Vehicle.insert_all!((1..6).map { |i| { type: %w[Car Bike].sample(random: random), name: "vehicle #{i}", user_id: random.rand(1..4) } })
    LineItem.insert_all!((1..4).map { |i| { order_id: (i + 1) / 2, number: i, label: "item #{i}" } })
    LineNote.insert_all!((1..6).map { |i| { order_id: ((i % 4) + 2) / 2, number: (i % 4) + 1, text: "note #{i}" } })
    Audit.insert_all!((1..12).map { |i| { post_id: i, note: "audit #{i}" } })
  end
end
Seed.load

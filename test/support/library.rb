# frozen_string_literal: true

# A library: tables of more columns than a query selects, and types whose resolvers read columns behind graphql-ruby's back.

ActiveRecord::Schema.define do
  create_table(:writers) do |t|
    t.string :name, null: false
    t.string :email
    t.text :bio
    t.date :born_on
    t.string :kind
    t.jsonb :settings, null: false, default: {}
    t.timestamps null: true
  end
  create_table(:works) do |t|
    t.string :type, null: false
    t.string :title, null: false
    t.text :body
    t.string :summary
    t.decimal :price, precision: 8, scale: 2
    t.text :options
    t.jsonb :prefs
    t.belongs_to :writer
    t.belongs_to :reviewer
    t.datetime :published_at
    t.integer :reviews_count
  end
  create_table(:reviews) { |t| t.belongs_to :work; t.belongs_to :writer; t.string :text, null: false; t.integer :stars; t.string :note }
  create_table(:covers) { |t| t.belongs_to :work; t.string :file; t.string :artist }
  create_table(:genres) { |t| t.string :name; t.string :code; t.string :shelf }
  create_table(:genres_works, id: false) { |t| t.belongs_to :genre; t.belongs_to :work }
  create_table(:links) { |t| t.belongs_to :target, polymorphic: true; t.string :label; t.string :url; t.string :note }
  create_table(:clerks) { |t| t.string :name; t.string :desk; t.integer :grade; t.belongs_to :chief }
  create_table(:shelves, primary_key: %i[hall number]) { |t| t.integer :hall; t.integer :number; t.string :label; t.string :hint }
  create_table(:boards) { |t| t.integer :hall; t.integer :number; t.string :text; t.string :wood }
end

class Writer < ActiveRecord::Base
  has_many :works, -> { order(:id) }
  has_many :plain_works, class_name: "Work"
  has_many :reviews, -> { order(:id) }
  has_many :reviewed, -> { order(:id) }, through: :reviews, source: :work
  has_many :links, -> { order(:id) }, as: :target
  enum :kind, { poet: "poet", critic: "critic" }
  alias_attribute :pen_name, :name
  store_accessor :settings, :color
  def initials = name.scan(/\b\w/).join + email.to_s[0, 1]
  def signature = attributes.values_at("name", "email").join(", ")
end

class Work < ActiveRecord::Base
  belongs_to :writer, optional: true
  belongs_to :reviewer, class_name: "Writer", optional: true
  has_many :reviews, -> { order(:id) }
  has_many :good_reviews, -> { where(stars: 3..).order(stars: :desc, id: :asc).limit(2) }, class_name: "Review"
  has_many :same_title_reviews, ->(work) { where("text LIKE ?", "%#{work.title.last}%").order(:id) }, class_name: "Review"
  has_many :reviewers, -> { order(:id) }, through: :reviews, source: :writer
  has_one :cover
  has_and_belongs_to_many :genres, -> { order(:name) }
  has_many :links, -> { order(:id) }, as: :target
  serialize :options, coder: JSON
  store :prefs, accessors: [:font], coder: JSON
  attribute :rank, :integer, default: 7
  def opening(length: 3) = body[0, length]
end

class Book < Work
  # Reads more than its name says.
  def summary = "#{super} (#{price})"
end

class Film < Work; end

class Review < ActiveRecord::Base
  belongs_to :work, optional: true, counter_cache: false
  belongs_to :writer, optional: true
end

class Cover < ActiveRecord::Base
  belongs_to :work
end

class Genre < ActiveRecord::Base
  has_and_belongs_to_many :works, -> { order(:id) }
end

class Link < ActiveRecord::Base
  belongs_to :target, polymorphic: true, optional: true
end

class Clerk < ActiveRecord::Base
  belongs_to :chief, class_name: "Clerk", optional: true, inverse_of: :clerks
  has_many :clerks, -> { order(:id) }, foreign_key: :chief_id, inverse_of: :chief
end

class Shelf < ActiveRecord::Base
  self.primary_key = %i[hall number]
  has_many :boards, -> { order(:id) }, foreign_key: %i[hall number], inverse_of: :shelf
end

class Board < ActiveRecord::Base
  belongs_to :shelf, foreign_key: %i[hall number], inverse_of: :boards
end

module Library
  class Base < GraphQL::Schema::Object; end

  module Named
    include GraphQL::Schema::Interface
    field :name, String
    field :email, String
    definition_methods { def resolve_type(object, _context) = object.is_a?(::Clerk) ? Clerk : Writer }
  end

  class Target < GraphQL::Schema::Union
    possible_types "Library::Writer", "Library::Work"
    def self.resolve_type(object, _context) = object.is_a?(::Writer) ? Writer : Work
  end

  class Writer < Base
    implements Named
    field :id, ID, null: false
    field :bio, String
    field :pen_name, String
    field :kind, String
    field :color, String
    field :born_on, GraphQL::Types::ISO8601Date
    field :initials, String
    field :signature, String
    field :works, ["Library::Work"], null: false
    field :plain_works, ["Library::Work"], null: false
    field :reviewed, ["Library::Work"], null: false
    field :links, ["Library::Link"], null: false
    field :bio_size, Integer, selects: :bio
    field :works_count, Integer, selects: []
    def bio_size = object.bio.to_s.dup.size
    def works_count = object.works.size
  end

  class Genre < Base
    field :name, String
    field :works, ["Library::Work"], null: false
  end

  class Cover < Base
    field :file, String
    field :work, "Library::Work"
  end

  class Review < Base
    field :id, ID, null: false
    field :text, String, null: false
    field :stars, Integer
    field :work, "Library::Work"
    field :writer, Writer
    # Says less than it reads.
    field :secret, String, selects: []
    field :note_of_all, String, selects: %i[work]
    def secret = object.then(&:note)
    def note_of_all = object.work&.body.to_s[0, 6]
  end

  class Work < Base
    field :id, ID, null: false
    field :title, String, null: false
    field :body, String
    field :summary, String
    field :price, Float
    field :rank, Integer
    field :options, GraphQL::Types::JSON
    field :font, String
    field :published_at, GraphQL::Types::ISO8601DateTime
    field :writer, Writer
    field :reviewer, Writer
    field :critic, Writer, resolver_method: :criticized
    field :reviews, [Review], null: false
    field :reviews_connection, Review.connection_type, null: false, method: :reviews
    field :good_reviews, [Review], null: false
    field :same_title_reviews, [Review], null: false
    field :sorted_reviews, [Review], null: false
    field :reviewers, [Writer], null: false
    field :cover, Cover
    field :genres, [Genre], null: false
    field :links, ["Library::Link"], null: false
    field :excerpt, String, selects: %i[body]
    field :hidden, String, selects: %i[title]
    field :everything, GraphQL::Types::JSON, selects: []
    field :copied, String, selects: []
    field :writer_email, String
    field :writer_bio, String, selects: %i[writer]
    field :loud, String

    def criticized = object.then(&:reviewer)
    def sorted_reviews = object.reviews.reorder(stars: :desc, id: :desc)
    def excerpt = object.body.to_s.dup[0, 4]
    def hidden = "#{object.title} #{object.body.to_s.size} #{object.price}".dup
    def everything = object.attributes.merge("changed" => object.changed?, "json" => object.as_json.keys)
    def copied = object.dup.summary
    def writer_email = object.writer&.email
    def writer_bio = object.writer&.bio
    def loud = object.title.dup.upcase + object.body.to_s
  end

  class Writer
    field :works_connection, Work.connection_type, null: false, method: :works
  end

  class Link < Base
    field :label, String
    field :target, Target
  end

  class Clerk < Base
    implements Named
    field :desk, String
    field :chief, Clerk
    field :clerks, [Clerk], null: false
    def email = "#{object.name}@library"
  end

  class Shelf < Base
    field :label, String
    field :boards, ["Library::Board"], null: false
  end

  class Board < Base
    field :text, String
    field :shelf, Shelf
  end

  class Query < Base
    field :works, [Work], null: false do
      argument :limit, Integer, required: false
    end
    field :works_connection, Work.connection_type, null: false
    field :work, Work do
      argument :id, ID
    end
    field :writers, [Writer], null: false
    field :reviews, [Review], null: false
    field :genres, [Genre], null: false
    field :links, [Link], null: false
    field :clerks, [Clerk], null: false
    field :shelves, [Shelf], null: false
    field :named, [Named], null: false
    field :loaded, [Work], null: false

    def works(limit: nil) = ::Work.order(:id).limit(limit)
    def works_connection = ::Work.order(:id)
    def work(id:) = ::Work.find_by(id: id)
    def writers = ::Writer.order(:id)
    def reviews = ::Review.order(:id)
    def genres = ::Genre.order(:id)
    def links = ::Link.order(:id)
    def clerks = ::Clerk.order(:id)
    def shelves = ::Shelf.order(:hall, :number)
    def named = ::Writer.order(:id).to_a + ::Clerk.order(:id).to_a
    def loaded = ::Work.order(:id).includes(:writer).to_a
  end

  class << self
    # The schema that reads whole rows, without Pipeloader, and the one with projection.
    def pair = @pair ||= make

    # Two new ones; the block is evaluated in both.
    def make(query: Query, field_exact: true, compile: false, &block)
      [false, true].map do |piped|
        Class.new(GraphQL::Schema) do
          query(query)
          orphan_types(Writer, Clerk)
          class_eval(&block) if block
          use(Pipeloader, field_exact: field_exact, compile: compile) if piped
        end
      end
    end

    def seed
      random = Random.new(7)
      ::Writer.insert_all!((1..5).map do |i|
        { name: "Writer #{i}", email: "w#{i}@x.org", bio: "life " * i, born_on: Date.new(1900 + i), kind: %w[poet critic][i % 2],
          settings: { color: "c#{i}" }, created_at: Time.utc(2024, 1, i), updated_at: Time.utc(2024, 2, i) }
      end)
      ::Work.insert_all!((1..12).map do |i|
        { type: i.odd? ? "Book" : "Film", title: "Work #{i}", body: "body #{i} " * 5, summary: "sum #{i}", price: i * 1.5,
          options: JSON.generate({ "o" => i }), prefs: { "font" => "f#{i}" }, writer_id: i % 4 == 0 ? nil : random.rand(1..5),
          reviewer_id: random.rand(1..5), published_at: Time.utc(2024, 3, i), reviews_count: i }
      end)
      ::Review.insert_all!((1..24).map do |i|
        { work_id: random.rand(1..12), writer_id: random.rand(1..5), text: "review #{i}", stars: i % 6, note: "note #{i}" }
      end)
      ::Cover.insert_all!((1..12).step(2).map { |i| { work_id: i, file: "#{i}.png", artist: "artist #{i}" } })
      ::Genre.insert_all!(%w[prose verse essay].map.with_index { |name, i| { name: name, code: "g#{i}", shelf: "s#{i}" } })
      ::ActiveRecord::Base.connection.execute(<<~SQL)
        INSERT INTO genres_works (genre_id, work_id) SELECT g, w FROM generate_series(1, 3) g, generate_series(1, 12) w WHERE (g + w) % 2 = 0
      SQL
      ::Link.insert_all!((1..10).map do |i|
        { target_type: i % 3 == 0 ? nil : %w[Writer Work][i % 2], target_id: i % 3 == 0 ? nil : random.rand(1..5), label: "link #{i}", url: "u#{i}", note: "n#{i}" }
      end)
      ::Clerk.insert_all!((1..7).map { |i| { name: "Clerk #{i}", desk: "desk #{i}", grade: i, chief_id: i == 1 ? nil : i / 2 } })
      ::Shelf.insert_all!((1..4).map { |i| { hall: (i + 1) / 2, number: i, label: "shelf #{i}", hint: "hint #{i}" } })
      ::Board.insert_all!((1..6).map { |i| { hall: ((i % 4) + 2) / 2, number: (i % 4) + 1, text: "board #{i}", wood: "oak" } })
    end
  end
end

# Tests that put the tables back as they were, do so by this.
Seed::TABLES.push("writers", "works", "reviews", "covers", "genres", "genres_works", "links", "clerks", "shelves", "boards")
Seed.singleton_class.prepend(Module.new { def load = super.tap { Library.seed } })
Library.seed

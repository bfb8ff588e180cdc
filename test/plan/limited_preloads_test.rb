# frozen_string_literal: true

require_relative "../support/plans"

# ActiveRecord merges the limit of an association's scope into the one statement of a preload: it holds for all owners together.
class LimitedPreloadsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:limited_shops) { |t| t.string :name }
    create_table(:limited_posts) { |t| t.bigint :shop_id; t.string :title }
    create_table(:limited_notes) { |t| t.bigint :post_id; t.string :body }
  end

  class Note < ActiveRecord::Base
    self.table_name = "limited_notes"
  end

  class Latest < Note
    default_scope { order(id: :desc).limit(2) }
  end

  class Post < ActiveRecord::Base
    self.table_name = "limited_posts"
    has_many :notes, -> { order(:id) }, class_name: "LimitedPreloadsTest::Note", foreign_key: :post_id
    has_many :recent, -> { order(id: :desc).limit(2) }, class_name: "LimitedPreloadsTest::Note", foreign_key: :post_id
    has_many :later, -> { order(:id).offset(1) }, class_name: "LimitedPreloadsTest::Note", foreign_key: :post_id
    has_one :last_note, -> { order(id: :desc).limit(1) }, class_name: "LimitedPreloadsTest::Note", foreign_key: :post_id
    has_many :latest, class_name: "LimitedPreloadsTest::Latest", foreign_key: :post_id
  end

  class Preloading < Post
    default_scope { includes(:recent) }
  end

  class Shop < ActiveRecord::Base
    self.table_name = "limited_shops"
    has_many :posts, -> { order(:id) }, class_name: "LimitedPreloadsTest::Post", foreign_key: :shop_id
    has_many :full_posts, -> { preload(:recent, :last_note).order(:id) }, class_name: "LimitedPreloadsTest::Post", foreign_key: :shop_id
    has_many :preloading, -> { order(:id) }, class_name: "LimitedPreloadsTest::Preloading", foreign_key: :shop_id
    has_many :recent, through: :posts
  end

  Shop.insert_all!((1..2).map { |id| { id: id, name: "shop #{id}" } })
  Post.insert_all!((1..6).map { |id| { id: id, shop_id: (id % 2) + 1, title: "post #{id}" } })
  Note.insert_all!((1..24).map { |id| { id: id, post_id: (id % 6) + 1, body: "note #{id}" } })

  LISTS = %i[notes recent later latest].freeze
  NOTES = "notes { id } recent { id } later { id } latest { id } lastNote { id }"

  def shops(value, model = Post)
    note = type("LimitedNote") { field :id, Integer }
    post = type("LimitedPost") do
      field :id, Integer
      LISTS.each { |name| field name, [note] }
      field :last_note, note
    end
    shop = type("LimitedShop") do
      field :id, Integer
      %i[posts full_posts preloading].each { |name| field name, [post] }
      field :recent, [note]
    end
    schemas({ them: [[{ Post => post, Shop => shop }.fetch(model)], value] })
  end

  def assert_same_twice(query, schemas)
    answers = schemas.flat_map { |schema| Array.new(3) { text_of(outcome { schema.execute(query).to_h }) } }
    assert_equal 1, answers.uniq.size, answers.uniq.join("\n")
  end

  def test_preloads_of_the_root
    [[:recent], [:last_note], [:later], [:latest], %i[notes recent]].each do |names|
      %i[includes preload].each { |how| assert_same_twice("{ them { id #{NOTES} } }", shops(-> { Post.public_send(how, *names).order(:id) })) }
    end
    counts = shops(-> { Post.includes(:recent).order(:id) }).map { |it| it.execute("{ them { recent { id } } }").to_h.dig("data", "them").sum { |post| post["recent"].size } }
    assert_equal [2, 2], counts
    assert_plan("{ them { id #{NOTES} } }", shops(-> { Post.includes(:notes).order(:id) }))
    assert_plan("{ them { id #{NOTES} } }", shops(-> { Post.order(:id) }))
  end

  def test_preloads_of_preloads
    [{ posts: :recent }, { posts: [:notes, { latest: [] }] }, :recent, "recent"].each do |names|
      assert_same_twice("{ them { id posts { id #{NOTES} } recent { id } } }", shops(-> { Shop.preload(names).order(:id) }, Shop))
    end
  end

  def test_preloads_of_scopes
    %w[fullPosts preloading].each do |name|
      assert_same_twice("{ them { id #{name} { id #{NOTES} } } }", shops(-> { Shop.order(:id) }, Shop))
    end
    assert_same_twice("{ them { id #{NOTES} } }", shops(-> { Preloading.order(:id) }))
  end
end

# frozen_string_literal: true

require_relative "../support/plans"

# Preloads bring something else than ActiveRecord reads where an association is asked for: what goes by way of another one is
# found by two statements, each with its own scope and order, and keys are compared by Ruby.
class PreloadedOtherwiseTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    execute("CREATE COLLATION IF NOT EXISTS any_case (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    create_table(:otherwise_posts) { |t| t.string :title; t.string :email, collation: "any_case" }
    create_table(:otherwise_taggings) { |t| t.bigint :post_id; t.bigint :tag_id; t.integer :position; t.datetime :deleted_at }
    create_table(:otherwise_tags) { |t| t.string :name; t.datetime :deleted_at }
    create_table(:otherwise_logins) { |t| t.string :email, collation: "any_case"; t.integer :number }
  end

  class Tag < ActiveRecord::Base
    self.table_name = "otherwise_tags"
    default_scope { where(deleted_at: nil) }
  end

  class Tagging < ActiveRecord::Base
    self.table_name = "otherwise_taggings"
    default_scope { where(deleted_at: nil).order(:position) }
    belongs_to :post, class_name: "PreloadedOtherwiseTest::Post"
    belongs_to :tag, class_name: "PreloadedOtherwiseTest::Tag"
  end

  class Login < ActiveRecord::Base
    self.table_name = "otherwise_logins"
  end

  class Post < ActiveRecord::Base
    self.table_name = "otherwise_posts"
    has_many :taggings, class_name: "PreloadedOtherwiseTest::Tagging", foreign_key: :post_id
    has_many :tags, through: :taggings
    has_many :named, -> { order(:name) }, through: :taggings, source: :tag
    has_many :all_tags, -> { unscope(where: :deleted_at).order(:id) }, through: :taggings, source: :tag
    has_one :main_tagging, -> { order(:tag_id) }, class_name: "PreloadedOtherwiseTest::Tagging", foreign_key: :post_id
    has_one :main_tag, -> { unscope(where: :deleted_at) }, through: :main_tagging, source: :tag
    has_many :logins, -> { order(:number) }, class_name: "PreloadedOtherwiseTest::Login", primary_key: :email, foreign_key: :email
    has_many :twins, -> { includes(:named).order(:id) }, class_name: "PreloadedOtherwiseTest::Post", primary_key: :title, foreign_key: :title
  end

  Post.insert_all!((1..3).map { |id| { id: id, title: "same", email: "ann#{id}@x" } })
  Tag.unscoped.insert_all!(%w[e d c b a].each_with_index.map { |name, index| { id: index + 1, name: name, deleted_at: (Time.now if name == "c") } })
  Tagging.unscoped.insert_all!((1..3).to_a.product([4, 2, 5, 1, 3]).map do |post, tag|
    { post_id: post, tag_id: tag, position: (tag * 7) % 5, deleted_at: (Time.now if tag == 5 && post < 3) }
  end)
  Login.insert_all!((1..3).flat_map { |id| [{ email: "Ann#{id}@x", number: 1 }, { email: "ann#{id}@x", number: 2 }] })

  TAG = type("Tag") { field :name, String }
  LOGIN = type("Login") { field :number, Integer }
  POST = type("Post") do
    field :id, Integer
    %i[tags named all_tags].each { |name| field name, [TAG] }
    field :main_tag, TAG
    field :logins, [LOGIN]
    field :twins, [self]
    { mapped: "object.named.map(&:name).join", word: "object.main_tag&.name.to_s", summed: "object.all_tags.sum { |it| it.id }.to_s" }.each do |name, code|
      field name, String
      class_eval("def #{name} = (#{code})", __FILE__, __LINE__)
    end
    field :size, Integer
    def size = object.all_tags.size
  end

  FIELDS = { tags: "tags { name }", named: "named { name }", all_tags: "allTags { name }", main_tag: "mainTag { name }" }.freeze

  def posts(*names, how: :includes) = schemas({ posts: [[POST], -> { Post.public_send(how, *names).order(:id) }] })

  FIELDS.each do |name, selected|
    define_method(:"test_#{name}") do
      %i[includes preload].each { |how| assert_same_twice("{ posts { id #{selected} } }", posts(name, how: how)) }
      assert_plan("{ posts { id #{selected} } }", schemas({ posts: [[POST], -> { Post.order(:id) }] }))
      others = FIELDS.except(name).values.join(" ")
      assert_plan("{ posts { id #{others} } }", posts(name))
    end
  end

  { named: "mapped", main_tag: "word", all_tags: "summed size" }.each do |name, selected|
    define_method(:"test_what_is_asked_of_#{name}") do
      assert_same_twice("{ posts { id #{selected} } }", posts(name))
      assert_plan("{ posts { id #{selected} } }", schemas({ posts: [[POST], -> { Post.order(:id) }] }))
    end
  end

  # The preload's and ActiveRecord's own answers do differ.
  def test_they_differ
    names = ->(posts) { posts.map { |post| post.named.map(&:name) } }
    refute_equal names.call(Post.order(:id)), names.call(Post.includes(:named).order(:id))
    numbers = ->(posts) { posts.map { |post| post.logins.map(&:number) } }
    refute_equal numbers.call(Post.order(:id)), numbers.call(Post.includes(:logins).order(:id))
  end

  def test_what_a_scope_preloads
    assert_same_twice("{ posts { id twins { id named { name } } } }", schemas({ posts: [[POST], -> { Post.order(:id) }] }))
    assert_same_twice("{ posts { id twins { id mapped } } }", schemas({ posts: [[POST], -> { Post.order(:id) }] }))
    assert_plan("{ posts { id twins { id allTags { name } } } }", schemas({ posts: [[POST], -> { Post.order(:id) }] }))
  end

  # Code that is opaque asks what the scope of its own association has preloaded.
  def test_what_opaque_code_asks
    post = type("OpaquePost") { field :listed, String; def listed = object.twins.map { |it| it.named.map { |tag| tag.name.dup.concat(".") }.join }.join(" ") }
    twins = type("OpaqueTwins") { field :words, String; def words = object.named.to_a.map { |it| it.name.dup.concat("!") }.join }
    post.field :twins, [twins]
    [{}, { forecast: false }, { compile: false }, { coalesce: false }].each do |pipeloader|
      schemas = schemas({ posts: [[post], -> { Post.order(:id) }] }, pipeloader: pipeloader)
      ["{ posts { listed } }", "{ posts { twins { words } } }"].each { |text| 3.times { assert_same_twice(text, schemas) } }
    end
  end

  def test_keys_of_a_collation
    assert_same_twice("{ posts { id logins { number } } }", posts(:logins))
    assert_same_twice("{ posts { id logins { number } } }", posts)
  end
end

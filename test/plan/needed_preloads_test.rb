# frozen_string_literal: true

require_relative "../support/plans"

# Preloads that bring something else, or raise: ActiveRecord merges the limit of an association's scope into the one statement of
# a preload, so that it holds for all owners together. And associations that are declared elsewhere, or deprecated.
class NeededPreloadsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:limited_shops) { |t| t.string :name }
    create_table(:limited_posts) { |t| t.bigint :shop_id; t.string :title }
    create_table(:limited_notes) { |t| t.bigint :post_id; t.string :body }
    create_table(:limited_regions) { |t| t.string :code; t.string :name }
    create_table(:limited_stores) { |t| t.string :region_code; t.bigint :number }
  end

  class Note < ActiveRecord::Base
    self.table_name = "limited_notes"
  end

  class Latest < Note
    default_scope { order(id: :desc).limit(2) }
  end

  class Region < ActiveRecord::Base
    self.table_name = "limited_regions"
    has_many :stores, -> { order(:id) }, class_name: "NeededPreloadsTest::Store", foreign_key: :region_code, primary_key: :code
  end

  class Store < ActiveRecord::Base
    self.table_name = "limited_stores"
    belongs_to :region, class_name: "NeededPreloadsTest::Region", foreign_key: :region_code, primary_key: :code, optional: true
    has_many :neighbors, through: :region, source: :stores
    def nearby = neighbors
  end

  class Belonging < ActiveRecord::Base
    self.abstract_class = true
    belongs_to :shop, class_name: "NeededPreloadsTest::Shop"
  end

  class Owned < Belonging
    self.table_name = "limited_posts"
  end

  class Post < ActiveRecord::Base
    self.table_name = "limited_posts"
    has_many :notes, -> { order(:id) }, class_name: "NeededPreloadsTest::Note", foreign_key: :post_id
    has_many :recent, -> { order(id: :desc).limit(2) }, class_name: "NeededPreloadsTest::Note", foreign_key: :post_id
    has_many :later, -> { order(:id).offset(1) }, class_name: "NeededPreloadsTest::Note", foreign_key: :post_id
    has_one :last_note, -> { order(id: :desc).limit(1) }, class_name: "NeededPreloadsTest::Note", foreign_key: :post_id
    has_many :failing, -> { raise "no scope" }, class_name: "NeededPreloadsTest::Note", foreign_key: :post_id
    has_many :latest, class_name: "NeededPreloadsTest::Latest", foreign_key: :post_id
  end

  class Preloading < Post
    default_scope { includes(:recent) }
  end

  class Shop < ActiveRecord::Base
    self.table_name = "limited_shops"
    has_many :posts, -> { order(:id) }, class_name: "NeededPreloadsTest::Post", foreign_key: :shop_id
    has_many :full_posts, -> { preload(:recent, :last_note).order(:id) }, class_name: "NeededPreloadsTest::Post", foreign_key: :shop_id
    has_many :preloading, -> { order(:id) }, class_name: "NeededPreloadsTest::Preloading", foreign_key: :shop_id
    has_many :recent, through: :posts
    has_many :misspelled, -> { includes(:nots).order(:id) }, class_name: "NeededPreloadsTest::Post", foreign_key: :shop_id
    if ActiveRecord.version >= Gem::Version.new("8.1")
      has_many :old_posts, -> { order(:id) }, class_name: "NeededPreloadsTest::Post", foreign_key: :shop_id, deprecated: true
      has_many :old_notes, through: :old_posts, source: :notes
      has_many :preloading_old, -> { preload(:old_shop).order(:id) }, class_name: "NeededPreloadsTest::Post", foreign_key: :shop_id
    end
  end
  Post.belongs_to(:old_shop, class_name: "NeededPreloadsTest::Shop", foreign_key: :shop_id, deprecated: true) if Shop.method_defined?(:old_posts)

  Region.insert_all!(["a", "", " ", "b"].map { |code| { code: code, name: "region #{code}" } })
  Store.insert_all!(["a", "", " ", nil, "b", "a", ""].map { |code| { region_code: code } })
  Shop.insert_all!((1..2).map { |id| { id: id, name: "shop #{id}" } })
  Post.insert_all!((1..6).map { |id| { id: id, shop_id: (id % 2) + 1, title: "post #{id}" } })
  Note.insert_all!((1..24).map { |id| { id: id, post_id: (id % 6) + 1, body: "note #{id}" } })

  # ActiveRecord says which line has called a deprecated association's reader.
  CALLER = / \([^()]+:\d+:in [^()]+\)/

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
      %i[posts full_posts preloading misspelled old_posts preloading_old].each { |name| field name, [post] }
      %i[recent old_notes].each { |name| field name, [note] }
    end
    schemas({ them: [[{ Post => post, Shop => shop }.fetch(model)], value] })
  end

  def text_of(answer) = super.gsub(CALLER, "")

  def test_preloads_of_the_root
    [[:recent], [:last_note], [:later], [:latest], %i[notes recent]].each do |names|
      %i[includes preload].each { |how| assert_same_twice("{ them { id #{NOTES} } }", shops(-> { Post.public_send(how, *names).order(:id) })) }
    end
    counts = shops(-> { Post.includes(:recent).order(:id) }).map { |it| it.execute("{ them { recent { id } } }").to_h.dig("data", "them").sum { |post| post["recent"].size } }
    assert_equal [2, 2], counts
    assert_plan("{ them { id #{NOTES} } }", shops(-> { Post.includes(:notes).order(:id) }))
    assert_plan("{ them { id #{NOTES} } }", shops(-> { Post.order(:id) }))
  end

  def test_a_scope_that_raises
    [-> { Post.preload(:failing).order(:id) }, -> { Post.none.preload(:failing).order(:id) }, -> { Post.where(id: 0).preload(:failing).order(:id) }].each do |value|
      assert_same_twice("{ them { id notes { id } } }", shops(value))
    end
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

  def test_opaque_resolvers
    shop = type("OpaqueShop") do
      %i[scope default relation].each { |name| field name, String }
      def scope = object.full_posts.map { |it| "#{it.recent.to_a.size}".dup.concat("!") }.join(",")
      def default = object.preloading.to_a.map { |it| "#{it.recent.to_a.size}".dup.concat("!") }.join(",")
      def relation = Post.where(shop_id: object.id).preload(:recent).order(:id).map { |it| "#{it.recent.size}".dup.concat("!") }.join(",")
    end
    [{}, { coalesce: false }, { compile: false }, { forecast: false }].each do |pipeloader|
      schemas = schemas({ them: [[shop], -> { Shop.order(:id) }] }, pipeloader: pipeloader)
      %w[scope default relation].each { |name| assert_same_twice("{ them { #{name} } }", schemas) }
    end
  end

  def test_a_preload_of_what_there_is_not
    assert_same_twice("{ them { id misspelled { id } posts { id } } }", shops(-> { Shop.order(:id) }, Shop))
  end

  # ActiveRecord has no neighbors for who has a blank key, but a region.
  def test_blank_keys
    region = type("Region") { field :name, String }
    store = type("Store") { %i[id count].each { |name| field name, Integer }; def count = object.neighbors.count; def one = object.neighbors }
    store.field :region, region
    %i[neighbors nearby one].each { |name| store.field name, [store] }
    schemas = schemas({ them: [[store], -> { Store.order(:id) }], one: [[store], -> { Store.find(2).neighbors }] })
    ["neighbors { id }", "nearby { id }", "one { id }", "count", "region { name }", "neighbors { region { name } }"].each do |selected|
      assert_same_twice("{ them { id #{selected} } one { id } }", schemas)
    end
    assert_equal [2, 0, 0, 0], schemas.last.execute("{ them { neighbors { id } } }").to_h.dig("data", "them").first(4).map { |it| it["neighbors"].size }
  end

  def test_declared_by_an_abstract_class
    shop = type("Shop") { field :name, String }
    owned = type("Owned") { field :title, String; field :shop, shop; field :shop_name, String; def shop_name = object.shop.name }
    [{}, { field_exact: true }].each do |pipeloader|
      [-> { Owned.order(:id) }, -> { Owned.includes(:shop).order(:id) }].each do |value|
        schemas = schemas({ them: [[owned], value] }, pipeloader: pipeloader)
        ["{ them { title shop { name } } }", "{ them { title shopName } }", "{ them { title } }"].each { |query| assert_same_twice(query, schemas) }
      end
    end
  end

  if Shop.method_defined?(:old_posts)
    def test_deprecated
      before, ActiveRecord.deprecated_associations_options = ActiveRecord.deprecated_associations_options, { mode: :raise }
      %w[oldPosts oldNotes preloadingOld].each do |name|
        assert_same_twice("{ them { id #{name} { id } } }", shops(-> { Shop.order(:id) }, Shop))
      end
      assert_same_twice("{ them { id posts { id } } }", shops(-> { Shop.includes(:old_posts).order(:id) }, Shop))
    ensure
      ActiveRecord.deprecated_associations_options = before
    end
  end

  # A column that is gone since this process has looked at the table.
  def test_a_table_that_has_changed
    Note.connection.execute(<<~SQL)
      DROP TABLE IF EXISTS limited_keys;
      CREATE TABLE limited_keys (gone bigint, key bigint PRIMARY KEY, name text, owner text);
      INSERT INTO limited_keys SELECT 7, n, 'key ' || n, 'o' FROM generate_series(1, 6) AS n;
    SQL
    key = Class.new(ActiveRecord::Base) { self.table_name = "limited_keys"; self.primary_key = "key"; def self.name = "LimitedKey" }
    key.columns_hash
    posts = Class.new(ActiveRecord::Base) { self.table_name = "limited_posts"; def self.name = "LimitedOwner" }
    posts.belongs_to :key, anonymous_class: key, foreign_key: :id, primary_key: :key
    its = type("Key") { field :name, String; field :loud, String; def loud = object.name.dup.upcase! }
    owner = type("Owner") { field :id, Integer; field :key, its }
    schemas = schemas({ them: [[owner], -> { posts.order(:id) }] })
    Note.connection.execute("ALTER TABLE limited_keys DROP COLUMN gone")
    ["{ them { id key { name loud } } }", "{ them { id key { loud } } }"].each { |query| assert_same_twice(query, schemas) }
  ensure
    Note.connection.execute("DROP TABLE limited_keys")
  end
end

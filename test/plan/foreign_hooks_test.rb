# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../wire/subprocess"

# Somebody else's code in what ActiveRecord does between a row and an attribute: what a plan doesn't run.
class ForeignHooksTest < PlanTest
  include Subprocess

  # New classes for each test: what somebody has changed stays.
  def model(table, superclass = ActiveRecord::Base, &block)
    @models = (@models || 0) + 1
    name = "Hooked#{table.camelize}#{object_id}#{@models}"
    Class.new(superclass) do
      self.table_name = table
      define_singleton_method(:name) { name }
      class_eval(&block) if block
    end
  end

  def teardown
    @reverts&.each(&:call)
    super
  end

  # @return [Array(Class, Class)] models of posts and their authors
  def posts
    users = model("users")
    posts = model("posts") { belongs_to :author, anonymous_class: users, optional: true, foreign_key: :author_id }
    users.has_many :posts, -> { order(:id) }, anonymous_class: posts, foreign_key: :author_id, inverse_of: false
    [posts, users]
  end

  def assert_alike(posts, query = "{ posts { title author { name posts { title } } } }")
    inner = type("InnerHooked") { field :title, String }
    author = type("HookedAuthor") do
      field :name, String
      field :posts, [inner]
    end
    post = type("HookedPost") do
      field :title, String, fallback_value: "nothing"
      field :author, author
      field :shout, String
      def shout = object.title.upcase
    end
    plain, piped = schemas({ posts: [[post], -> { posts.order(:id) }] }).map { |schema| Array.new(3) { schema.execute(query).to_h } }
    assert_equal(*[plain, piped].map { |answers| answers.to_s.gsub(/0x\h+/, "0x") })
    plain.first.dig("data", "posts") || plain.first["errors"]
  end

  def test_records_of_relations
    hosts = [ActiveRecord::Relation, ActiveRecord::AssociationRelation, ActiveRecord::Associations::CollectionProxy]
    2.times do |inner|
      posts, = posts()
      hosts.each { |host| posts.relation_delegate_class(host).prepend(Module.new { def records = super.reject { |it| it.id.odd? } }) }
      shown = inner.zero? ? assert_alike(posts) : assert_alike(posts, "{ posts { author { posts { title } } } }")
      assert_equal 6, shown.size
    end
  end

  def test_find_target_of_an_association
    shown = in_process do
      ActiveRecord::Associations::BelongsToAssociation.prepend(Module.new { def find_target(...) = klass.unscoped { super } })
      posts, users = posts()
      users.class_eval { default_scope { where.not(name: "user 4") } }
      assert_alike(posts, "{ posts { title author { name } } }")
    end
    assert_equal "user 4", shown.dig(0, "author", "name")
  end

  def test_scope_for_association
    posts, users = posts()
    users.class_eval { def self.scope_for_association(scope = relation) = super.where.not(name: "user 4") }
    assert_nil assert_alike(posts).dig(0, "author")
  end

  def test_respond_to
    posts, users = posts()
    users.define_method(:respond_to?) { |name, all = false| name != :name && super(name, all) }
    assert_nil assert_alike(posts, "{ posts { author { name } } }").dig(0, "author", "name") unless Engine::NEXT
    posts.define_method(:respond_to?) { |name, all = false| name != :title && super(name, all) }
    shown = assert_alike(posts, "{ posts { title } }").map { |it| it["title"] }.uniq
    assert_equal ["nothing"], shown unless Engine::NEXT # which calls it all the same
  end

  def test_types
    padded = Class.new(ActiveModel::Type::String) do
      def self.name = "ActiveModel::Type::String"
      def deserialize(value) = super&.rjust(20, "-")
    end
    posts, = posts()
    posts.attribute(:title, padded.new)
    assert_match(/\A-+post 1\z/, assert_alike(posts, "{ posts { title shout author { name } } }").dig(0, "title"))
  end

  def test_readers_of_attributes
    posts, = posts()
    posts.define_attribute_methods
    posts.send(:generated_attribute_methods).module_eval { define_method(:title) { "own #{self[:title]}" } }
    assert_equal "own post 1", assert_alike(posts).dig(0, "title")
  end

  def test_strict_loading_of_what_comes_later
    posts, users = posts()
    users.has_many :posts, anonymous_class: posts, foreign_key: :author_id, inverse_of: false
    name = type("StrictInnerAuthor") { field :name, String }
    inner = type("StrictInner") { field :title, String; field :author, name }
    author = type("StrictAuthor") { field :posts, [inner] }
    post = type("StrictPost") { field :author, author }
    value = -> { posts.find(1).tap { |it| it.strict_loading!(mode: :n_plus_one_only) } }
    loose = -> { posts.find(1).tap { |it| it.strict_loading!(false, mode: :n_plus_one_only) } }
    [value, loose].each do |root|
      plain, piped = schemas({ post: [post, root] }).map { |schema| Array.new(2) { schema.execute("{ post { author { posts { title author { name } } } } }").to_h } }
      assert_equal plain, piped
    end
    assert_match(/StrictLoading/, schemas({ post: [post, value] }).last.execute("{ post { author { posts { author { name } } } } }").to_h["errors"].to_s)
  end

  ZONED = ["{ events { localStart startsAt } }", "{ events { zone startsAt } }", "{ events { startsAt zone } }", "{ events { startsAt localStart again: startsAt } }",
           "{ events { startsAt name } }", "{ events { modelStart startsAt hour } }", "{ events { hour zone } }", "{ events { name localStart hour opened startsAt } }"].freeze

  ZONED.each_with_index do |query, index|
    define_method(:"test_times_#{index}") do
      events = model("events") do
        self.time_zone_aware_attributes = true
        def self.zones = { 1 => "Tokyo", 2 => "Hawaii" }
        def zone = self.class.zones.fetch(id, "UTC")
        def local_start = Time.use_zone(zone) { starts_at.strftime("%H:%M") }
      end
      event = type("ZonedEvent") do
        field :name, String
        field :starts_at, GraphQL::Types::ISO8601DateTime
        field :local_start, String
        field :model_start, String
        field :zone, String
        field :hour, Integer
        field :opened, String
        def local_start = Time.use_zone(object.zone) { object.starts_at.strftime("%H:%M") }
        def model_start = object.local_start
        def zone = (Time.zone = object.zone).to_s
        def hour = object.starts_at.hour
        def opened = context.dig(:nothing).to_s
      end
      plain, piped = schemas({ events: [[event], -> { events.order(:id) }] }).map do |schema|
        Array.new(3) { Time.use_zone("Paris") { schema.execute(query).to_h } }
      end
      assert_equal plain, piped
      refute_includes plain.to_s, "errors"
    end
  end

  def setup
    super
    ActiveRecord::Base.connection.create_table(:events, force: true) do |t|
      t.string :name
      t.datetime :starts_at
    end
    ActiveRecord::Base.connection.execute("INSERT INTO events (name, starts_at) SELECT 'event ' || n, '2026-01-01 00:00:00'::timestamp + n * interval '1 hour' FROM generate_series(1, 4) n")
    @reverts = [-> { ActiveRecord::Base.connection.drop_table(:events) }]
  end
end

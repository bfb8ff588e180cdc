# frozen_string_literal: true

require_relative "../support/plans"

# Associations of every kind, below records that a plan reads: whose they are, which they are, and in which order.
class PlanAssociationsTest < PlanTest
  connection = TestDatabase.connect
  connection.exec("SET client_min_messages = warning")
  connection.exec(<<~SQL)
    CREATE EXTENSION IF NOT EXISTS citext;
    CREATE TABLE plan_owners (id bigserial PRIMARY KEY, name text, code text, short varchar(20), token uuid, small smallint, wide numeric, mixed citext,
      boss_code text, owner_id bigint, other_id integer, kind text, kept boolean DEFAULT true, tags text[], "we ird" text);
    CREATE TABLE plan_things (id bigserial PRIMARY KEY, name text, owner_id bigint, owner_code text, owner_short varchar(5), owner_token uuid, owner_small smallint,
      owner_wide numeric, owner_mixed citext, owner_type text, rank integer, kept boolean DEFAULT true);
    CREATE TABLE plan_owners_things (owner_id bigint, thing_id bigint);
    CREATE TABLE plan_many AS SELECT i AS id, (i + 1) / 2 AS parent_id FROM generate_series(1, 40000) i;
    ALTER TABLE plan_many ADD PRIMARY KEY (id);
    CREATE INDEX ON plan_many (parent_id);
    INSERT INTO plan_owners (name, code, short, token, small, wide, mixed, boss_code, owner_id, other_id, kind, kept)
      SELECT 'owner ' || i, (ARRAY['a', 'ü漢🙂', 'NULL', '', E'x"y\\\\z', 'a,b', '{}', ' ', NULL])[i], (ARRAY['s1', 's2', 'S1', NULL])[i % 4 + 1],
        ('00000000-0000-0000-0000-00000000000' || i)::uuid, i, i, 'Mix' || i, (ARRAY['ü漢🙂', 'NULL', '', 'a', 'none', NULL])[i % 6 + 1], NULLIF(i - 1, 0), i % 3, 'k' || i % 2, i % 3 > 0
      FROM generate_series(1, 9) i;
    INSERT INTO plan_things (name, owner_id, owner_code, owner_short, owner_token, owner_small, owner_wide, owner_mixed, owner_type, rank, kept)
      SELECT 'thing ' || i, i % 11, (ARRAY['a', 'ü漢🙂', 'NULL', '', E'x"y\\\\z', 'a,b', '{}', ' ', NULL])[i % 9 + 1], (ARRAY['s1', 's2', 'S1', NULL])[i % 4 + 1],
        ('00000000-0000-0000-0000-00000000000' || i % 10)::uuid, i % 10, i % 10, 'mIX' || i % 10, (ARRAY['PlanAssociationsTest::Owner', 'Other', NULL])[i % 3 + 1], i % 4, i % 5 > 0
      FROM generate_series(1, 40) i;
    INSERT INTO plan_owners_things SELECT i % 9 + 1, i % 7 + 1 FROM generate_series(1, 30) i;
  SQL
  connection.close

  class Base < ActiveRecord::Base
    self.abstract_class = true
  end

  # What some scopes ask. (One that says something else each time, and for each owner, is read but once for all of them.)
  module Mood
    class << self
      attr_accessor :rank
    end
    self.rank = 1
  end

  class Thing < Base
    self.table_name = "plan_things"
    belongs_to :owner, class_name: "PlanAssociationsTest::Owner", optional: true
    belongs_to :by_code, class_name: "PlanAssociationsTest::Owner", primary_key: :code, foreign_key: :owner_code, optional: true
    belongs_to :by_token, class_name: "PlanAssociationsTest::Owner", primary_key: :token, foreign_key: :owner_token, optional: true
    belongs_to :by_small, class_name: "PlanAssociationsTest::Owner", primary_key: :small, foreign_key: :owner_small, optional: true
    belongs_to :kept_owner, -> { where(kept: true) }, class_name: "PlanAssociationsTest::Owner", foreign_key: :owner_id, optional: true
    belongs_to :small_to_big, class_name: "PlanAssociationsTest::Owner", foreign_key: :owner_small, optional: true
    belongs_to :no_inverse, class_name: "PlanAssociationsTest::Owner", foreign_key: :owner_id, inverse_of: :nope, optional: true
    has_one :owners_profile, through: :owner, source: :latest
    scope :ranked, -> { order(:rank, :id) }
  end

  class Owner < Base
    self.table_name = "plan_owners"
    has_many :things, class_name: "PlanAssociationsTest::Thing", inverse_of: :owner
    has_many :ordered, -> { order(rank: :desc, id: :asc) }, class_name: "PlanAssociationsTest::Thing"
    has_many :limited, -> { order(:id).limit(2).offset(1) }, class_name: "PlanAssociationsTest::Thing"
    has_many :by_code, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", primary_key: :code, foreign_key: :owner_code
    has_many :by_short, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", primary_key: :short, foreign_key: :owner_short
    has_many :by_token, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", primary_key: :token, foreign_key: :owner_token
    has_many :by_wide, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", primary_key: :wide, foreign_key: :owner_wide
    has_many :by_mixed, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", primary_key: :mixed, foreign_key: :owner_mixed
    has_many :polymorphic_things, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", as: :owner
    has_one :latest, -> { order(id: :desc) }, class_name: "PlanAssociationsTest::Thing"
    has_one :typed, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", as: :owner
    has_and_belongs_to_many :many_things, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", join_table: :plan_owners_things, foreign_key: :owner_id, association_foreign_key: :thing_id
    has_many :neighbours, -> { order(:id) }, through: :things, source: :by_small
    has_many :ranked_through, -> { order("plan_things.rank", :id) }, through: :things, source: :by_code
    has_many :nested_through, -> { order(:id) }, through: :neighbours, source: :things
    has_one :first_through, through: :latest, source: :by_small
    belongs_to :boss, class_name: "PlanAssociationsTest::Owner", primary_key: :code, foreign_key: :boss_code, optional: true
    belongs_to :above, class_name: "PlanAssociationsTest::Owner", foreign_key: :owner_id, optional: true
    has_many :below, -> { order(:id) }, class_name: "PlanAssociationsTest::Owner", foreign_key: :owner_id, inverse_of: :above
    belongs_to :narrower, class_name: "PlanAssociationsTest::Owner", foreign_key: :other_id, optional: true

    has_many :moody, -> { where(rank: Mood.rank).order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :sometimes, -> { Mood.rank == 1 ? order(:id) : nil }, class_name: "PlanAssociationsTest::Thing"
    has_many :never, -> { none }, class_name: "PlanAssociationsTest::Thing"
    has_many :everything, -> { unscope(where: :owner_id).order(:id).limit(3) }, class_name: "PlanAssociationsTest::Thing"
    has_many :all_things, -> { unscope(where: :owner_id).order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :distinct_ones, -> { distinct.order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :few_columns, -> { select(:id, :owner_id, "upper(name) AS name").order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :readonly_ones, -> { readonly.order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :locked, -> { lock.order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :with_owner, -> { includes(:owner).order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :joined, -> { joins(:owner).where(plan_owners: { kept: true }).order("plan_owners.name", :id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :eager, -> { eager_load(:owner).order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :by_position, -> { order("2 DESC") }, class_name: "PlanAssociationsTest::Thing"
    has_many :merged, -> { merge(Thing.ranked) }, class_name: "PlanAssociationsTest::Thing"
    has_many :or_scope, -> { where(rank: 1).or(where(rank: 2)).order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :sql_scope, -> { where("name <> '$1 ?' AND rank > :rank", rank: 0).order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :many_binds, -> { where(rank: 1..2, kept: true).where.not(name: ["thing 1", "thing 12"]).order(:id).limit(3) }, class_name: "PlanAssociationsTest::Thing"
    has_many :of_its_record, ->(owner) { where(rank: owner.small % 4).order(:id) }, class_name: "PlanAssociationsTest::Thing"
    has_many :extended, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing" do
      def to_a = super.first(1)
    end
    has_many :extending, -> { order(:id).extending(Module.new { def records = super.first(1) }) }, class_name: "PlanAssociationsTest::Thing"
    has_many :strict, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", strict_loading: true
    has_many :not_joined, through: :ordered, source: :by_small, disable_joins: true
    has_many :raising, -> { raise IOError, "no scope for #{Mood.rank}" }, class_name: "PlanAssociationsTest::Thing"
    has_many :of_no_class, class_name: "PlanAssociationsTest::Nothing"
    has_many :of_no_column, class_name: "PlanAssociationsTest::Thing", foreign_key: :nothing_id
    has_many :through_nothing, through: :nothing, source: :things
    has_many :by_sub_query, -> { where(rank: Thing.where(kept: true).select(:rank)).order(:id) }, class_name: "PlanAssociationsTest::Thing"
  end

  MANY = (Owner.reflect_on_all_associations.select(&:collection?).map(&:name) - %i[below]).freeze
  ONE = { latest: :thing, typed: :thing, first_through: :owner, boss: :owner, above: :owner, narrower: :owner }.freeze
  OF_THINGS = %i[owner by_code by_token by_small kept_owner small_to_big no_inverse].freeze
  OWNERS = %i[neighbours ranked_through not_joined].freeze

  class ThingType < Schemas::Base
    graphql_name "Thing"
    field :id, ID, null: false
    field :name, String
    field :rank, Integer
    OF_THINGS.each { |name| field name, "PlanAssociationsTest::OwnerType" }
    field :owners_profile, ThingType
  end

  class OwnerType < Schemas::Base
    graphql_name "Owner"
    field :id, ID, null: false
    field :name, String
    MANY.each { |name| field name, [OWNERS.include?(name) ? OwnerType : ThingType] }
    ONE.each { |name, of| field name, of == :owner ? OwnerType : ThingType }
    field :below, [OwnerType]
  end

  ALL = make(query: Class.new(Schemas::Base) do
    graphql_name "Query"
    field :owners, [OwnerType]
    field :things, [ThingType]
    field :loaded, [OwnerType]
    field :none, [OwnerType]
    field :owner, OwnerType
    (MANY + [:below]).each { |name| field :"of_#{name}", (name == :below || OWNERS.include?(name) ? [OwnerType] : [ThingType]) }
    def owners = Owner.order(:id)
    def things = Thing.order(:id)
    def loaded = Owner.order(:id).to_a
    def none = Owner.where(id: 0)
    def owner = Owner.find(2)
    (MANY + [:below]).each { |name| define_method(:"of_#{name}") { Owner.find(2).public_send(name) } }
  end)

  # The same, with a field of its own on each type: records have to exist.
  class OpaqueThing < ThingType
    graphql_name "OpaqueThing"
    field :loud, String
    def loud = name.to_s.dup << "!"
    OF_THINGS.each { |name| field name, "PlanAssociationsTest::OpaqueOwner" }
    field :owners_profile, OpaqueThing
    def name = object.name
  end

  class OpaqueOwner < OwnerType
    graphql_name "OpaqueOwner"
    field :loud, String
    def loud = object.name.concat("!")
    MANY.each { |name| field name, [OWNERS.include?(name) ? OpaqueOwner : OpaqueThing] }
    ONE.each { |name, of| field name, of == :owner ? OpaqueOwner : OpaqueThing }
    field :below, [OpaqueOwner]
  end

  OPAQUE = schemas({ owners: [[OpaqueOwner], -> { Owner.order(:id) }], things: [[OpaqueThing], -> { Thing.order(:id) }] })

  # Those whose order nobody says are read in the table's.
  ASIDE = %i[distinct_ones few_columns locked eager by_position of_its_record extended extending strict not_joined raising of_no_class of_no_column
             through_nothing by_wide by_mixed by_short by_code everything all_things].freeze

  def setup
    Mood.rank = 1
  end

  (MANY + ONE.keys + [:below]).each do |name|
    define_method(:"test_#{name}") do
      field = name.to_s.camelize(:lower)
      fields = ["{ owners { name x: #{field} { id name } } }", "{ loaded { #{field} { name } } }", "{ owner { name #{field} { name id } } }", "{ none { #{field} { name } } }",
                "{ things { owner { #{field} { name } } } }", ("{ of#{field[0].upcase}#{field[1..]} { name } }" unless ONE.key?(name))].compact
      assert_plan(fields.shift, ALL) unless ASIDE.include?(name)
      fields.each { |query| assert_same(query) }
    end
  end

  OF_THINGS.each do |name|
    define_method(:"test_of_things_#{name}") do
      ["{ things { id #{name.to_s.camelize(:lower)} { id name } } }", "{ owners { things { #{name.to_s.camelize(:lower)} { name } } } }"].each { |query| assert_same(query) }
    end
  end

  # Their records are read ahead, for all owners at once: a statement for an association that is asked of many.
  (MANY + ONE.keys + [:below]).each do |name|
    define_method(:"test_opaque_#{name}") do
      field = name.to_s.camelize(:lower)
      assert_same("{ owners { id x: #{field} { loud name } loud } }", OPAQUE)
      assert_same("{ owners { loud #{field} { name } } }", OPAQUE)
      assert_same("{ things { owner { loud #{field} { id loud } } loud } }", OPAQUE)
      assert_same("{ owners { a: #{field} { loud } b: #{field} { loud id } } }", OPAQUE)
    end
  end

  OF_THINGS.each do |name|
    define_method(:"test_opaque_of_things_#{name}") do
      field = name.to_s.camelize(:lower)
      assert_same("{ things { id #{field} { id loud } loud } }", OPAQUE)
      assert_same("{ owners { things { #{field} { loud name } } } }", OPAQUE)
    end
  end

  def test_through_one
    assert_same("{ things { ownersProfile { name } } }")
  end

  def test_there_and_back
    assert_same("{ owners { things { owner { name things { owner { name } } } } } }")
    assert_same("{ owners { below { above { name below { name } } } } }")
    assert_same("{ owners { latest { owner { name latest { name } } } } }")
    assert_same("{ things { owner { things { id } latest { owner { id } } } } }")
  end

  # Each read asks its scope anew.
  def test_scope_that_says_something_else
    schemas = ALL
    document = GraphQL.parse("{ owners { moody { id } sometimes { id } } }")
    [1, 2, 1, 3, 2].each do |rank|
      Mood.rank = rank
      plain, piped = schemas.map { |schema| JSON.generate(schema.execute(document: document).to_h) }
      assert_equal plain, piped
    end
  end

  # A belongs_to's inverse is the record itself, also where another one has it.
  def test_has_one_of_two
    inner = type("Prf") { field :bio, String }
    user_type = type("Usr") { field :name, String; field :profile, inner }
    profile_type = type("Profil") { field :bio, String; field :user, user_type }
    Profile.transaction do
      Profile.create!(user_id: 1, bio: "second of one")
      Profile.create!(user_id: 1, bio: "third of one")
    end
    schemas = schemas({ profiles: [[profile_type], -> { Profile.order(:id) }] })
    assert_same("{ profiles { bio user { name profile { bio } } } }", schemas)
  ensure
    Profile.where("bio LIKE '% of one'").delete_all
  end

  # The same, by way of records that lead back to it.
  def test_has_one_of_two_further_below
    inner = type("Prf") { field :bio, String }
    inner_user = type("InnerUsr") { field :name, String; field :profile, inner }
    post = type("UsrPost") { field :title, String; field :author, inner_user }
    user_type = type("Usr") { field :name, String; field :posts, [post] }
    profile_type = type("Profil") { field :bio, String; field :user, user_type }
    user = Class.new(ActiveRecord::Base) { self.table_name = "users"; def self.name = "PlanAssociationsTest::Looped" }
    written = Class.new(ActiveRecord::Base) { self.table_name = "posts"; def self.name = "PlanAssociationsTest::LoopedPost" }
    profile = Class.new(ActiveRecord::Base) { self.table_name = "profiles"; def self.name = "PlanAssociationsTest::LoopedProfile" }
    { Looped: user, LoopedPost: written, LoopedProfile: profile }.each { |name, model| self.class.const_set(name, model) }
    user.has_one :profile, class_name: profile.name, foreign_key: :user_id, inverse_of: :user
    user.has_many :posts, class_name: written.name, foreign_key: :author_id, inverse_of: :author
    written.belongs_to :author, class_name: user.name, inverse_of: :posts
    profile.belongs_to :user, class_name: user.name, inverse_of: :profile
    Profile.transaction { 2.times { |number| Profile.create!(user_id: Post.order(:id).first.author_id, bio: "#{number} of one") } }
    remark = Class.new(ActiveRecord::Base) { self.table_name = "comments"; def self.name = "PlanAssociationsTest::LoopedRemark" }
    self.class.const_set(:LoopedRemark, remark)
    written.has_many :remarks, class_name: remark.name, foreign_key: :post_id, inverse_of: :post
    remark.belongs_to :post, class_name: written.name, inverse_of: :remarks
    remark_type = type("PostRemark") { field :body, String; field :post, post }
    post.field :remarks, [remark_type]
    changed = -> { user.find(Post.order(:id).first.author_id).tap { |it| it.name = "changed" } }
    schemas = schemas({ profiles: [[profile_type], -> { profile.order(:id) }], loaded: [[profile_type], -> { profile.order(:id).to_a }],
                        mine: [[post], -> { changed.call.posts.order(:id) }], me: [user_type, changed] })
    %w[profiles loaded].each { |root| assert_same("{ #{root} { bio user { name posts { title author { profile { bio } } } } } }", schemas) }
    assert_same("{ mine { title remarks { body post { title author { name } } } } }", schemas)
    assert_same("{ me { name posts { title remarks { body post { title author { name } } } } } }", schemas)
  ensure
    Profile.where("bio LIKE '% of one'").delete_all
  end

  # Its own default scope would leave out the owner, who is known.
  def test_owner_that_a_default_scope_leaves_out
    hidden = Class.new(ActiveRecord::Base) do
      self.table_name = "plan_owners"
      def self.name = "PlanAssociationsTest::Hidden"
      default_scope { where(kept: true) }
    end
    stub = Class.new(ActiveRecord::Base) { self.table_name = "plan_things"; def self.name = "PlanAssociationsTest::HiddenThing" }
    self.class.const_set(:Hidden, hidden)
    self.class.const_set(:HiddenThing, stub)
    hidden.has_many :things, -> { order(:id) }, class_name: "PlanAssociationsTest::HiddenThing", foreign_key: :owner_id, inverse_of: :owner
    stub.belongs_to :owner, class_name: "PlanAssociationsTest::Hidden", inverse_of: :things
    owner = type("HiddenOwner") { field :name, String }
    thing = type("HiddenThing") { field :name, String; field :owner, owner }
    owner.field :things, [thing]
    schemas = schemas({ owners: [[owner], -> { hidden.unscoped.order(:id) }], things: [[thing], -> { stub.order(:id) }] })
    assert_same("{ owners { name things { name owner { name } } } }", schemas)
    assert_same("{ things { owner { name things { name } } } }", schemas)
  ensure
    self.class.send(:remove_const, :Hidden)
    self.class.send(:remove_const, :HiddenThing)
  end

  # Keys whose attributes aren't as the database has them.
  def test_attributes_of_keys
    upcased = Class.new(ActiveRecord::Type::String) { def deserialize(value) = value&.upcase; def cast(value) = value&.upcase }
    model = self.class.const_set(:Odd, Class.new(Base) do
      self.table_name = "plan_owners"
      attribute :owner_id, :string
      attribute :short, upcased.new
      attribute :other_id, ActiveRecord::Type::Integer.new
      enum :small, { one: 1, two: 2, three: 3 }
      belongs_to :above, class_name: "PlanAssociationsTest::Owner", foreign_key: :owner_id
      belongs_to :by_small, class_name: "PlanAssociationsTest::Owner", foreign_key: :small
      has_many :by_short, -> { order(:id) }, class_name: "PlanAssociationsTest::Thing", primary_key: :short, foreign_key: :owner_short
    end)
    self.class.const_set(:Coded, Class.new(Base) { self.table_name = "plan_owners"; attribute :id, :string })
    model.belongs_to :coded, class_name: "PlanAssociationsTest::Coded", foreign_key: :other_id
    odd = type("Odd") { field :id, GraphQL::Types::ID; field :above, OwnerType; field :by_small, OwnerType; field :by_short, [ThingType]; field :coded, OwnerType }
    schemas = schemas({ all: [[odd], -> { model.order(:id) }], loaded: [[odd], -> { model.order(:id).to_a }] })
    %w[above bySmall byShort coded].each { |name| assert_same("{ all { id #{name} { name } } loaded { #{name} { name } } }", schemas) }
  ensure
    %i[Odd Coded].each { |name| self.class.send(:remove_const, name) }
  end

  # Associations that a parent has defined: of another table, with other keys.
  def test_models_that_descend
    model = self.class.const_set(:Heir, Class.new(Owner) { self.table_name = "plan_things"; def kept = "heir" })
    heir = type("Heir") { field :id, GraphQL::Types::ID; field :name, String; field :things, [ThingType]; field :polymorphic_things, [ThingType] }
    schemas = schemas({ heirs: [[heir], -> { model.order(:id) }] })
    assert_same("{ heirs { name things { name } } }", schemas)
    assert_same("{ heirs { name polymorphicThings { name } } }", schemas)
  ensure
    self.class.send(:remove_const, :Heir)
    ActiveSupport::DescendantsTracker.clear([model]) rescue nil
  end

  # Another thread, whose scopes differ, reads by the same plan at the same time.
  def test_two_threads_with_other_scopes
    query = "{ things { owner { id name } } }"
    plain = JSON.generate(ALL.first.execute(query).to_h)
    other = nil
    once = lambda do |*, payload|
      next if other || !payload[:sql].include?("plan_owners")

      other = true
      other = Thread.new { Owner.where(id: ..3).scoping { JSON.generate(ALL.last.execute(query).to_h) } }.value
    end
    piped = ActiveSupport::Notifications.subscribed(once, "sql.active_record") { JSON.generate(ALL.last.execute(query).to_h) }
    assert_equal plain, piped
    assert_equal Owner.where(id: ..3).scoping { JSON.generate(ALL.first.execute(query).to_h) }, other
  end

  def test_more_keys_than_one_statement_asks_for
    most = Pipeloader::Lookup::MOST
    Pipeloader::Lookup.send(:remove_const, :MOST)
    Pipeloader::Lookup.const_set(:MOST, 2)
    assert_plan("{ owners { things { name } latest { name } } things { owner { name } byCode { name } } }", ALL)
  ensure
    Pipeloader::Lookup.send(:remove_const, :MOST)
    Pipeloader::Lookup.const_set(:MOST, most)
  end

  class Many < Base
    self.table_name = "plan_many"
    belongs_to :parent, class_name: "PlanAssociationsTest::Many", optional: true
    has_many :children, -> { order(:id) }, class_name: "PlanAssociationsTest::Many", foreign_key: :parent_id
  end

  # A fiber's stack holds some 15,000 arguments.
  def test_many_owners
    many = type("Many") { field :id, Integer }
    many.field :parent, many
    many.field :few, many
    many.define_method(:few) { object if object.id > 39_998 }
    schema = schemas({ many: [[many], -> { Many.order(:id) }] }).last
    answer = schema.execute("{ many { id parent { id } } }").to_h
    assert_equal((1..40_000).map { |id| { "id" => id, "parent" => { "id" => (id + 1) / 2 } } }, answer.dig("data", "many"), answer["errors"])
    answer = schema.execute("{ many { few { parent { id } } } }").to_h
    assert_equal [{ "few" => nil }, { "few" => { "parent" => { "id" => 20_000 } } }, { "few" => { "parent" => { "id" => 20_000 } } }], answer.dig("data", "many").last(3), answer["errors"]
  end

  # Of lists that are loaded, and of records that are read for many (of which something is opaque).
  def test_many_owners_of_opaque_records
    child = type("Child") { field :twice, Integer; def twice = object.id.then { |id| id * 2 } }
    many = type("Many") { field :children, [child]; field :parent, child }
    schema = schemas({ many: [[many], -> { Many.order(:id).limit(17_000) }] }).last
    answer = schema.execute("{ many { children { twice } parent { twice } } }").to_h
    expected = (1..17_000).map do |id|
      { "children" => [4 * id - 2, 4 * id].map { |it| { "twice" => it } }, "parent" => { "twice" => (id + 1) / 2 * 2 } }
    end
    assert_equal expected, answer.dig("data", "many"), answer["errors"]
  end

  private

  def assert_same(query, schemas = ALL)
    plain, *piped = [schemas.first, schemas.last, schemas.last].map do |schema|
      setup
      text_of(outcome { schema.execute(query).to_h })
    end
    piped.each { |it| assert_equal plain, it, query }
  end
end

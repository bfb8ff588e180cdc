# frozen_string_literal: true

require_relative "../support/plans"

# Associations of many objects whose records have to exist, since something of them is opaque: read for all owners at once, and
# then as if each had asked for its own.
class PreloadTest < PlanTest
  class User < Schemas::Base
    field :id, ID
    field :name, String
    field :loud, String
    def loud = object.name.dup.upcase
  end

  class Comment < Schemas::Base
    field :body, String
    field :loud, String
    field :commenter, User
    field :post, "PreloadTest::Post"
    def loud = object.body.dup.upcase
  end

  class Tag < Schemas::Base
    field :name, String
  end

  class Post < Schemas::Base
    field :id, ID
    field :title, String
    field :loud, String
    field :author, User
    field :editor, User
    field :comments, [Comment]
    field :last_comment, Comment
    field :tags, ["PreloadTest::Tag"]
    def loud = object.title.dup.upcase
  end

  QUERY = "{ posts { loud author { loud } comments { loud commenter { loud name } } lastComment { loud } } }"

  def pair(**options, &block)
    schemas({ posts: [[Post], -> { ::Post.order(:id) }], few: [[Post], -> { ::Post.order(:id).limit(2) }] }, pipeloader: options, &block)
  end

  def test_statements_and_round_trips
    schemas = pair
    assert_same_answer(QUERY, schemas)
    bursts = WireCounter.events("burst.pipeloader") { schemas.last.execute(QUERY) }
    assert_equal [1, 3, 1], bursts.pluck(:statements), bursts
    assert_equal 5, WireCounter.events("sql.active_record") { schemas.last.execute(QUERY) }.size
  end

  class Craft < ActiveRecord::Base
    self.table_name = "vehicles"
    belongs_to :user, class_name: "::User", optional: true
    def self.find_sti_class(name) = name == "Car" ? Auto : self
    def self.sti_name = "Bike"
  end

  class Auto < Craft
    belongs_to :user, class_name: "PreloadTest::Place", foreign_key: :user_id, optional: true
    def self.sti_name = "Car"
  end

  class Place < ActiveRecord::Base
    self.table_name = "posts"
  end

  # An association of the same name, and another.
  def test_heirs
    label = type("Label") { field :id, GraphQL::Types::ID; field :label, String; def label = object.class.name.dup }
    craft = type("Craft") { field :label, String; field :user, label; def label = object.class.name.dup }
    schemas = schemas({ crafts: [[craft], -> { Craft.unscoped.order(:type, :id) }], autos: [[craft], -> { Craft.unscoped.order(type: :desc, id: :asc) }] })
    answer = assert_same_answer("{ crafts { label user { id label } } autos { user { label } } }", schemas)
    assert_includes answer.to_s, "PreloadTest::Place"
  end

  class Widening < ActiveRecord::Base
    self.table_name = "widening"
    belongs_to :boss, class_name: "PreloadTest::Widening", optional: true
    has_many :staff, -> { order(:id) }, class_name: "PreloadTest::Widening", foreign_key: :boss_id
  end

  # Columns that this process hasn't seen are of the types that the result says.
  def test_columns_that_the_model_does_not_know
    Widening.connection.execute("CREATE TABLE widening AS SELECT n AS id, n % 5 + 1 AS boss_id FROM generate_series(1::bigint, 15) n; ALTER TABLE widening ADD PRIMARY KEY (id)")
    Widening.reset_column_information
    Widening.columns
    wide = type("Wide") { field :all, String; def all = object.attributes.to_a.inspect }
    owner = type("Owner") { field :boss, wide; field :staff, [wide] }
    Widening.connection.execute(<<~SQL)
      ALTER TABLE widening ADD meta jsonb DEFAULT '{"a": [1]}', ADD list int[] DEFAULT '{1,2}', ADD day date DEFAULT '2024-02-29', ADD span interval DEFAULT '1 day',
        ADD bytes bytea DEFAULT '\\x00ff', ADD price money DEFAULT 2, ADD address inet DEFAULT '10.0.0.1', ADD moment timestamptz DEFAULT '2024-01-01 00:00Z', ADD many numeric DEFAULT 1.50
    SQL
    [{}, { forecast: true }].each do |options|
      schemas = schemas({ them: [[owner], -> { Widening.order(:id) }] }, pipeloader: options)
      3.times { assert_includes assert_same_answer("{ them { boss { all } staff { all } } }", schemas).to_s, "Thu, 29 Feb 2024" }
    end
  ensure
    Widening.connection.execute("DROP TABLE widening")
  end

  class Timed < ActiveRecord::Base
    self.table_name = "timed"
    belongs_to :first, class_name: "PreloadTest::Timed", optional: true
  end

  # Each owner has a Time that it may change in place.
  def test_times_of_several_owners
    Timed.connection.execute("CREATE TABLE timed AS SELECT n AS id, 1::bigint AS first_id, timestamp '2024-01-01' AS moment FROM generate_series(1::bigint, 4) n; ALTER TABLE timed ADD PRIMARY KEY (id)")
    Timed.reset_column_information
    timed = type("Timed") { field :moment, String; def moment = [object.moment.inspect, object.moment.localtime("+05:00")].inspect }
    owner = type("Owner") { field :first, timed }
    schemas = schemas({ them: [[owner], -> { Timed.order(:id) }] })
    2.times { assert_same_answer("{ them { first { moment } } }", schemas) }
  ensure
    Timed.connection.execute("DROP TABLE timed")
  end

  # Few are read as they are.
  def test_few
    schemas = pair
    query = "{ few { loud author { loud } } }"
    assert_same_answer(query, schemas)
    assert_equal 3, WireCounter.events("sql.active_record") { schemas.last.execute(query) }.size
  end

  # Each owner has objects of its own, and no two a String in common.
  def test_records_are_an_owners_own
    user = type("OwnUser") { field :name, String; def name = object.name_before_type_cast << "!" }
    post = type("OwnPost") { field :author, user; field :it, Integer; def it = object.title.dup.size }
    schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] })
    answer = assert_same_answer("{ posts { it author { name } } }", schemas)
    assert_equal ["!"], answer["data"]["posts"].filter_map { |it| it["author"]&.fetch("name") }.map { |it| it[/!+/] }.uniq
  end

  # Two queries of a multiplex have a plan in common, and what it looks up.
  def test_records_are_a_querys_own
    user = type("OwnUser") { field :name, String; def name = object.name_before_type_cast << "!" }
    post = type("OwnPost") { field :it, Integer; field :author, user; def it = object.title.dup.size }
    schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] })
    plain, piped = schemas.map { |schema| schema.multiplex([{ query: "{ posts { it author { name } } }" }] * 2).map(&:to_h) }
    assert_equal plain, piped
  end

  unless Engine::NEXT # (there fields go on before those before them have all objects: docs/internals.md, "Where a response can differ")
    # What a resolver has done to an owner counts.
    def test_owners_that_were_changed
      post = type("ChangingPost") do
        field :change, Integer
        field :author, User
        field :comments, [Comment]
        def change
          case object.id % 4
          when 0 then object.author_id = 3
          when 1 then object.author = ::User.new(name: "new")
          when 2 then object.comments.build(body: "built")
          else object.author_id = nil
          end && 1
        end
      end
      schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] })
      assert_same_answer("{ posts { change author { loud } comments { loud } } }", schemas)
      assert_same_answer("{ posts { author { loud } change comments { loud } } }", schemas)
    end

    # It is seen by what is selected behind it, and by nothing else, whether that is a leaf, a plan, or read ahead.
    def test_where_an_owner_was_changed
      post = type("TurningPost") do
        field :turn, Integer
        field :title, String
        field :author, User
        def turn = (object.title += "!") && (object.author_id = (object.author_id || 7) % 7 + 1)
      end
      schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] })
      ["turn", "second: turn", "title", "author { name }", "loud: author { loud }"].permutation do |fields|
        assert_same_answer("{ posts { #{fields.join(" ")} } }", schemas)
      end
    end
  end

  # What was plain when graphql-ruby came to the object no longer is, and fails: in its place, and nobody waits for ever.
  def test_where_an_owner_was_spoiled
    post = type("SpoiledPost") do
      field :spoil, Integer
      field :likes, Integer, null: false
      field :author, User
      def spoil = (object.likes = nil) || 1
    end
    schemas = schemas({ posts: [[post, { null: true }], -> { ::Post.order(:id) }] })
    ["spoil", "second: spoil", "likes", "author { name }", "loud: author { loud }", "more: likes"].permutation(4).each_slice(3) do |fields, *|
      Timeout.timeout(20) { assert_same_answer("{ posts { #{fields.join(" ")} } }", schemas) }
    end
  end

  def test_owners_that_are_no_rows
    schemas = schemas({ posts: [[Post], -> { [::Post.new(title: "new", author_id: 2), *::Post.order(:id), ::Post.new(title: "other")] }],
                        strict: [[Post], -> { ::Post.order(:id).strict_loading }],
                        narrow: [[Post], -> { ::Post.order(:id).select(:id, :title) }],
                        loaded: [[Post], -> { ::Post.order(:id).includes(:author, :comments) }] })
    %w[posts strict narrow loaded].each { |name| assert_plan("{ #{name} { loud author { loud } comments { loud } } }", schemas, aside: ::Post, errors: :any) }
  end

  # Two of them share what they read, and what they don't.
  def test_two_fields_of_one_association
    assert_same_answer("{ posts { loud a: author { loud } b: author { name loud } } }", pair)
    assert_same_answer("{ posts { loud author { loud } ... on Post { author { name } } } }", pair)
  end

  def test_interfaces_and_unions
    named = Module.new do
      include GraphQL::Schema::Interface
      graphql_name "Named"
      field :name, String
      definition_methods { def resolve_type(*) = PreloadTest::User }
    end
    User.implements(named) unless User.interfaces.include?(named)
    union = Class.new(GraphQL::Schema::Union) { graphql_name "Either"; possible_types User; define_singleton_method(:resolve_type) { |*| User } }
    post = type("AbstractPost") { field :loud, String; field :named, named, method: :author; field :either, union, method: :author; def loud = object.title.dup.upcase }
    schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] })
    assert_same_answer("{ posts { loud named { name ... on User { loud } } either { ... on User { name loud } } } }", schemas)
    return if Engine::NEXT

    assert_equal 2, WireCounter.events("sql.active_record") { schemas.last.execute("{ posts { loud named { name } } }") }.size
  end

  def test_items_that_nobody_may_see
    user = type("GuardedUser") { field :name, String; define_singleton_method(:authorized?) { |object, context| super(object, context) && object.id.odd? } }
    post = type("GuardingPost") { field :loud, String; field :author, user; def loud = object.title.dup.upcase }
    assert_same_answer("{ posts { loud author { name } } }", schemas({ posts: [[post], -> { ::Post.order(:id) }] }))
  end

  # What its scopes say makes more of records than rows: ActiveRecord's own way.
  class Scoped < ActiveRecord::Base
    self.table_name = "posts"
    def self.name = "Post"
    belongs_to :author, class_name: "User", optional: true
    has_many :readonly_comments, -> { readonly.order(:id) }, class_name: "Comment", foreign_key: :post_id
    has_many :strict_comments, -> { strict_loading.order(:id) }, class_name: "Comment", foreign_key: :post_id
    has_many :preloaded_comments, -> { includes(:commenter).order(:id) }, class_name: "Comment", foreign_key: :post_id
    has_many :broken_comments, -> { where("no_such = 1") }, class_name: "Comment", foreign_key: :post_id
  end

  %i[readonly strict preloaded broken].each do |name|
    define_method(:"test_#{name}_scope") do
      comment = type("StateComment") do
        field :state, String
        def state = [object.readonly?, object.strict_loading?, object.association(:commenter).loaded?].inspect
        field :commenter, User
      end
      post = type("StatePost") { field :loud, String; field :"#{name}_comments", [comment]; def loud = object.title.dup.upcase }
      schemas = schemas({ posts: [[post], -> { Scoped.order(:id) }] })
      field = "#{name}Comments"
      assert_plan("{ posts { loud #{field} { state } } }", schemas, made: [::Post], aside: (::Comment unless name == :broken), errors: name == :broken)
      assert_plan("{ posts { loud #{field} { state commenter { loud } } } }", schemas, made: [::Post], aside: (::Comment unless name == :broken), errors: :any)
    end
  end

  # Inverses, and what strict loading makes of records.
  def test_what_records_know_of_their_owner
    comment = type("KnowingComment") do
      field :state, String
      def state = [object.association(:post).loaded?, object.strict_loading?, object.new_record?, object.changed?, object.frozen?].inspect
    end
    user = type("KnowingUser") { field :state, String; def state = [object.association(:posts).loaded?, object.strict_loading?, object.attributes].inspect }
    post = type("KnowingPost") { field :loud, String; field :comments, [comment]; field :author, user; def loud = object.title.dup.upcase }
    [-> { ::Post.order(:id) }, -> { ::Post.order(:id).map { |it| it.strict_loading!(true, mode: :n_plus_one_only) && it } }].each do |posts|
      assert_same_answer("{ posts { loud comments { state } author { state } } }", schemas({ posts: [[post], posts] }))
    end
  end

  def test_in_a_transaction
    ::Post.transaction { assert_same_answer(QUERY, pair) }
  end

  def test_with_projection
    schemas = pair(field_exact: true)
    answer = assert_same_answer(QUERY, schemas)
    refute_nil answer["data"]
    assert_same_answer("{ posts { loud author { name } tags { name } } }", schemas)
  end

  # What was brought for a field is for that alone: who reads later sees what is then there.
  def test_who_reads_later
    post = type("LaterPost") do
      field :loud, String
      field :author, User
      field :again, String
      def loud = object.title.dup.upcase
      def again = dataloader.with(Later).load(object)
    end
    schemas = schemas({ posts: [[post], -> { ::Post.order(:id) }] }) { use GraphQL::Dataloader }
    assert_same_answer("{ posts { loud author { loud } again } }", schemas)
  end

  class Later < GraphQL::Dataloader::Source
    def fetch(posts) = posts.map { |post| post.association(:author).reload.target&.name }
  end
end

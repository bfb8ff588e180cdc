# frozen_string_literal: true

require_relative "../support/plain_plans"

# A tree of rows that comes by one round trip: the answer is the one that comes level by level, and graphql-ruby's.
class OneTripTest < PlainPlanTest
  SCHEMAS = make(query: Types::Query, pipeloader: { trips: :one }) { orphan_types(Types::User, Types::Post) }

  def pair = SCHEMAS

  def test_tree
    assert_one_trip "{ posts { title author { name } comments { body commenter { name } } } }", statements: 4
  end

  def test_deep
    assert_one_trip "{ posts { comments { commenter { posts { comments { commenter { name } } } } } } }", statements: 6
  end

  # What two links have in common is left once.
  def test_links_of_one_column
    assert_one_trip "{ posts { comments { body } tags { name } lastComment { body } taggings { position } } }", statements: 5
  end

  def test_through
    assert_one_trip "{ tags { posts { title author { name } } } }", statements: 3
  end

  # From a record that a resolver has made.
  def test_known_keys
    query = "{ post(id: 1) { title author { name posts { title } } comments { commenter { name } } } }"
    assert_plan query, made: [Post]
    assert_equal [1, 4], statements(query)
  end

  def test_none
    assert_one_trip "{ posts(limit: 0) { title author { name profile { bio } } } }", statements: 3
  end

  def test_null_keys
    assert_one_trip "{ posts { editor { name posts { title } } } }", statements: 3
    assert_one_trip "{ employees { name manager { name manager { name reports { name } } } } }", statements: 4
  end

  def test_trees_side_by_side
    assert_one_trip "{ posts { author { name } } users { posts { title } } tags { posts { title } } }", statements: 6
  end

  # Their roots are one statement.
  def test_equal_roots
    query = "{ posts { author { name } } again: posts { comments { body commenter { name } } } same: posts { author { name } } }"
    assert_plan query
    assert_equal [5, 1], statements(query)
  end

  class Shared < PlanTypes::Post
    field :recent, [PlanTypes::Comment], null: false
    field :found, [PlanTypes::Comment], null: false
    def recent = object.comments.order(id: :desc).limit(2)
    def found = object.then { |post| post.comments.order(id: :desc).limit(2) }
  end

  # What many ask for alike is one statement, which leaves the keys of all.
  def test_many_look_ups
    schemas = schemas({ posts: [[Shared], -> { Post.order(:id).to_a }] }, pipeloader: { trips: :one })
    query = "{ posts { recent { body commenter { name } } } }"
    assert_plan query, schemas, made: [Post]
    assert_equal [1, 2], statements(query, schemas)
  end

  # Relations that resolvers return one by one are one statement, and not as many trees.
  def test_many_roots_of_one_text
    schemas = schemas({ posts: [[Shared], -> { Post.order(:id).to_a }] }, pipeloader: { trips: :one })
    query = "{ posts { found { body commenter { name } } } }"
    assert_plan query, schemas, made: [Post]
    assert_equal [1, 1, 1], statements(query, schemas)
  end

  def test_multiplex
    queries = ["{ posts { author { name } } }", "{ posts { comments { body } } users { name } }"]
    plain, piped = pair.map { |schema| schema.multiplex(queries.map { |query| { query: query } }).map(&:to_h) }
    assert_equal plain, piped
  end

  def test_with_a_query_cache
    query = "{ posts { author { name posts { title } } } users { posts { comments { body } } } again: posts { author { name posts { title } } } }"
    assert_plan query, around: ->(run) { ActiveRecord::Base.cache(&run) }
    plain, piped = pair.map { |schema| ActiveRecord::Base.cache { 2.times.map { schema.execute(query).to_h } } }
    assert_equal plain, piped
  end

  # What another statement of the transaction would undo.
  def test_in_a_transaction
    query = "{ posts { title author { name } } }"
    plain, piped = pair.map { |schema| rolled_back { Post.create!(title: "new", author: User.first) && schema.execute(query).to_h } }
    assert_equal plain, piped
  end

  def test_one_of_them_fails
    with_table do |schemas, connection|
      query = "{ owners { name things { value owner { name } } } posts { title author { name } } }"
      assert_plan query, schemas
      connection.execute("CREATE OR REPLACE VIEW one_trip_view AS SELECT id, owner_id, (1 / (id - 3))::text AS value FROM one_trip_things")
      Thing.table_name = "one_trip_view"
      20.times { assert_same_answer query, schemas }
      connection.execute("CREATE OR REPLACE VIEW one_trip_view AS SELECT id, owner_id, value::text AS value FROM one_trip_things")
      assert_same_answer query, schemas
    ensure
      Thing.table_name = "one_trip_things"
    end
  end

  # A statement that fails each time leaves none behind that the server knows.
  def test_names_of_those_that_fail
    with_table do |schemas, connection|
      connection.execute("CREATE OR REPLACE VIEW one_trip_view AS SELECT id, owner_id, (1 / (id - 3))::text AS value FROM one_trip_things")
      Thing.table_name = "one_trip_view"
      counts = 12.times.map do
        schemas.last.execute("{ owners { name things { value } } }")
        connection.select_value("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%one_trip%'")
      end
      assert_equal counts[3], counts.last, counts.inspect
    ensure
      Thing.table_name = "one_trip_things"
    end
  end

  # Of a view whose rows take the server some time.
  SLOW = "CREATE OR REPLACE VIEW one_trip_view AS SELECT id, owner_id, code, token, value || coalesce(nullif(pg_sleep(0.05)::text, ''), '') AS value FROM one_trip_things"

  def test_interrupts
    with_slow_view do |schemas, query, answer|
      [0.03, 0.1, 0.2].each do |seconds|
        assert_raises(Timeout::Error) { Timeout.timeout(seconds) { schemas.last.execute(query) } }
        assert_equal answer, schemas.last.execute(query).to_h
      end
    end
  end

  # Broken while it reads, however slow this machine is: one that broke later would be the next test's. As new before it:
  # ActiveRecord doesn't reconnect one that a test before has asked for its raw_connection.
  def test_connections_that_break
    with_slow_view do |schemas, query, answer, connection|
      connection.reconnect!
      backend = connection.select_value("SELECT pg_backend_pid()")
      side = TestDatabase.connect
      strike = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = #{backend} AND wait_event = 'PgSleep'"
      struck = answered = false
      killer = Thread.new { struck = side.exec(strike).ntuples == 1 until struck || answered }
      assert_equal answer, schemas.last.execute(query).to_h
      answered = true
      killer.join
      assert struck
      refute_equal backend, connection.select_value("SELECT pg_backend_pid()")
    ensure
      answered = true
      killer&.join
      side&.close
    end
  end

  def test_names_that_the_server_has_forgotten
    query = "{ posts { title author { name } comments { body } } }"
    answer = assert_plan(query)
    3.times do
      ActiveRecord::Base.lease_connection.execute("DEALLOCATE ALL")
      assert_equal answer, pair.last.execute(query).to_h
    end
  ensure
    ActiveRecord::Base.lease_connection.clear_cache!
  end

  # A setting is text; a key may be any.
  TEXTS = ["", " ", "NULL", "null", "{}", "a,b", "it's", "\"quoted\"", "back\\slash", "{a,\"b\"}", "ä€😀", "line\nbreak", "A", "a", "é", "e\u0301"].freeze

  def test_keys_that_are_texts
    with_table do |schemas, connection|
      TEXTS.each.with_index(100) { |text, id| connection.exec_insert("INSERT INTO one_trip_owners (id, code) VALUES (#{id}, #{connection.quote(text)})") }
      TEXTS.each.with_index(100) { |text, id| connection.exec_insert("INSERT INTO one_trip_things (id, code, value) VALUES (#{id}, #{connection.quote(text)}, #{id})") }
      assert_one_trip "{ owners { id code coded { value code } } }", schemas, statements: 2
      assert_one_trip "{ owners { code coded { code coder { id coded { value } } } } }", schemas, statements: 4
    end
  end

  def test_keys_that_are_uuids
    with_table do |schemas, connection|
      connection.execute("UPDATE one_trip_owners SET token = md5(id::text)::uuid; UPDATE one_trip_things SET token = md5(owner_id::text)::uuid")
      assert_one_trip "{ owners { token tokened { value token } } }", schemas, statements: 2
    end
  end

  # Equal to the server, though their bytes differ.
  def test_keys_that_a_collation_takes_for_equal
    with_table do |schemas, connection|
      connection.execute("CREATE COLLATION IF NOT EXISTS one_trip_insensitive (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
      %w[one_trip_owners one_trip_things].each { |table| connection.execute("ALTER TABLE #{table} ALTER code TYPE text COLLATE one_trip_insensitive") }
      %w[A a b B].each.with_index(200) do |text, id|
        connection.execute("INSERT INTO one_trip_owners (id, code) VALUES (#{id}, '#{text}'); INSERT INTO one_trip_things (id, code, value) VALUES (#{id}, '#{text}', #{id})")
      end
      assert_plan "{ owners { id code coded { value code coder { id } } } }", schemas
    end
  end

  # More than one statement asks for.
  def test_many_keys
    with_table do |schemas, connection|
      connection.execute("INSERT INTO one_trip_owners (id, name) SELECT i, 'owner ' || i FROM generate_series(1000, 11010) i; INSERT INTO one_trip_things (id, owner_id, value) SELECT i, i, i FROM generate_series(1000, 11010) i")
      query = "{ owners { id things { value } } posts { author { name } } }"
      level_by_level = table_schemas(trips: :depth).last
      assert_equal level_by_level.execute(query).to_h, schemas.last.execute(query).to_h
      assert_equal [5, 1, 1], statements(query, schemas) # four of which one fails, and the owners by themselves
    end
  end

  def test_wide_trees
    query = "{ posts(limit: 3) { #{Array.new(40) { |i| "a#{i}: author { #{%w[name id].first((i % 2) + 1).join(" ")} p#{i}: posts { title } }" }.join(" ")} } }"
    assert_plan query
  end

  def test_unprepared
    without_prepared_statements { assert_one_trip "{ posts { title author { name } comments { body commenter { name } } } }", statements: 4 }
  end

  def test_options
    error = assert_raises(ArgumentError) { Class.new(GraphQL::Schema) { use Pipeloader, trips: :two } }
    assert_equal "trips must be one of [:auto, :depth, :one], got :two", error.message
    assert_equal %i[auto depth], [Class.new(GraphQL::Schema) { use Pipeloader, trips: :auto }, Class.new(GraphQL::Schema) { use Pipeloader, trips: :depth }].map { |it| it.pipeloader_options[:trips] }
  end

  class Owner < ActiveRecord::Base
    self.table_name = "one_trip_owners"
    has_many :things, -> { order(:id) }, class_name: "OneTripTest::Thing", inverse_of: :owner
    has_many :coded, -> { order(:id) }, class_name: "OneTripTest::Thing", primary_key: :code, foreign_key: :code, inverse_of: false
    has_many :tokened, -> { order(:id) }, class_name: "OneTripTest::Thing", primary_key: :token, foreign_key: :token
  end

  class Thing < ActiveRecord::Base
    self.table_name = "one_trip_things"
    self.primary_key = "id" # of the view, too
    belongs_to :owner, class_name: "OneTripTest::Owner", optional: true, inverse_of: :things
    belongs_to :coder, class_name: "OneTripTest::Owner", primary_key: :code, foreign_key: :code, optional: true, inverse_of: false
  end

  private

  # @return [Array<Integer>] of each burst
  def statements(query, schemas = pair) = WireCounter.events("burst.pipeloader") { schemas.last.execute(query) }.map { |it| it[:statements] }

  def assert_one_trip(query, schemas = pair, statements:, **options)
    assert_plan(query, schemas, **options)
    assert_equal [statements], statements(query, schemas), query
  end

  def with_table
    connection = ActiveRecord::Base.lease_connection
    connection.execute("CREATE TABLE one_trip_owners (id bigint PRIMARY KEY, name text, code text, token uuid); CREATE TABLE one_trip_things (id bigint PRIMARY KEY, owner_id bigint, code text, token uuid, value text); CREATE INDEX ON one_trip_things (owner_id)")
    connection.execute("INSERT INTO one_trip_owners SELECT i, 'owner ' || i, 'code ' || i FROM generate_series(1, 5) i; INSERT INTO one_trip_things (id, owner_id, code, value) SELECT i, i % 4, 'code ' || i, i FROM generate_series(1, 9) i")
    [Owner, Thing].each(&:reset_column_information)
    yield table_schemas, connection
  ensure
    connection.execute("DROP VIEW IF EXISTS one_trip_view; DROP TABLE one_trip_things, one_trip_owners")
  end

  def with_slow_view
    with_table do |schemas, connection|
      connection.execute(SLOW)
      Thing.table_name = "one_trip_view"
      query = "{ owners { name things { value owner { name } } } posts { title author { name } } }"
      yield schemas, query, assert_same_answer(query, schemas), connection
    ensure
      Thing.table_name = "one_trip_things"
    end
  end

  def table_schemas(trips: :one)
    thing, owner = type("Thing"), type("Owner")
    [thing, owner].each { |it| it.field(:id, GraphQL::Types::ID, null: false) && it.field(:code, String) && it.field(:token, String) }
    thing.field(:value, String) && thing.field(:owner, owner) && thing.field(:coder, owner)
    owner.field(:name, String)
    %i[things coded tokened].each { |name| owner.field(name, [thing], null: false) }
    schemas({ owners: [[owner], -> { Owner.order(:id) }], posts: [[Types::Post], -> { Post.order(:id) }] }, pipeloader: { trips: trips })
  end

  def without_prepared_statements
    connection = ActiveRecord::Base.lease_connection
    connection.unprepared_statement { yield }
  end
end

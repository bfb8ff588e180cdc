# frozen_string_literal: true

require_relative "../support/test_helper"

# Fields that change what their siblings could see: in a serial run each is done before the next begins.
class SiblingsTest < PipeloaderTest
  TENANT = "SELECT coalesce(nullif(current_setting('app.tenant', true), ''), 'none')"

  class Note < ActiveRecord::Base
    self.table_name = "tags"
    after_commit { @seen = ::Tag.where(name: name).count }
    attr_reader :seen
  end

  def connection = ActiveRecord::Base.lease_connection

  def setup
    return if connection.select_value("SELECT to_regclass('tenant.posts')::text")

    connection.execute("CREATE SEQUENCE tick; CREATE SCHEMA tenant; CREATE TABLE tenant.posts AS SELECT * FROM posts WHERE false")
    %w[set_it sets_it].each { |name| connection.execute("CREATE FUNCTION #{name}(text) RETURNS void AS $$ SELECT set_config('app.tenant', $1, false) $$ LANGUAGE sql") }
    connection.execute("CREATE PROCEDURE calls_it(text) AS $$ SELECT set_config('app.tenant', $1, false) $$ LANGUAGE sql")
  end

  # Each of the two runs begins with no tag that these tests have made.
  def assert_siblings(fields, &resolver)
    before = lambda do
      Tag.where("name LIKE 'new%'").delete_all
      connection.execute("ALTER SEQUENCE tick RESTART; RESET app.tenant")
    end
    plain, piped = Schemas.resolve(fields, before: before, &resolver)
    assert_equal plain, piped
    plain
  ensure
    before&.call
  end

  # -- what a field sets in the session, until it sets it back ---------------------------------------------------------

  def test_search_path
    counts = assert_siblings(5) do |index|
      connection = ActiveRecord::Base.lease_connection
      next Post.unscoped.count if index.even?

      before = connection.schema_search_path
      begin
        connection.schema_search_path = "tenant, public"
        Post.unscoped.count
      ensure
        connection.schema_search_path = before
      end
    end
    assert_equal [0, 0], counts.values_at(1, 3)
    refute_includes counts.values_at(0, 2, 4), 0
  end

  def test_set_local_by_select_value_in_the_callers_transaction
    Post.transaction do
      tenants = assert_siblings(5) do |index|
        connection = ActiveRecord::Base.lease_connection
        next connection.select_value("#{TENANT} || #{index}") if index.even?

        connection.select_value("SET LOCAL app.tenant = '#{index}'")
        connection.select_value("#{TENANT} || ' of #{index}'").tap { connection.select_value("SET LOCAL app.tenant = ''") }
      end
      assert_equal ["none0", "1 of 1", "none2", "3 of 3", "none4"], tenants
    end
  end

  def test_session_authorization
    role = "pipeloader_sibling_#{Process.pid}"
    Post.connection.execute("CREATE ROLE #{role}")
    users = assert_siblings(5) do |index|
      connection = ActiveRecord::Base.lease_connection
      asked = "SELECT session_user || #{index} FROM generate_series(1, 1)"
      next connection.select_value(asked) if index.even?

      begin
        connection.session_auth = role
        connection.select_value(asked)
      ensure
        connection.session_auth = "DEFAULT"
      end
    end
    assert_equal ["#{role}1", "#{role}3"], users.grep(/#{role}/)
  ensure
    Post.connection.execute("DROP ROLE IF EXISTS #{role}")
  end

  {
    set: [->(it) { it.execute("SET app.tenant = '1'") }, ->(it) { it.execute("RESET app.tenant") }],
    set_by_exec_query: [->(it) { it.exec_query("/* for one */ SET app.tenant = '1'") }, ->(it) { it.exec_query("RESET app.tenant") }],
    set_by_do: [->(it) { it.execute("DO $$ BEGIN PERFORM set_config('app.tenant', '1', false); END $$") }, ->(it) { it.execute("RESET app.tenant") }],
    set_config_by_execute: [->(it) { it.execute("SELECT set_config('app.tenant', '1', false)") },
                            ->(it) { it.exec_query("SELECT set_config('app.tenant', '', false)") }],
    set_by_update: [->(it) { it.update("SET app.tenant = '1'") }, ->(it) { it.update("RESET app.tenant") }],
    set_config_by_query_value: [->(it) { it.query_value("SELECT set_config('app.tenant', '1', false)") },
                                ->(it) { it.query_value("SELECT set_config('app.tenant', '', false)") }],
    set_by_raw_connection: [->(it) { it.raw_connection.exec("SET app.tenant = '1'") }, ->(it) { it.raw_connection.exec("RESET app.tenant") }],
    set_by_select_all: [->(it) { it.select_all("SET app.tenant = '1'") }, ->(it) { it.select_all("RESET app.tenant") }],
    set_by_select_value: [->(it) { it.select_value("SET app.tenant = '1'") }, ->(it) { it.select_value("RESET app.tenant") }],
    set_in_a_transaction: [->(it) { it.transaction { it.select_value("SET app.tenant = '1'") } }, ->(it) { it.execute("RESET app.tenant") }],
    function_by_execute: [->(it) { it.execute("SELECT sets_it('1')") }, ->(it) { it.execute("SELECT sets_it('')") }],
    procedure: [->(it) { it.execute("CALL calls_it('1')") }, ->(it) { it.execute("CALL calls_it('')") }],
    function_by_exec_query: [->(it) { it.exec_query("SELECT sets_it('1')") }, ->(it) { it.exec_query("SELECT sets_it('')") }],
    function_by_query_value: [->(it) { it.query_value("SELECT sets_it('1')") }, ->(it) { it.query_value("SELECT sets_it('')") }],
    function_by_select_value: [->(it) { it.select_value("SELECT set_it('1')") }, ->(it) { it.select_value("SELECT set_it('')") }],
    function_among_others: [->(it) { it.select_all("SELECT 1 AS one, set_it('1') AS it") }, ->(it) { it.select_all("SELECT set_it(''), 1") }],
    function_in_a_transaction: [->(it) { it.transaction { it.select_all("SELECT 1, set_it('1')") } }, ->(it) { it.transaction { it.select_all("SELECT 1, set_it('')") } }],
    function_of_a_row: [->(it) { it.select_value("SELECT set_it('1') FROM posts LIMIT 1") }, ->(it) { it.select_value("SELECT set_it('') FROM posts LIMIT 1") }],
    set_config_in_a_transaction: [->(it) { it.transaction { it.select_value("SELECT set_config('app.tenant', '1', false)") } },
                                  ->(it) { it.transaction { it.select_value("SELECT set_config('app.tenant', '', false)") } }],
    set_config: [->(it) { it.select_value("SELECT set_config('app.tenant', '1', false)") },
                 ->(it) { it.select_value("SELECT set_config('app.tenant', '', false)") }]
  }.each do |name, (set, reset)|
    define_method(:"test_#{name}") do
      tenants = assert_siblings(5) do |index|
        connection = ActiveRecord::Base.lease_connection
        Post.count
        next connection.select_value(TENANT) if index.even?

        begin
          set.call(connection)
          connection.select_value(TENANT)
        ensure
          reset.call(connection)
        end
      end
      assert_equal %w[none 1 none 1 none], tenants
    end
  end

  def test_transaction_by_hand
    assert_siblings(3) do |index|
      connection = ActiveRecord::Base.lease_connection
      next Tag.where("name LIKE 'new%'").count unless index == 1

      connection.execute("BEGIN")
      Tag.insert({ name: "new" })
      Tag.where(name: "new").count.tap { connection.execute("ROLLBACK") }
    end
  end

  # The session's lock would let every sibling in.
  def test_advisory_lock
    assert_siblings(3) do
      connection = ActiveRecord::Base.lease_connection
      connection.select_value("SELECT pg_advisory_lock(77)::text")
      begin
        Tag.create!(name: "new") if Tag.where(name: "new").none?
        Tag.where(name: "new").count
      ensure
        connection.select_value("SELECT pg_advisory_unlock(77)")
      end
    end
  end

  # Who sets something in one field, parks again in the next.
  def test_only_the_field_that_sets_reads_at_once
    bursts = WireCounter.events("burst.pipeloader") do
      Schemas.resolve(4) do |index|
        setting = ActiveRecord::Base.lease_connection
        setting.execute("SET app.tenant = '1'") if index.zero?
        [Post.count, Tag.count].tap { setting.execute("RESET app.tenant") if index.zero? }
      end
    end
    assert_equal([1, 1, 3, 3], bursts.map { |burst| burst[:reads].size })
  end

  # -- who reads, and writes what he hasn't found ----------------------------------------------------------------------

  %i[find_or_create_by find_or_create_by!].each do |name|
    define_method(:"test_#{name}") { assert_equal [1] * 3, assert_siblings(3) { Tag.public_send(name, name: "new") && Tag.where(name: "new").count } }
  end

  %i[first_or_create first_or_create!].each do |name|
    define_method(:"test_#{name}") { assert_equal [1] * 3, assert_siblings(3) { Tag.where(name: "new").public_send(name) && Tag.where(name: "new").count } }
  end

  def test_find_or_create_by_of_an_association
    assert_equal [1] * 3, assert_siblings(3) { Post.find(1).tags.find_or_create_by!(name: "new one") && Tag.where(name: "new one").count }
  ensure
    Tagging.where(tag_id: Tag.where("name LIKE 'new%'")).delete_all
  end

  # -- after a commit ActiveRecord holds the connection's lock ---------------------------------------------------------

  def test_after_commit_that_reads
    seen = assert_siblings(4) { |index| index.even? ? Note.create!(name: "new").seen : Note.where(name: "new").count }
    assert_equal [1, 1, 2, 2], seen
  end

  def test_after_commit_that_reads_on_a_pinned_connection
    pool = ActiveRecord::Base.connection_pool
    pool.pin_connection!(true)
    test_after_commit_that_reads
  ensure
    pool.unpin_connection!
  end

  # -- in which order --------------------------------------------------------------------------------------------------

  # A field with arguments is resolved by a later job than one without.
  def test_sequence_with_and_without_arguments
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field(:tick_by, Integer) { argument :by, Integer }
      field :tick, Integer
      def tick_by(by:) = ActiveRecord::Base.lease_connection.select_value("SELECT #{by} * nextval('tick')")
      def tick = ActiveRecord::Base.lease_connection.select_value("SELECT nextval('tick')")
    end
    answers = Schemas.make(query: query, mutation: nil).map do |schema|
      connection.execute("ALTER SEQUENCE tick RESTART")
      schema.execute("{ a: tickBy(by: 1) b: tick c: tickBy(by: 10) d: tick }").to_h
    end
    assert_equal({ "data" => { "a" => 1, "b" => 2, "c" => 30, "d" => 4 } }, answers.first)
    assert_equal answers.first, answers.last
  end

  # Queries before a mutation don't see what it writes, those behind it do. (Execution::Next runs the queries first, wherever they
  # stand.)
  def test_mutation_in_a_multiplex
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :titles, [String]
      def titles = Post.count && Post.order(:id).limit(2).map { |post| "#{post.title} #{post.comments.count}" }
    end
    mutation = Class.new(GraphQL::Schema::Object) do
      graphql_name "Mutation"
      field(:rename, String) { argument :to, String }
      def rename(to:) = Post.find(1).tap { |post| post.update!(title: to) }.title
    end
    operations = ["{ titles }", 'mutation { rename(to: "new") }', "{ titles }", 'mutation { rename(to: "newer") }', "{ titles }"]
    answers = Schemas.make(query: query, mutation: mutation).map do |schema|
      Post.find(1).update!(title: "post 1")
      schema.multiplex(operations.map { |text| { query: text } }).map(&:to_h)
    end
    assert_equal answers.first, answers.last
    assert_equal(Engine::NEXT ? %w[post post post] : %w[post new newer], answers.last.values_at(0, 2, 4).map { |answer| answer["data"]["titles"].first[/\w+/] })
  ensure
    Post.find(1).update!(title: "post 1")
  end
end

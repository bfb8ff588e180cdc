# frozen_string_literal: true

require_relative "../support/plans"

# A resolver that changes the database session and leaves it so: fields below and behind see it, in graphql-ruby's order.
class LeftSettingsTest < PlanTest
  # As row-level security would: what a statement says depends on the session.
  DEFINITION = "SELECT coalesce(nullif(current_setting('app.tenant', true), ''), 'none') AS name"
  ActiveRecord::Base.connection.execute("CREATE VIEW left_tenants AS #{DEFINITION}")
  TENANT = "SELECT name FROM left_tenants"

  TENANTS = type("LeftTenant") do
    field :n, String
    field :below, self
    def n = ::Post.connection.select_value(TENANT)
    def below = ::Post.count && object
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :tenant, TENANTS do
      argument :id, Integer
    end
    field :n, String
    field :deep, TENANTS
    def n = ::Tag.count && ::Post.connection.select_value(TENANT)
    def deep = ::Post.count && { id: 0 }
    def tenant(id:) = context[:set].call(id) && { id: id }
  end

  CONNECTION = -> { ActiveRecord::Base.connection }
  WAYS = {
    execute: ->(id) { CONNECTION.call.execute("SET app.tenant = '#{id}'") },
    session: ->(id) { CONNECTION.call.execute("/* ours */ SET SESSION app.tenant TO '#{id}';") },
    exec_query: ->(id) { CONNECTION.call.exec_query("set app.tenant = '#{id}'") },
    set_config: ->(id) { CONNECTION.call.select_value("SELECT set_config('app.tenant', '#{id}', false)") },
    select_all: ->(id) { CONNECTION.call.select_all("SET app.tenant = '#{id}'") },
    select_value: ->(id) { CONNECTION.call.select_value("SET app.tenant = '#{id}'") || true },
    update: ->(id) { CONNECTION.call.update("SET app.tenant = '#{id}'") || true }
  }.freeze

  TEXTS = ["{ a: tenant(id: 1) { n } b: tenant(id: 2) { n } n }", "{ n deep { below { below { n } } } tenant(id: 3) { n } after: n }",
           "{ a: tenant(id: 1) { below { n } } b: tenant(id: 2) { below { below { n } } } }"].freeze

  def setup
    super
    Pipeloader.breaker.reset
  end

  def teardown
    Pipeloader.breaker.reset
    CONNECTION.call.execute("RESET app.tenant")
    super
  end

  # What was set before the query is so again, where it begins once more.
  def test_a_setting_from_before
    plain, piped = pair.map do |schema|
      CONNECTION.call.execute("SET app.tenant = '7'")
      answer = nil
      warnings { answer = schema.execute(TEXTS[1], context: { set: WAYS[:execute] }).to_h }
      [text_of(answer), CONNECTION.call.select_value(TENANT)]
    end
    assert_equal plain, piped
  end

  # What begins once more for another reason begins in the same session.
  def test_where_something_is_raised_behind_it
    text = "{ n tenant(id: 3) { n } hidden { title } after: n }"
    hidden = type("LeftHidden") { field :title, String; def self.authorized?(*) = false }
    query = Class.new(Query) { graphql_name "Query"; field :hidden, hidden; def hidden = ::Post.find(1) }
    plain, piped = Schemas.make(query: query, mutation: nil, pipeloader: { breaker: true }) do
      rescue_from(KeyError) { raise GraphQL::ExecutionError, "handled" }
      define_singleton_method(:unauthorized_object) { |_| ::Post.count && raise(KeyError) }
    end.map do |schema|
      CONNECTION.call.execute("RESET app.tenant")
      answer = nil
      warnings { answer = text_of(outcome { schema.execute(text, context: { set: WAYS[:execute] }).to_h }) }
      answer
    end
    assert_equal plain, piped
  end

  # A connection that is given back when its block ends is somebody else's: it isn't asked, and isn't put back.
  def test_a_connection_that_is_given_back
    CONNECTION.call.execute("SET app.tenant = '7'")
    ActiveRecord::Base.release_connection
    asked = 0
    set = ->(id) { (asked += 1) && ::Post.with_connection { |it| [id, 7].each { |one| it.execute("SET app.tenant = '#{one}'") } } }
    pair.last.execute("{ n tenant(id: 3) { n } }", context: { set: set })
    assert_equal [1, []], [asked, Pipeloader.breaker.open]
  end

  # What was set for the caller's transaction isn't put back for the session.
  def test_in_a_transaction
    said = pair.map do |schema|
      ActiveRecord::Base.transaction do
        CONNECTION.call.execute("SET LOCAL app.tenant = '5'")
        warnings { schema.execute("{ n tenant(id: 7) { n } after: n }", context: { set: ->(id) { CONNECTION.call.select_value("SELECT set_config('app.tenant', '#{id}', true)") } }) }
      end
      CONNECTION.call.select_value(TENANT)
    end
    assert_equal %w[none none], said
  end

  # One of a library that the query has loaded: it has a default by then, and takes no empty text.
  def test_a_setting_of_a_library
    [nil, "RESET pg_trgm.similarity_threshold"].each do |reset|
      Pipeloader.breaker.reset
      connection = CONNECTION.call
      connection.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
      connection.reconnect!
      set = lambda do |_|
        CONNECTION.call.execute("SET pg_trgm.similarity_threshold = 0.5")
        CONNECTION.call.select_value("SELECT similarity('a', 'b')::text")
        reset ? CONNECTION.call.execute(reset) : true
      end
      answer = nil
      warnings { answer = pair.last.execute("{ n tenant(id: 3) { n } }", context: { set: set }).to_h }
      assert_equal [nil, reset ? 0 : 1], [answer["errors"], Pipeloader.breaker.open.size]
    end
  end

  def test_a_connection_without_a_pool
    connection = ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.new(::Post.connection_db_config.configuration_hash)
    answer = pair.last.execute("{ tenant(id: 3) { n } }", context: { set: ->(_) { connection.select_value("SELECT 1") && connection.execute("SET statement_timeout = 100") } }).to_h
    assert_nil answer["errors"]
  ensure
    connection.disconnect!
  end

  # A timeout that a resolver takes for an answer ends nothing.
  def test_behind_a_timeout
    set = ->(id) { (Timeout.timeout(0.01) { sleep(1) } rescue nil) || CONNECTION.call.execute("SET app.tenant = '#{id}'") }
    assert_alike(TEXTS.first, set)
  end

  # As in a transactional test whose server answers on another thread.
  def test_a_pinned_connection_of_another_thread
    pool = ActiveRecord::Base.connection_pool
    pool.pin_connection!(true)
    ActiveRecord::Base.connection.execute("SET app.tenant = '7'")
    set = ->(id) { [id, 7].each { |one| CONNECTION.call.execute("SET app.tenant = '#{one}'") } }
    Thread.new { pair.last.execute("{ n tenant(id: 3) { n } }", context: { set: set }) }.join
    assert_empty Pipeloader.breaker.open
  ensure
    pool.unpin_connection!
  end

  # What is interrupted leaves at once, and isn't asked.
  def test_what_is_interrupted
    set = ->(_) { CONNECTION.call.execute("SET app.tenant = '3'") && CONNECTION.call.execute("SELECT pg_sleep(4)") }
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_raises(Timeout::Error) { Timeout.timeout(0.5) { pair.last.execute("{ tenant(id: 3) { n } }", context: { set: set }) } }
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, :<, 3
  end

  def test_names
    { "SET a.b = 1; SET LOCAL c = 2" => %w[a.b], "set time zone 'UTC'" => %w[timezone], "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY" => [],
      "/* x */ RESET \"q\"" => %w[q], "SELECT set_config('x.y', '1', false), set_config('z', $1, true)" => %w[x.y z], "-- one\nRESET TIME ZONE" => %w[timezone], "SET ROLE me" => %w[role],
      "SET SCHEMA 'a'" => %w[search_path], "RESET ALL" => [], "SET TRANSACTION READ ONLY" => [], "SET x TO DEFAULT" => %w[x] }.each do |sql, names|
      assert_equal names, Pipeloader::LeftSettings.names(sql), sql
    end
    assert_equal [true, true, false, false], ["SET a = 1;", " reset a", "SET a = 1; DELETE FROM x", "SET TRANSACTION READ ONLY"].map { |sql| Pipeloader::LeftSettings.alone?(sql) }
  end

  { writer: ->(path) { CONNECTION.call.schema_search_path = path }, sql: ->(path) { CONNECTION.call.execute("SET search_path TO #{path}") } }.each do |name, set|
    define_method(:"test_a_search_path_by_#{name}") do
      path = CONNECTION.call.schema_search_path
      CONNECTION.call.execute("CREATE SCHEMA left_here; CREATE VIEW left_here.left_tenants AS SELECT text 'here' AS name")
      plain, piped = pair.map do |schema|
        answer = nil
        warnings { answer = schema.execute(TEXTS[1], context: { set: ->(_) { set.call("left_here, public") } }).to_h }
        [text_of(answer), CONNECTION.call.schema_search_path]
      ensure
        set.call(path)
      end
      assert_equal plain, piped
    ensure
      CONNECTION.call.execute("DROP SCHEMA left_here CASCADE")
    end
  end

  def test_a_session_authorization
    role = "pipeloader_left_#{Process.pid}"
    CONNECTION.call.execute("CREATE ROLE #{role} SUPERUSER")
    CONNECTION.call.execute("CREATE OR REPLACE VIEW left_tenants AS SELECT session_user::text COLLATE \"default\" AS name")
    plain, piped = pair.map do |schema|
      answer = nil
      warnings { answer = schema.execute(TEXTS[1], context: { set: ->(_) { CONNECTION.call.session_auth = role } }).to_h }
      [text_of(answer), CONNECTION.call.select_value(TENANT)]
    ensure
      CONNECTION.call.session_auth = "DEFAULT"
    end
    assert_equal plain, piped
    assert_equal role, plain.last
  ensure
    CONNECTION.call.execute("CREATE OR REPLACE VIEW left_tenants AS #{DEFINITION}")
    CONNECTION.call.execute("DROP ROLE IF EXISTS #{role}")
  end

  WAYS.each do |name, set|
    TEXTS.each_with_index do |text, index|
      define_method(:"test_#{name}_#{index}") { assert_alike(text, set) }
    end
  end

  # From then on graphql-ruby executes the operation: it says why.
  def test_it_is_told
    schema = pair.last
    warned = warnings { schema.execute(TEXTS.first, context: { set: WAYS[:execute] }) }
    assert_match(/changes settings of the database session \(app\.tenant\) and leaves them so/, warned.join)
    assert_equal 1, Pipeloader.breaker.open.size
    assert_empty(WireCounter.events("burst.pipeloader") { schema.execute(TEXTS.first, context: { set: WAYS[:execute] }) })
  end

  # By a second text; by what a transaction ends; as it was before.
  def test_what_is_put_back
    schema = pair.last
    CONNECTION.call.execute("SET app.tenant = '7'")
    { "{ tenant(id: 1) { n } }" => ->(id) { [id, 7].each { |it| WAYS[:execute].call(it) } },
      "{ tenant(id: 7) { n } n }" => WAYS[:execute],
      "{ tenant(id: 1) { n } n }" => ->(id) { ActiveRecord::Base.transaction { CONNECTION.call.execute("SET LOCAL app.tenant = '#{id}'") } },
      "{ a: tenant(id: 1) { n } n }" => ->(id) { CONNECTION.call.execute("SET app.tenant = '#{id}'") && CONNECTION.call.select_value("SELECT set_config('app.tenant', '7', false)") } }.each do |text, set|
      schema.execute(text, context: { set: set })
      assert_empty Pipeloader.breaker.open
    end
  end

  # Nothing that has written is executed again.
  def test_after_a_write
    written = 0
    set = ->(id) { WAYS[:execute].call(id) && (written += ::Post.where(id: 1).update_all("likes = likes")) }
    warnings { pair.last.execute(TEXTS.first, context: { set: set }) }
    assert_equal 2, written
  end

  private

  def pair = Schemas.make(query: Query, mutation: nil, pipeloader: { breaker: true })

  def assert_alike(text, set)
    plain, piped = pair.map do |schema|
      Array.new(3) do
        answer = nil
        warnings { answer = text_of(outcome { schema.execute(text, context: { set: set }).to_h }) }
        CONNECTION.call.execute("RESET app.tenant")
        answer
      end
    end
    assert_equal plain, piped
  end

  # @return [Array<String>] what Pipeloader's warnings say
  def warnings
    said = []
    Pipeloader::Notice.stub(:warn, ->(text, *) { said << text }) { yield }
    said
  end
end

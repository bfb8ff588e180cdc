# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/web_case"

# EXPLAIN of what was recorded.
class PlansTest < PipeloaderTest
  include WebCase

  PAGE = { sec_fetch_site: "same-origin" }.freeze

  def setup
    super
    Pipeloader::Web.explain = true
  end

  def teardown
    Pipeloader::Web.explain = nil
    super
  end

  def statements = details[:last][:bursts].flat_map { |it| it[:sql] }
  def path(statement) = "/operations/#{operations.first[:id]}/plans/#{statement[:id]}"
  def plan(statement = statements.first, **headers) = json(path(statement), method: "POST", **PAGE, **headers)

  def test_statements_of_a_response
    piped.execute(WebCase::QUERY)
    all = statements
    assert_operator all.size, :>, 1
    all.each do |it|
      told = plan(it)
      assert_equal [:plan], told.keys, told.inspect
      assert_match(/\(cost=\d/, told[:plan], it[:text])
      refute_match(/One-Time Filter: false/, told[:plan], it[:text]) unless it[:text].include?(" IS NULL") # as with a bind of NULL
    end
    assert_match(/\$1/, all.map { |it| plan(it)[:plan] }.join) if all.any? { |it| it[:text].include?("$1") }
  end

  def test_binds
    schema_of { |title| Post.where(title: title).pluck(:title) }.execute('{ found(title: "hush") }')
    assert_match(/= \$1/, plan[:plan])
  end

  # Nothing of it stays: neither the statement, nor a setting, nor a transaction.
  def test_the_connection_is_as_it_was
    piped.execute(WebCase::QUERY)
    ask = -> { ActiveRecord::Base.connection.select_rows("SELECT name FROM pg_prepared_statements WHERE name LIKE 'pipeloader_plan%' UNION ALL SELECT current_setting(it) FROM unnest(ARRAY['transaction_read_only', 'statement_timeout', 'plan_cache_mode']) it").flatten }
    before = ask.call
    2.times { plan }
    assert_equal [before, false], [ask.call, ActiveRecord::Base.connection.transaction_open?]
  end

  def test_within_a_transaction
    piped.execute(WebCase::QUERY)
    User.transaction do
      User.create!(id: 4711, name: "New")
      assert_equal [:plan], plan.keys
      assert_equal 1, User.where(id: 4711).count
      User.where(id: 4711).update_all(name: "Newer") # it isn't read-only
      raise ActiveRecord::Rollback
    end
  end

  # -- what it must not do -------------------------------------------------------------------------------------------------

  # It isn't executed, and what is behind a semicolon neither.
  def test_nothing_is_executed
    connection = ActiveRecord::Base.connection
    connection.execute("CREATE TABLE plans_told (id int); CREATE FUNCTION plans_tell() RETURNS int LANGUAGE sql AS 'INSERT INTO plans_told VALUES (1) RETURNING id'")
    texts = ["SELECT plans_tell()::text", "SELECT 1; COMMIT; INSERT INTO plans_told VALUES (2)", "WITH x AS (INSERT INTO plans_told VALUES (3) RETURNING id) SELECT * FROM x",
             "SELECT pg_sleep(3)::text"]
    pool = ActiveRecord::Base.connection_pool
    told = texts.map { |text| Pipeloader::QueryPlan.new(text, pool, values: true).to_h }
    assert_equal %i[plan failure plan plan], told.map { |it| it.keys.first }, told.inspect
    assert_match(/cannot insert multiple commands/, told[1][:failure])
    assert_equal 0, connection.select_value("SELECT count(*) FROM plans_told")
  ensure
    connection.execute("DROP FUNCTION IF EXISTS plans_tell(); DROP TABLE IF EXISTS plans_told")
  end

  # To plan it, PostgreSQL calls a function that says of itself that it is immutable. It can't write.
  def test_what_planning_executes_cannot_write
    connection = ActiveRecord::Base.connection
    connection.execute(<<~SQL)
      CREATE TABLE plans_told (id int);
      CREATE FUNCTION plans_tell() RETURNS int LANGUAGE sql AS 'INSERT INTO plans_told VALUES (1) RETURNING id';
      CREATE FUNCTION plans_lie() RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN plans_tell(); END'
    SQL
    told = Pipeloader::QueryPlan.new("SELECT plans_lie()", ActiveRecord::Base.connection_pool, values: true).to_h
    assert_equal({ failure: "cannot execute INSERT in a read-only transaction" }, told)
    assert_equal 0, connection.select_value("SELECT count(*) FROM plans_told")
  ensure
    connection.execute("DROP FUNCTION IF EXISTS plans_lie(); DROP FUNCTION IF EXISTS plans_tell(); DROP TABLE IF EXISTS plans_told")
  end

  def test_only_selects_are_named
    assert_equal [true] * 3 + [false] * 4, ["SELECT 1", "  (select 1)", "WITH x AS (SELECT 1) SELECT * FROM x", "SHOW all", "EXPLAIN ANALYZE SELECT 1", "VALUES (1)", "selecta"].map { |it| Pipeloader::QueryPlan.of?(it) }
    schema_of { Post.connection.select_values("SHOW server_version") + Post.where("title <> '#{"x" * 3_000}'").limit(1).pluck(:title) }.execute("{ found }")
    assert_equal [nil] * statements.size, statements.map { |it| it[:id] }
  end

  # -- failures ------------------------------------------------------------------------------------------------------------

  def test_a_table_that_is_gone
    schema = schema_of { Post.connection.select_values("SELECT name FROM plans_gone WHERE name = 'hush'") }
    ActiveRecord::Base.connection.execute("CREATE TABLE plans_gone (name text)")
    schema.execute("{ found }")
    ActiveRecord::Base.connection.execute("DROP TABLE plans_gone")
    assert_equal({ failure: 'relation "…" does not exist' }, plan)
    assert_equal 1, ActiveRecord::Base.connection.select_value("SELECT 1")
  end

  def test_a_lock_that_is_waited_for
    piped.execute(WebCase::QUERY)
    statement = statements.first
    ActiveRecord::Base.connection # so that the other thread has one of its own
    locked, done = Queue.new, Queue.new
    thread = Thread.new do
      ActiveRecord::Base.connection_pool.with_connection do |connection|
        connection.transaction { [connection.execute("LOCK TABLE posts IN ACCESS EXCLUSIVE MODE"), locked << true, done.pop] }
      end
    end
    locked.pop
    assert_equal({ failure: "canceling statement due to statement timeout" }, plan(statement))
  ensure
    done << true
    thread.join
  end

  def test_no_connection
    pool = Object.new
    pool.define_singleton_method(:pool_config) { self }
    pool.define_singleton_method(:pool) { self }
    pool.define_singleton_method(:with_connection) { raise ActiveRecord::ConnectionTimeoutError, "all are busy" }
    assert_equal({ failure: "ActiveRecord::ConnectionTimeoutError: all are busy" }, Pipeloader::QueryPlan.new("SELECT 1", pool, values: true).to_h)
  end

  # -- values --------------------------------------------------------------------------------------------------------------

  def test_no_values
    schema = schema_of { |title| Post.where("title = '#{title}' AND likes = 4711").pluck(:title) }
    schema.execute('{ found(title: "hush\n(cost=1)") }')
    told = plan[:plan]
    refute_match(/hush|4711|cost=1\)/, told)
    assert_match(/title.* = '…'.*likes = …/m, told)
    assert_match(/\(cost=[\d.]+ rows=\d+ width=\d+\)/, told)
    Pipeloader::Web.binds = true
    Pipeloader::Web.clear # so that the next execution is shown
    schema.execute('{ found(title: "hush") }')
    assert_match(/hush.*4711|4711.*hush/m, plan[:plan])
  end

  MESSAGES = { quoted: ['invalid input syntax for type integer: "hush"', 'invalid input syntax for type integer: "…"'],
               cut: ['near "hush', 'near "…"'], single: ["near 'hush' at 12", "near '…' at …"] }.freeze

  each_case(MESSAGES, :message) { |given, masked| assert_equal masked, Pipeloader::Masked.message(given) }

  # -- who may ask ---------------------------------------------------------------------------------------------------------

  def test_where_it_is_allowed
    piped.execute(WebCase::QUERY)
    path = path(statements.first)
    ask = -> { [call(path, method: "POST", **PAGE).first, details[:explains]] }
    expected = { true => [200, true], false => [403, false], nil => [403, false] }
    assert_equal expected, [true, false, nil].to_h { |value| [value, with_rails("production") { (Pipeloader::Web.explain = value).then { ask.call } }] }
    Pipeloader::Web.explain = nil
    assert_equal [[200, true], [403, false]], [with_rails("development", &ask), ask.call]
    Pipeloader::Web.explain = false
    assert_equal [403, false], with_rails("development", &ask)
    assert_raises(ArgumentError) { Pipeloader::Web.explain = :always }
  end

  def test_the_gate_is_asked_first
    piped.execute(WebCase::QUERY)
    path = path(statements.first)
    Pipeloader::Web.authorize { |env| env["HTTP_X_USER"] == "admin" }
    assert_equal [403, 200], [call(path, method: "POST", **PAGE).first, call(path, method: "POST", x_user: "admin", **PAGE).first]
  end

  # Nor does anything else but the page ask, and nobody sends SQL.
  def test_what_is_asked_for
    piped.execute(WebCase::QUERY)
    path = path(statements.first)
    assert_equal [403, 403, 404], [call(path, method: "POST"), call(path, method: "POST", sec_fetch_site: "cross-site"), call(path)].map(&:first)
    unknown = [path.sub(/\h{16}\z/, "0" * 16), path.sub(%r{operations/\h{16}}, "operations/#{"0" * 16}"), "#{path}0", "#{path}\n", "#{path}?sql=SELECT"]
    assert_equal [404] * 5, unknown.map { |it| call(it, method: "POST", **PAGE).first }
    Pipeloader::Web.clear
    assert_equal 404, call(path, method: "POST", **PAGE).first
  end
end

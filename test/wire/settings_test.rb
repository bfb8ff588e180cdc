# frozen_string_literal: true

require_relative "settings_case"
require_relative "unstruck"

# `use Pipeloader, settings:`. Each answer must be what the same schema without Pipeloader gives in a transaction with SET LOCAL.
class SettingsTest < WireCase
  include SettingsCase

  def setup
    super
    connect_gated(min_messages: "error", pool: 3, checkout_timeout: 60)
    fill
  end

  def teardown
    release
    assert_pool_sound(Gated.connection_pool)
    assert_nothing_left
  ensure
    super
  end

  # -- reads -----------------------------------------------------------------------------------------------------------

  def test_each_tenant_has_its_rows
    3.times do
      TENANTS.each do |tenant|
        answer = assert_as_local(ALL, tenant)
        assert_equal 6, answer.dig("data", "count")
        assert_equal [tenant == 1, tenant == 2], [answer.dig("data", "b", "body") == "t1 note 2", answer.dig("data", "a", "body") == "t2 note 1"]
        assert_as_local(OPAQUE, tenant)
      end
    end
  end

  [{ coalesce: false }, { compile: false }, { forecast: false }, { field_exact: true }, { fiber_limit: 5 }].each do |options|
    define_method(:"test_with_#{options.keys.first}") do
      schema = SettingsCase.schema({ settings: SETTINGS, **options })
      2.times { TENANTS.each { |tenant| [ALL, OPAQUE].each { |query| assert_as_local(query, tenant, schema: schema) } } }
    end
  end

  def test_unprepared
    connect_gated(min_messages: "error", pool: 3, prepared_statements: false)
    2.times { TENANTS.each { |tenant| [ALL, OPAQUE].each { |query| assert_as_local(query, tenant) } } }
  end

  # The response's rows are its tenant's, also when it is over.
  def test_columns_that_are_first_read_later
    kept = nil
    query = Class.new(SettingsCase::Query) do
      graphql_name "Query"
      field :kept, [SettingsCase::Note]
      define_method(:kept) { kept = SettingsCase::TenantNote.order(:id) }
    end
    schema = WireCase.schema_of(query, SettingsCase::Mutation, { settings: SETTINGS, field_exact: true, compile: false }, [])
    TENANTS.each do |tenant|
      [-> { assert_equal 6, kept.map(&:body).size }, -> { Gated.transaction { assert_equal 6, kept.map(&:body).size } }].each do |later|
        piped("{ kept { id } }", tenant, schema: schema)
        events = WireCounter.events("projection_miss.pipeloader") { as_tenants(&later) }
        assert_equal [1, ["t#{tenant}"]], [events.size, kept.map { |note| note.body[/t\d/] }.uniq]
      end
    end
    assert_nothing_left
  end

  # As many as without.
  def test_round_trips
    without = SettingsCase.schema({})
    2.times { [piped(ALL, 1), piped(ALL, 1, schema: without)] }
    count = WireCounter.trips { piped(ALL, 1, schema: without) }.size
    assert_round_trips(count) { piped(ALL, 1) }
    assert_round_trips(1) { piped("{ bodies count }", 1) }
    assert_round_trips(1) { piped("{ count }", 2) }
    # Nor is there a transaction of ActiveRecord's.
    assert_equal(["SettingsCase::TenantNote Count"], WireCounter.events("sql.active_record") { piped("{ count }", 2) }.map { |it| it[:name] })
  end

  # Executed without Pipeloader it would have none.
  def test_never_rests
    refute SettingsCase.schema({ settings: SETTINGS, rest: true }).pipeloader_options[:rest]
    assert SettingsCase.schema({ rest: true }).pipeloader_options[:rest]
  end

  def test_the_server_has_them_in_a_transaction_of_the_read_alone
    seen = run_piped(2) { Gated.with_connection { |it| it.select_rows("SELECT current_user::text, current_setting('app.tenant_id'), current_setting('application_name')") } }
    assert_includes seen, %(["#{ROLE}", "2", )
    assert_nothing_left
  end

  def test_other_settings
    schema = SettingsCase.schema({ settings: ->(_) { { "application_name" => "a 'quoted' \"name\"", statement_timeout: 1234, "work_mem" => nil, "search_path" => "public, pg_temp" } } })
    names = "SELECT current_setting('application_name'), current_setting('statement_timeout'), current_setting('search_path')"
    assert_equal [["a 'quoted' \"name\"", "1234ms", "public, pg_temp"]].inspect, run_piped(1, schema: schema) { Gated.with_connection { |it| it.select_rows(names) } }
    refute_includes Gated.with_connection { |it| it.select_value("SHOW application_name") }, "quoted"
  end

  # A schema for each tenant. One of a third has columns of other types, and more of them.
  def test_search_path
    side.exec(<<~SQL)
      #{[1, 2, 3].map { |number| "DROP SCHEMA IF EXISTS tenant_#{number} CASCADE; CREATE SCHEMA tenant_#{number};" }.join}
      CREATE TABLE IF NOT EXISTS tenant_items (id bigint PRIMARY KEY, place int, name text);
      CREATE TABLE tenant_1.tenant_items (id bigint PRIMARY KEY, place int, name text);
      CREATE TABLE tenant_2.tenant_items (id bigint PRIMARY KEY, place int, name text);
      CREATE TABLE tenant_3.tenant_items (id int PRIMARY KEY, place bigint, name varchar(20), note text);
      #{[1, 2, 3].map { |number| "INSERT INTO tenant_#{number}.tenant_items SELECT n, n % 3, 't#{number} ' || n FROM generate_series(1, 9) AS n;" }.join}
    SQL
    items = Class.new(Gated) { self.table_name = "tenant_items" }
    items.columns
    schema = SettingsCase.schema({ settings: ->(context) { { "search_path" => "tenant_#{context[:tenant]}, public" } } })
    [1, 2, 1, 3, 2, 3, 3, 1].each do |tenant|
      ["{ #{Array.new(6) { |index| "f#{index}: run(index: #{index})" }.join(" ")} }", "{ run(index: 1) }", "mutation { change(index: 2) }"].each do |query|
        answer = piped(query, tenant, schema: schema, context: { run: lambda { |index|
          [items.find(index + 1).name, items.where(place: index % 3).order(:id).pluck(:name), items.where(name: "none").update_all(place: 0), items.where(id: index + 1).count]
        } })
        assert_nil answer["errors"]
        answer["data"].each_value { |value| assert_equal ["t#{tenant} "], value.scan(/t\d /).uniq, value }
      end
    end
  end

  # ActiveRecord names these statements SCHEMA, as it names those that look at tables.
  def test_what_the_session_is_asked
    schema = SettingsCase.schema({ settings: ->(_) { { "search_path" => "pg_catalog", "default_transaction_read_only" => "on" } } })
    answer = run_piped(1, schema: schema) { Gated.with_connection { |it| [it.current_schema, it.query_value("SHOW default_transaction_read_only", "SCHEMA")] } }
    assert_equal '["pg_catalog", "on"]', answer
  end

  def test_statement_timeout
    schema = SettingsCase.schema({ settings: ->(_) { { "statement_timeout" => 50 } } })
    answer = run_piped(1, "{ a: run(index: 1) b: run(index: 2) }", schema: schema) { |index| Gated.with_connection { |it| it.select_value(index == 1 ? "SELECT pg_sleep(20)" : "SELECT 2") } }
    assert_match(/QueryCanceled.*statement timeout/, answer)
  end

  # What is left, each time.
  def test_a_deadline
    schema = SettingsCase.schema({ settings: ->(_) { { "statement_timeout" => Time.now + 1000, "lock_timeout" => Time.now - 1 } } })
    run_piped(1, schema: schema) do
      rows = Gated.with_connection { |it| it.select_rows("SELECT setting::int FROM pg_settings WHERE name IN ('statement_timeout', 'lock_timeout') ORDER BY name") }
      raise rows.inspect unless rows[0][0] == 1 && rows[1][0].between?(800_000, 1_000_000)

      "right"
    end.then { |answer| assert_equal '"right"', answer }
  end

  # -- what isn't there --------------------------------------------------------------------------------------------------

  def test_a_forgotten_setting_is_an_error
    schema = SettingsCase.schema({ settings: ->(_) { { "role" => ROLE, "app.tenant_id" => nil } } })
    2.times do
      answer = piped("{ a: bodies b: count }", 1, schema: schema)
      assert_equal [nil, nil], answer["data"].values
      answer["errors"].each { |error| assert_match(/app\.tenant_id|invalid input syntax/, error["message"]) }
    end
  end

  def test_a_setting_that_the_server_refuses
    schema = SettingsCase.schema({ settings: ->(context) { { "role" => context[:role] } } })
    prepared = names_on_servers
    3.times do
      answer = run_piped(1, "{ a: run(index: 1) b: run(index: 2) c: run(index: 3) }", schema: schema, role: "nobody_at_all") { |index| TenantNote.where(id: index).pluck(:body) }
      assert_match(/role "nobody_at_all" does not exist/, answer)
      refute_match(/note/, answer)
    end
    assert_equal prepared, names_on_servers
    assert_includes run_piped(1, schema: schema, role: "none") { TenantNote.find(1).body }, "note 1"
  end

  def names_on_servers = Gated.connection_pool.connections.map { |adapter| raw(adapter).exec("SELECT count(*) FROM pg_prepared_statements").values }

  def test_a_callable_that_fails
    schema = SettingsCase.schema({ settings: ->(context) { { "app.tenant_id" => context.fetch(:missing) } } })
    answer = run_piped(1, "{ a: run }", schema: schema) { TenantNote.count }
    assert_match(/\A`settings:` of a schema \(.*settings_test\.rb:\d+\) has failed: KeyError/, answer)
    assert_equal '"done"', run_piped(1, schema: schema) { "done" }
    assert_match(/has failed: KeyError/, run_piped(1, "mutation { change }", schema: schema) { TenantNote.create!(tenant_id: 1, body: "t1 new") })
    assert_match(/has failed: KeyError/, run_piped(1, schema: schema) { TenantNote.transaction { TenantNote.count } })
    assert_equal 12, side.exec("SELECT count(*) FROM tenant_notes").getvalue(0, 0).to_i
  end

  def test_a_callable_that_refuses
    schema = SettingsCase.schema({ settings: ->(_) { raise GraphQL::ExecutionError, "Sign in" } })
    answer = piped("{ a: run b: run }", 1, schema: schema, context: { run: ->(_) { TenantNote.count } })
    assert_equal [["Sign in", ["a"]], ["Sign in", ["b"]]], answer["errors"].map { |error| error.values_at("message", "path") }
  end

  { "a list" => [[], "it must return a Hash"], "nothing" => [nil, "it must return a Hash"], "an object" => [{ "app.tenant_id" => Object.new }, "app.tenant_id must be a String, not Object"],
    "NUL" => [{ "app.tenant_id" => "1\0" }, "app.tenant_id must be text"], "UTF-16" => [{ "app.tenant_id" => "1".encode("UTF-16LE") }, "app.tenant_id must be text"],
    "broken text" => [{ "app.tenant_id" => "\xff" }, "app.tenant_id must be text"], "a name" => [{ 1.0r => "1" }, "a name must be a String"] }.each do |name, (values, message)|
    define_method(:"test_a_callable_that_returns_#{name}") do
      schema = SettingsCase.schema({ settings: ->(_) { values } })
      assert_includes run_piped(1, schema: schema) { TenantNote.count }, message
    end
  end

  def test_what_use_takes
    error = assert_raises(ArgumentError) { SettingsCase.schema({ settings: { "role" => "x" } }) }
    assert_match(/settings must be nil or callable/, error.message)
  end

  def test_no_settings_at_all
    schema = SettingsCase.schema({ settings: ->(_) { {} } })
    assert_equal "12", run_piped(1, schema: schema) { TenantNote.count }
    assert_equal "12", run_piped(1, schema: schema) { TenantNote.count }
  end

  # -- errors ------------------------------------------------------------------------------------------------------------

  def test_a_failing_read_fails_its_field_alone
    sqls = ["SELECT body FROM tenant_notes WHERE id = 2", "SELECT 1 / 0", "SELECT body FROM tenant_notes WHERE id = 1", "SELECT nothing", "SELECT 'x'::int", "SELECT body FROM tenant_notes WHERE id = 4"]
    run = lambda do |index|
      Gated.with_connection { |it| it.select_value(sqls[index]) }
    rescue ActiveRecord::StatementInvalid => e
      Failure.of(e).to_a
    end
    query = "{ #{sqls.each_index.map { |index| "f#{index}: run(index: #{index})" }.join(" ")} }"
    expected = local(1) { sqls.each_index.map { |index| Gated.transaction(requires_new: true) { Gated.lease_connection.select_value(sqls[index]) } rescue Failure.of($!).to_a } }
    2.times do
      answer = piped(query, 1, context: { run: run })
      assert_equal expected.map(&:inspect), answer["data"].values
    end
  end

  def test_what_pg_refuses_to_send
    answer = run_piped(1, "{ a: run(index: 1) b: run(index: 2) }") do |index|
      TenantNote.where(body: index == 1 ? "a\0b" : "t1 note 2").count
    rescue StandardError => e
      e.message
    end
    assert_match(/null byte/, answer)
    rolled_back do
      assert_match(/null byte.*null byte.*"1"/m, PIPED.execute("{ a: run(index: 1) b: run(index: 1) c: run(index: 2) }", context: { tenant: 1, run: lambda { |index|
        index == 1 ? (TenantNote.where(body: "a\0b").count rescue $!.message) : TenantNote.where(body: "t1 note 2").count
      } }).to_h["data"].values.inspect)
      assert_equal "none", Gated.lease_connection.select_value("SELECT current_setting('role')")
    end
    release
  end

  def test_forgotten_names
    [[ALL, 1], [OPAQUE, 2]].each do |query, tenant|
      expected = Array.new(2) { piped(query, tenant) }.last
      Gated.connection_pool.connections.each { |adapter| raw(adapter).exec("DEALLOCATE ALL") }
      assert_equal expected, piped(query, tenant)
    end
  end

  def test_a_connection_that_breaks
    2.times { piped(OPAQUE, 1) }
    Gated.connection_pool.connections.each { |adapter| terminate(raw(adapter).backend_pid) }
    assert_as_local(OPAQUE, 2)
    # Between two levels.
    answer = run_piped(1) do
      first = TenantNote.order(:id).pluck(:body).first
      terminate(raw(Gated.lease_connection).backend_pid)
      [first, TenantNote.order(:id).pluck(:body).last]
    end
    assert_equal '["t1 note 2", "t1 note 12"]', answer
  end

  # ActiveRecord repeats a read that had a deadlock: with the same rows to see.
  def test_a_read_that_active_record_repeats
    side.exec(<<~SQL)
      CREATE OR REPLACE FUNCTION tenant_deadlock() RETURNS int LANGUAGE plpgsql AS $$
        BEGIN IF current_setting('app.tenant_id', true) <> '' THEN RAISE EXCEPTION SQLSTATE '40P01'; END IF; RETURN 1; END
      $$;
      CREATE OR REPLACE VIEW tenant_deadlocks AS SELECT id, body FROM tenant_notes WHERE tenant_deadlock() > 0;
      GRANT ALL ON tenant_deadlocks TO #{ROLE};
    SQL
    broken = Class.new(Gated) { self.table_name = "tenant_deadlocks" }
    Gated.with_connection { broken.columns }
    answer = run_piped(1, "{ a: run b: run }") do
      broken.where(id: [1, 2]).map(&:body)
    rescue ActiveRecord::Deadlocked => e
      e.class
    end
    assert_equal "ActiveRecord::Deadlocked", answer
  end

  # -- what goes another way -----------------------------------------------------------------------------------------------

  WAYS = {
    "an Enumerator" => -> { Enumerator.new { |yielder| yielder << TenantNote.order(:id).pluck(:body) }.next },
    "a Fiber" => -> { Fiber.new { TenantNote.order(:id).pluck(:body) }.resume },
    "a transaction" => -> { TenantNote.transaction { TenantNote.order(:id).pluck(:body) } },
    "a nested transaction" => -> { TenantNote.transaction { TenantNote.transaction(requires_new: true) { TenantNote.order(:id).pluck(:body) } } },
    "a serializable transaction" => -> { TenantNote.transaction(isolation: :serializable) { TenantNote.order(:id).pluck(:body) } },
    "without_parking" => -> { Pipeloader.without_parking { TenantNote.order(:id).pluck(:body) } },
    "disabled" => -> { Pipeloader.disabled { TenantNote.order(:id).pluck(:body) } },
    "Timeout" => -> { Timeout.timeout(60) { TenantNote.order(:id).pluck(:body) } },
    "load_async" => -> { TenantNote.order(:id).load_async.map(&:body) },
    "async_pluck" => -> { TenantNote.order(:id).async_pluck(:body).value },
    "exec_query" => -> { Gated.with_connection { |it| it.exec_query("SELECT body FROM tenant_notes ORDER BY id").rows.flatten } },
    "execute" => -> { Gated.with_connection { |it| it.execute("SELECT body FROM tenant_notes ORDER BY id").values.flatten } },
    "query_values" => -> { Gated.with_connection { |it| it.query_values("SELECT body FROM tenant_notes ORDER BY id") } },
    "a WITH that writes" => -> { Gated.with_connection { |it| it.select_values("WITH w AS (UPDATE tenant_notes SET body = body RETURNING id, body) SELECT body FROM w ORDER BY id") } },
    "several statements" => -> { Gated.with_connection { |it| it.execute("SELECT 1; SELECT body FROM tenant_notes ORDER BY id").values.flatten } },
    "raw_connection in a transaction" => -> { TenantNote.transaction { Gated.lease_connection.raw_connection.exec("SELECT body FROM tenant_notes ORDER BY id").values.flatten } },
    "explain" => -> { TenantNote.order(:id).explain.inspect.include?("current_setting") && TenantNote.order(:id).pluck(:body) },
    "find_each" => -> { TenantNote.find_each(batch_size: 2).map(&:body) },
    "a cursor" => lambda do
      TenantNote.transaction do
        Gated.lease_connection.execute("DECLARE c CURSOR FOR SELECT body FROM tenant_notes ORDER BY id")
        Gated.lease_connection.query_values("FETCH ALL c")
      end
    end,
    "a callback of a commit" => lambda do
      rows = nil
      TenantNote.transaction do
        ActiveRecord.after_all_transactions_commit { rows = TenantNote.order(:id).pluck(:body) }
        TenantNote.count
      end
      rows
    end,
    "Ruby's own Fiber in a transaction" => -> { TenantNote.transaction { Fiber.new { TenantNote.order(:id).pluck(:body) }.resume } }
  }.freeze

  WAYS.each do |name, way|
    define_method(:"test_by_#{name.tr(" '", "_")}") do
      TENANTS.each do |tenant|
        expected = "t#{tenant} note "
        [1, 3].each do |fields|
          query = "{ #{Array.new(fields) { |index| "f#{index}: run(index: #{index})" }.join(" ")} }"
          answer = piped(query, tenant, context: { run: ->(index) { index == 1 ? TenantNote.order(:id).map(&:body) : way.call } })
          assert_nil answer["errors"]
          answer["data"].each_value { |rows| assert_equal 6, rows.scan(expected).size, rows }
          assert_own(answer, tenant)
          assert_nothing_left
        end
      end
    end
  end

  # Before there is a response, and on Execution::Next before the first job.
  def test_by_an_analyzer
    read = []
    analyzer = Class.new(GraphQL::Analysis::Analyzer) do
      define_method(:result) { read << TenantNote.order(:id).pluck(:body) << TenantNote.transaction { TenantNote.pluck(:body) } }
    end
    schema = Class.new(PIPED) { query_analyzer(analyzer) }
    asked = 0
    schema.use(Pipeloader, settings: ->(context) { (asked += TenantNote.count) && SETTINGS.call(context) })
    Gated.cache do
      TenantNote.order(:id).pluck(:body)
      answer = schema.execute("{ bodies }", context: { tenant: 2 }).to_h
      assert_equal [6, 6, 6], [*read.map(&:size), answer.dig("data", "bodies").size]
      assert_own([read, answer], 2)
      assert_equal 12, TenantNote.order(:id).pluck(:body).size
    end
    assert_equal 12, asked # without any
    assert_nothing_left
  end

  # And with connections that nobody has used yet.
  def test_by_an_enumerator_first
    connect_gated(min_messages: "error", pool: 3)
    answer = run_piped(2) { Enumerator.new { |yielder| yielder << TenantNote.order(:id).pluck(:body) }.next }
    assert_equal 6, answer.scan("t2 note").size
  end

  def test_by_another_thread_of_active_record
    before, ActiveRecord.async_query_executor = ActiveRecord.async_query_executor, :global_thread_pool
    connect_gated(min_messages: "error", pool: 3)
    assert_equal 6, run_piped(2) { TenantNote.order(:id).load_async.map(&:body) }.scan("t2 note").size
    assert_equal "6", run_piped(2) { TenantNote.async_count.value }
  ensure
    ActiveRecord.async_query_executor = before
  end

  REFUSED = {
    "raw_connection" => -> { Gated.lease_connection.raw_connection.exec("SELECT body FROM tenant_notes") },
    "BEGIN" => -> { Gated.with_connection { |it| it.execute("BEGIN") } },
    "COMMIT in a transaction" => -> { TenantNote.transaction { Gated.with_connection { |it| it.execute("/* x */ COMMIT; SELECT 1") } } },
    "COMMIT seen by nobody" => -> { TenantNote.transaction { Gated.lease_connection.raw_connection.exec("COMMIT") && TenantNote.pluck(:body) } }
  }.freeze

  REFUSED.each do |name, way|
    define_method(:"test_refuses_#{name.tr(" ", "_")}") do
      answer = run_piped(1) { way.call }
      assert_match(/use Pipeloader, settings:/, answer)
      assert_nothing_left
    end
  end

  def test_a_do_block_is_no_transaction
    assert_equal "1", run_piped(1) { Gated.with_connection { |it| it.execute("DO $$ DECLARE x int; BEGIN x := 1; END $$") } && 1 }
  end

  def test_disabled_around_it
    error = assert_raises(Pipeloader::SettingsError) { Pipeloader.disabled { piped("{ count }", 1) } }
    assert_match(/take it out of `Pipeloader.disabled/, error.message)
  end

  def test_another_dataloader
    error = assert_raises(Pipeloader::SettingsError) { piped("{ count }", 1, context: { dataloader: GraphQL::Dataloader.new }) }
    assert_match(/can't be executed by another dataloader/, error.message)
  end

  # -- writes ------------------------------------------------------------------------------------------------------------

  WRITES = {
    "create" => -> { TenantNote.create!(body: "new").reload.tenant_id },
    "create for the other" => ->(tenant) { TenantNote.create!(body: "new", tenant_id: 3 - tenant) },
    "update" => ->(tenant) { TenantNote.find(tenant == 1 ? 2 : 1).update!(body: "changed") },
    "update_all" => -> { TenantNote.update_all(body: "changed") },
    "update_column" => ->(tenant) { TenantNote.find(tenant == 1 ? 2 : 1).update_column(:body, "changed") },
    "delete_all" => -> { TenantNote.where("id > 2").delete_all },
    "insert_all" => -> { TenantNote.insert_all([{ body: "new" }, { body: "newer" }]).rows.size },
    "execute" => -> { Gated.with_connection { |it| it.execute("UPDATE tenant_notes SET body = 'changed'").cmd_tuples } },
    "destroy" => ->(tenant) { TenantNote.find(tenant == 1 ? 2 : 1).destroy.destroyed? },
    "a transaction" => -> { TenantNote.transaction { [TenantNote.update_all(body: "changed"), TenantNote.pluck(:body).uniq] } },
    "a rollback" => -> { TenantNote.transaction { TenantNote.update_all(body: "changed"); raise ActiveRecord::Rollback } },
    "a savepoint" => lambda {
      TenantNote.transaction do
        TenantNote.transaction(requires_new: true) { TenantNote.update_all(body: "changed"); raise ActiveRecord::Rollback }
        TenantNote.where(id: 1..2).update_all(body: "kept")
      end
    },
    "a failure in a savepoint" => lambda {
      TenantNote.transaction do
        TenantNote.transaction(requires_new: true) { Gated.lease_connection.execute("SELECT 1 / 0") }
      rescue ActiveRecord::StatementInvalid
        TenantNote.where(id: 1..2).update_all(body: "kept")
      end
    },
    "reads between" => -> { [TenantNote.count, TenantNote.update_all(body: "changed"), TenantNote.pluck(:body).uniq, TenantNote.insert_all([{ body: "new" }]).rows.size, TenantNote.count] }
  }.freeze

  WRITES.each do |name, write|
    define_method(:"test_write_#{name.tr(" ", "_")}") do
      TENANTS.each do |tenant|
        run = lambda do |_index|
          write.arity == 1 ? write.call(tenant) : write.call
        rescue ActiveRecord::ActiveRecordError => e
          Failure.of(e).class_name
        end
        ["mutation { change }", "{ run }", "mutation { a: change b: change(index: 1) }"].each do |query|
          outcomes = [false, true].map do |with|
            side.exec(ROWS)
            answer = with ? piped(query, tenant, context: { run: run }) : by_hand(tenant) { PLAIN.execute(query, context: { run: run }).to_h }
            [answer, side.exec("SELECT id, tenant_id, body FROM tenant_notes ORDER BY id").values]
          end
          assert_equal(*outcomes, query)
          assert_nothing_left
        end
      end
    end
  end

  # For the connection, not for a transaction.
  def by_hand(tenant)
    Gated.lease_connection.execute("SET ROLE #{ROLE}; SET app.tenant_id = '#{tenant}'")
    yield
  ensure
    Gated.lease_connection.execute("RESET ROLE; RESET app.tenant_id")
    release
  end

  def test_a_write_sees_what_was_asked_for_before
    answer = run_piped(1, "{ a: run(index: 0) b: run(index: 1) c: run(index: 2) }") do |index|
      index == 1 ? TenantNote.update_all(body: "t1 changed") : TenantNote.order(:id).pluck(:body).first
    end
    assert_equal '"t1 note 2"', answer
  end

  # -- a transaction of the caller's ---------------------------------------------------------------------------------------

  STATE = "SELECT current_user::text, current_setting('app.tenant_id', true), current_setting('role'), current_setting('statement_timeout')"

  def test_in_a_transaction_of_the_callers
    schema = SettingsCase.schema({ settings: ->(context) { { "statement_timeout" => "90s", **SETTINGS.call(context) } } })
    [false, true].each do |set|
      Gated.transaction do
        connection = Gated.lease_connection
        connection.execute("SET LOCAL app.tenant_id = '7'; SET LOCAL statement_timeout = '77s'") if set
        before = connection.select_rows(STATE)
        TENANTS.each do |tenant|
          expected = "t#{tenant} note"
          answer = schema.execute(OPAQUE, context: { tenant: tenant }).to_h
          assert_equal 12, JSON.generate(answer).scan(expected).size
          assert_own(answer, tenant)
          answer = schema.execute("mutation { change }", context: { tenant: tenant, run: lambda { |_|
            [TenantNote.update_all("body = body"), TenantNote.transaction(requires_new: true) { TenantNote.update_all("body = body") },
             Gated.with_connection { |it| it.execute("SELECT current_user::text").values.flatten }, TenantNote.create!(body: "t#{tenant} new").reload.tenant_id]
          } }).to_h
          assert_equal [6, 6, [ROLE], tenant].inspect, answer.dig("data", "change")
          assert_equal before.map { |row| row.map(&:to_s) }, connection.select_rows(STATE).map { |row| row.map(&:to_s) }
          side_effects = connection.select_value("SELECT count(*) FROM tenant_notes WHERE body LIKE '%new'")
          assert_operator side_effects, :>, 0
        end
        raise ActiveRecord::Rollback
      end
      release
    end
  end

  def test_a_failure_in_a_transaction_of_the_callers
    run = lambda do |index|
      Gated.with_connection { |it| it.select_value(index == 1 ? "SELECT 1 / 0" : "SELECT body FROM tenant_notes WHERE id = 2") }
    rescue ActiveRecord::StatementInvalid => e
      Failure.of(e).sqlstate
    end
    state = nil
    answer = rolled_back do
      PIPED.execute("{ a: run(index: 0) b: run(index: 1) c: run(index: 2) }", context: { tenant: 1, run: run }).to_h
           .tap { state = raw(Gated.lease_connection).transaction_status }
    end
    release
    assert_equal ['"t1 note 2"', '"22012"', '"25P02"'], answer["data"].values
    assert_equal PG::PQTRANS_INERROR, state
  end

  def test_a_savepoint_of_the_callers_is_rolled_back
    Gated.transaction do
      before = Gated.lease_connection.select_rows(STATE)
      Gated.transaction(requires_new: true) do
        PIPED.execute("{ run }", context: { tenant: 1, run: ->(_) { Gated.with_connection { |it| it.select_value("SELECT 1 / 0") } } })
        raise ActiveRecord::Rollback
      end
      assert_equal before.map { |row| row.map(&:to_s) }, Gated.lease_connection.select_rows(STATE).map { |row| row.map(&:to_s) }
      answer = PIPED.execute("{ run }", context: { tenant: 1, run: lambda { |_|
        TenantNote.transaction(requires_new: true) { TenantNote.update_all(body: "t1 x") && raise(ActiveRecord::Rollback) }
        TenantNote.order(:id).pluck(:body).first
      } }).to_h
      assert_equal '"t1 note 2"', answer.dig("data", "run")
      assert_equal before.map { |row| row.map(&:to_s) }, Gated.lease_connection.select_rows(STATE).map { |row| row.map(&:to_s) }
    end
    release
  end

  # As a test suite has it: all threads share one connection, in a transaction.
  def test_on_a_pinned_connection
    Gated.connection_pool.pin_connection!(true)
    threads = Array.new(4) do |number|
      in_thread do
        tenant = (number % 2) + 1
        Array.new(4) { [piped([ALL, OPAQUE, "mutation { change }"][number % 3], tenant, context: { run: ->(_) { [TenantNote.update_all("body = body"), TenantNote.pluck(:body)] } }), tenant] }
      end
    end
    threads.each { |thread| thread.value.each { |answer, tenant| assert_own(answer, tenant) && assert_nil(answer["errors"]) } }
    assert_equal [12, "none"], [TenantNote.count, Gated.lease_connection.select_value("SELECT current_setting('role')")]
  ensure
    Gated.connection_pool.unpin_connection!
  end

  def test_where_fibers_are_isolated
    isolate_by(:fiber)
    TENANTS.each do |tenant|
      answer = piped(OPAQUE, tenant)
      assert_equal 6, answer.dig("data", "a").size
      assert_own(answer, tenant)
    end
    WAYS.each { |name, way| assert_own(run_piped(1) { way.call }, 1) unless name.match?(/Enumerator|Fiber/) }
  end

  # -- several queries -----------------------------------------------------------------------------------------------------

  def test_the_query_cache_is_not_shared
    Gated.cache do
      [1, 2, 1].each do |tenant|
        assert_own(piped_kept("{ bodies }", tenant), tenant)
        assert_equal 12, TenantNote.count # a superuser's
        assert_own(piped_kept("{ notes { body } count }", tenant), tenant)
        assert_equal 6, piped_kept("{ count }", tenant).dig("data", "count")
      end
    end
  end

  # Without giving the connection back.
  def piped_kept(query, tenant) = PIPED.execute(query, context: { tenant: tenant }).to_h

  def test_a_query_object
    query = GraphQL::Query.new(PIPED, "{ bodies notes { before } }", context: { tenant: 2 })
    assert_equal 6, query.result.to_h.dig("data", "bodies").size
    assert_own(query.result.to_h, 2)
  end

  def test_a_multiplex_of_one_tenant
    results = PIPED.multiplex([{ query: "{ bodies }", context: { tenant: 2 } }, { query: "{ count }", context: { tenant: 2 } }]).map(&:to_h)
    assert_equal [6, 6], [results[0].dig("data", "bodies").size, results[1].dig("data", "count")]
    assert_own(results, 2)
  end

  def test_a_multiplex_of_two_tenants_is_refused
    results = PIPED.multiplex(TENANTS.map { |tenant| { query: "{ run }", context: { tenant: tenant, run: ->(_) { TenantNote.count } } } }).map(&:to_h)
    results.each { |result| assert_match(/different settings: execute them one by one/, result["errors"].first["message"]) }
  end

  def test_a_query_in_a_query
    assert_includes run_piped(1) { PIPED.execute("{ bodies }", context: { tenant: 1 }).to_h }, "t1 note"
    assert_match(/whose settings differ/, run_piped(1) { PIPED.execute("{ bodies }", context: { tenant: 2 }).to_h })
    assert_includes run_piped(1) { PLAIN.execute("{ bodies }").to_h }, "t1 note"
    without = SettingsCase.schema({})
    assert_includes run_piped(1) { without.execute("{ bodies }").to_h }, "t1 note"
    assert_match(/whose settings differ/, run_piped(1, schema: without) { PIPED.execute("{ bodies }", context: { tenant: 2 }).to_h })
  end

  # An Enumerator, in a query without settings, in an Enumerator: no fiber there says whose it is.
  def test_a_query_in_an_enumerator
    bodies = -> { Enumerator.new { |all| all << TenantNote.order(:id).pluck(:body) }.next }
    without = SettingsCase.schema({})
    answer = run_piped(1) { Enumerator.new { |all| all << without.execute("{ run }", context: { run: ->(_) { bodies.call } }).to_h.to_s }.next }
    assert_includes answer, "t1 note"
    refute_includes answer, "t2 note"
  end

  def test_the_callable_is_asked_once
    calls = 0
    schema = SettingsCase.schema({ settings: ->(context) { (calls += 1) && SETTINGS.call(context) } })
    piped("mutation { a: change b: change }", 1, schema: schema, context: { run: ->(_) { TenantNote.count } })
    assert_equal 1, calls
  end

  def test_a_subclass_has_them
    assert_equal "6", run_piped(1, schema: Class.new(PIPED)) { TenantNote.count }
  end

  # -- many --------------------------------------------------------------------------------------------------------------

  def test_many_threads
    threads = Array.new(32) do |number|
      random = Random.new(seed + number)
      in_thread { Array.new(rounds(6)) { request(random) } }
    end
    threads.each { |thread| thread.value.each { |answer, tenant| assert_own(answer, tenant) } }
    assert_operator Gated.connection_pool.connections.size, :<=, 3
  end

  # Struck, cut off and cancelled at any time: nobody gets another's rows.
  def test_many_threads_with_faults_and_interrupts
    Gated.connection_pool.extend(Unstruck::Pool)
    Unstruck::Transactions.on = true
    answered = Queue.new
    enough = false
    workers = Array.new(6) do |number|
      random = Random.new(seed + number)
      in_thread { Thread.handle_interrupt(Stop => :never) { answered << disturbed_request(random) until enough } }
    end
    random = Random.new(seed)
    rounds(40).times do
      sleep(random.rand(0.01))
      workers.sample(random: random).raise(Stop, "struck")
      terminate_any(random) if random.rand(8).zero?
    end
    enough = true
    assert(workers.all? { |worker| ended?(worker) })
    Gated.connection_pool.reap
    kinds = Array.new(answered.size) { answered.pop }
    assert_equal [], kinds - %i[own error struck]
    assert_operator kinds.count(:own), :>, 0
  ensure
    Unstruck::Transactions.on = false
  end

  private

  # As an application does whose own role is one that policies hold for.
  def as_tenants
    Gated.with_connection do |connection|
      connection.execute("SET ROLE #{ROLE}")
      yield
    ensure
      connection.execute("RESET ROLE")
    end
  end

  def request(random)
    tenant = TENANTS.sample(random: random)
    query = [ALL, OPAQUE, "{ run bodies }", "mutation { change }", "{ a: run b: run notes { before } }"].sample(random: random)
    way = WAYS.values.sample(random: random)
    [piped(query, tenant, context: { run: ->(_) { random.rand(5).zero? ? TenantNote.update_all("body = body") : way.call } }), tenant]
  end

  def disturbed_request(random)
    answer, tenant = Thread.handle_interrupt(Stop => :immediate) { request(random) }
    assert_own(answer, tenant)
    :own
  rescue Stop
    :struck
  rescue Minitest::Assertion => e
    e.message
  rescue StandardError
    :error
  ensure
    release
    Gated.connection_pool.find_lost
  end

  def terminate_any(random)
    pids = Gated.connection_pool.connections.filter_map { |adapter| raw(adapter)&.backend_pid }
    side(:monitor).exec("SELECT pg_terminate_backend(#{pids.sample(random: random)})") if pids.any?
  rescue PG::Error
    nil # it is gone already
  end
end

# frozen_string_literal: true

require_relative "wire_case"

# `use Pipeloader, snapshot:`: what a query reads is of one moment, and else as it was.
class SnapshotTest < WireCase
  Gated = WireCase::Gated

  class Account < WireCase::Gated
    self.table_name = "snapshot_accounts"
    belongs_to :peer, class_name: "SnapshotTest::Account"
    has_many :entries, -> { order(:id) }, class_name: "SnapshotTest::Entry"
  end

  class Entry < WireCase::Gated
    self.table_name = "snapshot_entries"
    belongs_to :account, class_name: "SnapshotTest::Account", inverse_of: :entries
  end

  ACCOUNTS = 6
  EACH = 100

  # Everything that tests write is undone by this.
  ROWS = <<~SQL
    CREATE TABLE IF NOT EXISTS snapshot_accounts (id int PRIMARY KEY, peer_id int, balance int);
    CREATE TABLE IF NOT EXISTS snapshot_entries (id int PRIMARY KEY, account_id int, amount int);
    TRUNCATE snapshot_accounts, snapshot_entries;
    INSERT INTO snapshot_accounts SELECT n, n % #{ACCOUNTS} + 1, #{EACH} FROM generate_series(1, #{ACCOUNTS}) AS n;
    INSERT INTO snapshot_entries SELECT n, n % #{ACCOUNTS} + 1, n FROM generate_series(1, 20) AS n;
  SQL

  class EntryType < GraphQL::Schema::Object
    graphql_name "Entry"
    field :id, Integer
    field :amount, Integer
  end

  class AccountType < GraphQL::Schema::Object
    graphql_name "Account"
    field :id, Integer
    field :balance, Integer
    field :peer, AccountType
    field :entries, [EntryType]
    field :entries_count, Integer
    field :last_amount, Integer
    field :behind, Integer
    field :failing, Integer
    field :loaded, Integer

    def entries_count = object.entries.count
    def last_amount = object.entries.reorder(id: :desc).first&.amount
    # One that is opaque, of another level, and of now.
    def behind = Account.where(id: object.peer_id).pick(:balance)
    def failing = Account.where("1 / (id - 2) < 9").find(object.id).balance
    def loaded = dataloader.with(BySource).load(object.peer_id)
  end

  class BySource < GraphQL::Dataloader::Source
    def fetch(ids) = Account.where(id: ids).index_by(&:id).values_at(*ids).map { |account| account&.balance }
  end

  class Query < GraphQL::Schema::Object
    field :accounts, [AccountType]
    field :account, AccountType do
      argument :id, Integer
    end
    field :total, Integer
    field :run, String do
      argument :index, Integer, required: false
    end

    def accounts = Account.order(:id)
    def account(id:) = Account.find_by(id: id)
    def total = Account.sum(:balance)
    def run(index: 0) = context[:run].call(index).inspect
  end

  class Mutation < GraphQL::Schema::Object
    field :change, String

    def change = context[:run].call(0).inspect
  end

  def self.schema(options) = WireCase.schema_of(Query, Mutation, options, [ActiveRecord::StatementInvalid, Pipeloader::Error])

  PLAIN = schema(nil)
  WITHOUT = schema({})
  PIPED = schema({ snapshot: true })
  SETTINGS = schema({ snapshot: true, settings: ->(context) { { "app.x" => context[:x] } } })

  QUERIES = [
    "{ accounts { id balance peer { balance } entries { id amount } entriesCount lastAmount behind loaded } total }",
    "{ accounts { behind lastAmount } a: total b: total account(id: 3) { behind } none: account(id: 99) { id } }",
    "{ a: account(id: 1) { peer { peer { entries { amount } } } } b: account(id: 2) { balance entriesCount } total }",
    "{ accounts { id failing } total account(id: 1) { failing balance } }",
    "{ total }", "{ run }", "{ __typename }"
  ].freeze

  def setup
    super
    connect_gated(min_messages: "error", pool: 3, checkout_timeout: 60)
    side.exec(ROWS)
    Gated.with_connection { [Account, Entry].each(&:columns) }
  end

  def teardown
    release
    assert_pool_sound(Gated.connection_pool)
    Gated.connection_pool.connections.each { |it| assert_nil it.pipeloader_session.read_transaction }
  ensure
    super
  end

  # -- one moment ------------------------------------------------------------------------------------------------------

  # Between two levels, and between two fields, somebody moves money.
  def test_what_is_read_is_of_one_moment
    assert_equal [ACCOUNTS * EACH], sums(PIPED).uniq
    refute_equal [ACCOUNTS * EACH], sums(WITHOUT).uniq
  end

  [{ coalesce: false }, { compile: false }, { forecast: false }, { trips: :one }, { field_exact: true }, { fiber_limit: 5 }, { lanes: 4 }].each do |options|
    define_method(:"test_one_moment_with_#{options.keys.first}") do
      schema = SnapshotTest.schema({ snapshot: true, **options })
      3.times { assert_equal [ACCOUNTS * EACH], sums(schema).uniq }
      assert_queries_alike(schema)
    end
  end

  # With what is read, the server is asked for types that aren't its own.
  def test_types_that_are_looked_up
    side.exec("DROP TYPE IF EXISTS snapshot_mood CASCADE; CREATE TYPE snapshot_mood AS ENUM ('a', 'b', 'c', 'd'); " \
              "DROP TABLE IF EXISTS snapshot_moods; CREATE TABLE snapshot_moods AS SELECT i AS id, 'b'::snapshot_mood AS mood FROM generate_series(1, 3) i")
    mood = Class.new(WireCase::Gated) { self.table_name = "snapshot_moods" }
    [PLAIN, PIPED].map do |schema|
      run = ->(index) { Array.new(3) { |again| mood.where(mood: "abcd"[(index + again) % 4]).pluck(:id).sort } }
      schema.execute("{ #{Array.new(4) { |index| "r#{index}: run(index: #{index})" }.join(" ")} }", context: { run: run }).to_h
    end.then { |plain, piped| assert_equal plain, piped }
  ensure
    side.exec("DROP TABLE IF EXISTS snapshot_moods; DROP TYPE IF EXISTS snapshot_mood")
  end

  WAYS = {
    parked: -> { Account.sum(:balance) },
    without_parking: -> { Pipeloader.without_parking { Account.sum(:balance) } },
    enumerator: -> { Enumerator.new { |them| them << Account.sum(:balance) }.next },
    transaction: -> { Account.transaction { Account.sum(:balance) } },
    isolated: -> { Account.transaction(isolation: :repeatable_read) { Account.sum(:balance) } },
    nested: -> { Account.transaction { Account.transaction(requires_new: true) { Account.sum(:balance) } } },
    execute: -> { Account.with_connection { |it| it.execute("SELECT sum(balance) FROM snapshot_accounts").getvalue(0, 0).to_i } },
    query_value: -> { Account.with_connection { |it| it.query_value("SELECT sum(balance) FROM snapshot_accounts").to_i } },
    raw: -> { Account.with_connection { |it| it.raw_connection.exec("SELECT sum(balance) FROM snapshot_accounts").getvalue(0, 0).to_i } },
    async: -> { Account.async_sum(:balance).value },
    load_async: -> { Account.all.load_async.sum(&:balance) },
    batches: -> { Account.find_each(batch_size: 2).sum(&:balance) },
    uncached: -> { Account.uncached { Account.sum(:balance) } }
  }.freeze

  # Whichever comes first begins it, and whichever comes second is in it.
  WAYS.each do |name, way|
    define_method(:"test_by_#{name}") do
      WAYS.drop_while { |it, _| it != name }.each do |_, other|
        [[way, other], [other, way]].uniq.each do |pair|
          reset
          found = ran(pair.size) { |index| pair[index].call.tap { spend } }
          assert_equal Array.new(2, (ACCOUNTS * EACH).to_s), found, name
        end
      end
    end
  end

  def test_while_somebody_writes_all_the_time
    enough = false
    writer = in_thread { (move(1, 3, :writer) || spend) until enough }
    singly = SnapshotTest.schema({ snapshot: true, coalesce: false })
    rounds(60).times { [PIPED, singly].each { |schema| assert_equal 1, sums(schema, -> {}, from: nil).uniq.size } }
  ensure
    enough = true
    writer.value
  end

  # What the request has read before is of another moment.
  def test_the_query_cache
    Gated.cache do
      Account.sum(:balance)
      spend
      assert_equal (ACCOUNTS * EACH) - 1, PIPED.execute("{ total }").to_h.dig("data", "total")
      assert_equal %w[599 599], ran(2) { |_| Account.sum(:balance).tap { spend } }
    end
  end

  def test_a_multiplex_and_a_query_in_a_query
    run = ->(_) { Account.sum(:balance).tap { spend } }
    answers = PIPED.multiplex(Array.new(2) { { query: "{ a: run b: run }", context: { run: run } } }).map { |it| it.to_h["data"].values }
    assert_equal [%w[600 600]] * 2, answers
    fill
    inner = ->(_) { [Account.sum(:balance), spend, WITHOUT.execute("{ total }").to_h.dig("data", "total")] }
    assert_equal "[600, nil, 600]", PIPED.execute("{ run }", context: { run: inner }).to_h.dig("data", "run")
  end

  # -- the same answers ------------------------------------------------------------------------------------------------

  def test_queries_are_answered_alike = assert_queries_alike(PIPED)

  def test_unprepared
    connect_gated(min_messages: "error", pool: 3, prepared_statements: false)
    assert_queries_alike(PIPED)
    assert_equal [ACCOUNTS * EACH], sums(PIPED).uniq
  end

  # What goes to the server outside of a pipeline, while a test asks. Of the connections themselves: what patches PG::Connection
  # by aliases, as rack-mini-profiler does, calls itself where a module is before the class.
  module Told
    singleton_class.attr_accessor :sql
    def async_exec(sql, ...) = super.tap { Told.sql&.push(sql) }
    def send_query(sql, ...) = super.tap { Told.sql&.push(sql) }
  end

  # As many as without: nobody waits for the COMMIT.
  # How far away the server is, is no matter of this test.
  def test_round_trips
    without, piped = [{}, { snapshot: true }].map { |options| SnapshotTest.schema({ trips: :depth, **options }) }
    QUERIES.first(3).push("{ total }").each do |query|
      [without, piped].each { |schema| 2.times { answer(schema, query) } }
      count = WireCounter.trips { answer(without, query) }.size
      assert_equal(["COMMIT"], told { assert_round_trips(count) { answer(piped, query) } })
      bursts = [without, piped].map { |schema| schema.execute(query).context.namespace(:pipeloader)[:bursts] }
      assert_equal(*bursts)
    end
    assert_empty(told { assert_round_trips(0) { answer(piped, "{ __typename }") } })
  end

  # A round trip more where ActiveRecord's way comes first, and where a level's last read has failed.
  def test_round_trips_by_other_ways
    begin_and_end = ["BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY;SAVEPOINT pipeloader_read", "SELECT 1", "COMMIT"]
    assert_equal(begin_and_end, told { ran(1) { Account.with_connection { |it| it.execute("SELECT 1") } } })
    assert_equal(["ROLLBACK TO SAVEPOINT pipeloader_read", "COMMIT"], told { ran(1) { FAILS[:parked].call } })
    assert_equal(["COMMIT"], told { ran(2) { |index| index.zero? ? FAILS[:parked].call : Account.count } })
  end

  def test_trees_come_in_one_trip
    schema = SnapshotTest.schema({ snapshot: true, trips: :one })
    query = "{ accounts { balance peer { balance entries { amount } } } }"
    3.times { assert_equal answer(PLAIN, query), answer(schema, query) }
    assert_round_trips(1) { answer(schema, query) }
  end

  def test_never_rests
    refute PIPED.pipeloader_options[:rest]
  end

  # -- failures --------------------------------------------------------------------------------------------------------

  FAILS = {
    parked: -> { Account.where("1 / (id - id) = 1").to_a },
    without_parking: -> { Pipeloader.without_parking { Account.where("1 / (id - id) = 1").to_a } },
    execute: -> { Account.with_connection { |it| it.execute("SELECT 1 / 0") } },
    transaction: -> { Account.transaction { Account.where("1 / (id - id) = 1").to_a } },
    savepoint: -> { Account.transaction { Account.transaction(requires_new: true) { Account.where("1 / (id - id) = 1").to_a } } },
    unknown: -> { Account.where("unknown_column = 1").to_a }
  }.freeze

  # One failing read fails its own field; the others are of one moment.
  FAILS.each do |name, fails|
    define_method(:"test_a_read_that_fails_#{name}") do
      4.times do |place|
        fill
        found = ran(4) do |index|
          next fails.call if index == place

          [Account.sum(:balance), spend, Account.sum(:balance)].compact
        end
        assert_equal %w[[600,\ 600]] * 3, found.values_at(*(0..3).to_a - [place])
        assert_match(/division by zero|unknown_column/, found[place])
      end
    end
  end

  WRITES = {
    update_all: -> { Account.update_all(balance: 0) }, save: -> { Account.first.update!(balance: 1) }, create: -> { Account.create!(id: 77) },
    execute: -> { Account.with_connection { |it| it.execute("DELETE FROM snapshot_accounts") } },
    transaction: -> { Account.transaction { Account.find(1).update!(balance: 2) } },
    lock: -> { Account.lock.find(1) }, nextval: -> { Account.with_connection { |it| it.select_value("SELECT nextval('posts_id_seq')") } }
  }.freeze

  # The others are in the same snapshot still.
  def test_writes_are_refused
    WRITES.each do |name, write|
      fill
      found = ran(3) { |index| index == 1 ? write.call : [Account.sum(:balance), spend, Account.sum(:balance)].compact }
      assert_equal ["[600, 600]"] * 2, found.values_at(0, 2), name
      assert_match(/read-only transaction\nA query can't write .* in a mutation/, found[1], name)
    end
  end

  def test_mutations_have_none
    written = PIPED.execute("mutation { change }", context: { run: ->(_) { [Account.where(id: 1).update_all(balance: 7), Account.find(1).balance] } })
    assert_equal "[1, 7]", written.to_h.dig("data", "change")
    queries = [{ query: "{ total }" }, { query: "mutation { change }", context: { run: ->(_) { Account.where(id: 1).update_all(balance: 8) } } }, { query: "{ total }" }]
    expected, found = [PLAIN, PIPED].map { |schema| reset && schema.multiplex(queries).map(&:to_h) }
    assert_equal expected, found
    assert_includes found.map { |it| it.dig("data", "change") }, "1"
  end

  def test_by_hand_and_other_isolation
    { "BEGIN" => /by hand/, "COMMIT" => /by hand/, "ROLLBACK" => /by hand/ }.each do |sql, message|
      assert_match(message, ran(1) { Account.with_connection { |it| it.execute(sql) } }.first)
    end
    assert_match(/no other isolation/, ran(1) { Account.transaction(isolation: :serializable) { Account.count } }.first)
  end

  # -- what a resolver sets --------------------------------------------------------------------------------------------

  VALUE = "SELECT current_setting('app.x', true)"

  # As without.
  def test_what_is_set_for_the_session_stays
    sets = ["SET app.x = 'a'", "SELECT set_config('app.x', 'a', false)"].map { |sql| -> { Account.with_connection { |it| it.execute(sql) } } }
    sets << -> { Account.with_connection { |it| it.select_value("SELECT set_config('app.x', 'a', false)") } }
    sets.each do |set|
      FAILS.each_value do |fails|
        found = ran(2) do |index|
          next Account.sum(:balance) if index.zero?

          set.call
          2.times { fails.call rescue nil }
          [setting, Account.count, setting]
        end
        assert_equal ["600", %(["a", 6, "a"])], found
        assert_equal "a", setting
        Gated.with_connection { |it| it.execute("RESET app.x") }
      end
    end
  end

  # Without a transaction that does nothing, or lasts for one statement.
  def test_what_is_set_for_a_transaction_outside_of_any
    sets = ["SET LOCAL app.x = 'a'", "SELECT set_config('app.x', 'a', true)"].map { |sql| -> { Account.with_connection { |it| it.execute(sql) } } }
    sets << -> { Account.with_connection { |it| it.select_value("SELECT set_config('app.x', 'a', true)") } }
    sets << -> { Account.find_by_sql("SELECT set_config('app.x', 'a', true) AS name, * FROM snapshot_accounts") }
    sets.each do |set|
      found = ran(3) do |index|
        next Account.sum(:balance) if index.zero?

        set.call
        unparked = Account.with_connection { |it| it.query_value(VALUE) }
        set.call
        [unparked.to_s, setting.to_s, Account.count, setting.to_s]
      end
      assert_equal ["600", *[%(["", "", 6, ""])] * 2], found
    end
  end

  def test_what_is_set_in_a_transaction
    found = ran(2) do |index|
      next Account.sum(:balance) if index.zero?

      inner = Account.transaction { Account.with_connection { |it| it.execute("SET LOCAL app.x = 'b'") } && setting }
      [inner, setting.to_s]
    end
    assert_equal %(["b", ""]), found[1]
    besides = [-> { Account.with_connection { |it| it.select_rows("SHOW work_mem") } }, -> { Account.transaction(requires_new: true) { Account.count } },
               -> { Account.with_connection { |it| it.raw_connection.exec("SELECT 1") } }, -> { Account.where(id: 1).explain.inspect }]
    besides.each do |look|
      assert_equal([%("")], ran(1) { Account.transaction { Account.with_connection { |it| it.execute("SET LOCAL app.x = 'b'") } && look.call } && setting.to_s })
    end
    set = ->(sql) { Account.with_connection { |it| it.execute(sql) } }
    assert_equal([%("b")], ran(1) { Account.transaction { set.call("SET app.x = 'b'") } && setting })
    assert_equal "b", setting
    assert_equal([%("b")], ran(1) { Account.transaction { set.call("SET app.x = 'c'") && raise(ActiveRecord::Rollback) } || setting })
    ["SET app.x = 'c'", "NOTIFY snapshot_test"].each do |stays|
      assert_match(/can't undo what is set/, ran(1) { Account.transaction { set.call("SET LOCAL app.y = '1'") && set.call(stays) } }.first)
      assert_match(/can't undo what is set/, ran(1, schema: SETTINGS, x: "mine") { set.call(stays) }.first)
    end
  ensure
    Gated.with_connection { |it| it.execute("RESET app.x") }
  end

  # What a read-only transaction allows, and others hear or see when it is over: as without.
  def test_what_is_told_and_written_to_temporary_tables
    side(:ear).exec("LISTEN snapshot_test")
    tells = {
      execute: -> { Account.with_connection { |it| it.execute("NOTIFY snapshot_test, 'execute'") } },
      transaction: -> { Account.transaction { Account.with_connection { |it| it.execute("NOTIFY snapshot_test, 'transaction'") } } },
      parked: -> { Account.with_connection { |it| it.select_rows("SELECT count(pg_notify('snapshot_test', 'parked'))") } }
    }
    tells.each do |name, tell|
      assert_equal "600", ran(2) { |index| index.zero? ? tell.call : Account.sum(:balance) }.last
      assert_equal ["snapshot_test", name.to_s], side(:ear).wait_for_notify(10) { |channel, _, payload| break [channel, payload] }
    end
    Account.with_connection { |it| it.execute("CREATE TEMP TABLE seen (id int)") }
    count = -> { Account.with_connection { |it| it.select_value("SELECT count(*) FROM seen") } }
    writes = ->(*) { Account.with_connection { |it| it.execute("INSERT INTO seen VALUES (1)") } }
    found = ran(2) { |index| index.zero? ? (writes.call && Account.transaction(&writes)) && 1 : [Account.sum(:balance), count.call] }
    assert_equal ["1", "[600, 2]"], found
    assert_equal(["2"], ran(1) { refused { Account.transaction { writes.call && raise(ActiveRecord::ActiveRecordError) } } && count.call })
  ensure
    Gated.with_connection { |it| it.execute("DROP TABLE IF EXISTS pg_temp.seen") }
  end

  # Of a function who knows what it leaves behind, so the savepoint is renewed: behind the description, too.
  def test_what_is_told_is_described
    bind = ->(value) { ActiveRecord::Relation::QueryAttribute.new("v", value, ActiveModel::Type::Integer.new) }
    ask = ->(index) { Account.with_connection { |it| it.select_value("SELECT abs($1::int)", "Ask", [bind.call(-index)]) } }
    pid = -> { Gated.with_connection { |it| it.select_value("SELECT pg_backend_pid()") } }
    before = pid.call
    3.times { assert_equal %w[0 1 2 3], ran(4, &ask) }
    assert_equal before, pid.call
  end

  # ActiveRecord keeps what it learns of a table for all tenants; and it looks also behind a failure.
  def test_a_table_that_is_first_looked_at
    side.exec("CREATE SCHEMA snapshot_tenant; CREATE TABLE snapshot_tenant.looked (id int, own int); CREATE TABLE looked (id int, common int)")
    paths = SnapshotTest.schema({ snapshot: true, settings: ->(_) { { "search_path" => "snapshot_tenant, public" } } })
    looks = lambda do |before|
      Gated.connection_pool.schema_cache.clear!
      before.call
      Class.new(Gated) { self.table_name = "looked" }.tap { |model| model.define_singleton_method(:name) { "Looked" } }.columns.map(&:name)
    end
    fails = -> { Gated.with_connection { |it| it.execute("SELECT 1") && refused { it.raw_connection.exec("SELECT 1 / 0") } } }
    [-> { Account.sum(:balance) }, -> { Account.with_connection { |it| it.execute("SHOW work_mem") } }, -> { Account.transaction { Account.count } }].each do |before|
      assert_equal [%(["id", "common"])], ran(1, schema: paths) { looks.call(before) }
    end
    assert_equal [%(["id", "common"])], ran(1) { looks.call(fails) }
  ensure
    side.exec("DROP SCHEMA snapshot_tenant CASCADE; DROP TABLE looked")
  end

  def test_with_settings
    run = lambda do |index|
      next Account.where("1 / (id - id) = 1").to_a if index == 1

      found = [Account.sum(:balance), setting]
      spend
      [*found, Account.sum(:balance), setting, Account.transaction { setting }, Account.with_connection { |it| it.query_value(VALUE) }, Account.sum(:balance)]
    end
    3.times do
      fill
      found = ran(3, schema: SETTINGS, x: "mine", &run)
      assert_equal [%([600, "mine", 600, "mine", "mine", "mine", 600])] * 2, found.values_at(0, 2)
      assert_equal "", setting.to_s
    end
    2.times { answer(SETTINGS, "{ total accounts { behind } }", x: "a") }
    assert_round_trips(2) { answer(SETTINGS, "{ total accounts { behind } }", x: "a") }
  end

  # Executed by a fiber of a resolver's own, which Pipeloader doesn't know.
  def test_a_query_that_an_enumerator_executes
    run = ->(index) { index == 1 ? FAILS[:parked].call : Account.sum(:balance) }
    [WITHOUT, PIPED].each do |schema|
      fill
      found = ran(1) do
        Account.count && spend
        Enumerator.new { |them| them << schema.execute("{ a: run b: run(index: 1) c: run(index: 2) }", context: { run: run }).to_h }.next.then do |it|
          [*it["data"].values, it["errors"].size, Account.sum(:balance)]
        end
      end
      assert_equal [%(["600", nil, "600", 1, 600])], found
    end
  end

  # Each part that is executed later has a snapshot of its own.
  def test_partials
    skip "this graphql has no Query::Partial" unless GraphQL::Query.method_defined?(:run_partials)

    query = GraphQL::Query.new(PIPED, "{ accounts { behind } }")
    assert_equal [EACH] * ACCOUNTS, query.result.to_h.dig("data", "accounts").map { |it| it["behind"] }
    2.times do |round|
      spend
      parts = query.run_partials([{ path: ["accounts", 0], object: Account.find(6) }]).map(&:to_h)
      assert_equal([{ "behind" => EACH - 1 - round }], parts.map { |it| it["data"] })
    end
    release
  end

  # It has a dataloader of its own, and keeps no connection for itself.
  def test_a_query_that_an_enumerator_executes_first
    found = ran(2) do |index|
      first = Enumerator.new { |them| them << PIPED.execute("{ total }").to_h.dig("data", "total") }.next if index.zero?
      spend
      [*first, Account.sum(:balance)]
    end
    assert_equal ["[600, 600]", "[600]"], found
  end

  # They run a dataloader before the query does.
  def test_analyzers
    schema = Class.new(PIPED) do
      query(Class.new(Query) do
        graphql_name "Query"
        field :total, Integer, complexity: ->(_, arguments, _) { arguments.size + 1 }
      end)
      max_complexity(100)
      complexity_cost_calculation_mode(:future) if respond_to?(:complexity_cost_calculation_mode)
    end
    assert_equal({ "data" => { "total" => 600, "run" => "600" } }, schema.execute("{ total run }", context: { run: ->(_) { Account.sum(:balance) } }).to_h)
    release
  end

  # By a `Promise` of GraphQL::Batch, say. GraphQL 2.5 runs the dataloader once more for them.
  class Later
    def initialize(&read) = @read = read
    def value = @read.call
  end

  class LazyQuery < GraphQL::Schema::Object
    graphql_name "Query"
    field :now, Integer
    field :later, Integer

    def now = context[:run].call
    def later = Later.new(&context[:run])
  end

  def test_what_is_read_lazily
    schema = Class.new(PIPED) do
      query(LazyQuery)
      lazy_resolve(Later, :value)
    end
    found = schema.execute("{ now later }", context: { run: -> { Account.sum(:balance).tap { spend } } }).to_h
    if GraphQL::Dataloader.instance_method(:run).parameters.empty?
      assert_match(/resolves lazy values when all else .* is done/, found["errors"].first["message"])
    else
      assert_equal({ "data" => { "now" => 600, "later" => 600 } }, found)
    end
    release
  end

  # -- the caller's ----------------------------------------------------------------------------------------------------

  def test_in_the_callers_transaction
    Gated.transaction do
      Account.where(id: 1).update_all(balance: 50)
      assert_equal "[550, 1, 549]", ran(1) { [Account.sum(:balance), Account.where(id: 1).update_all(balance: 49), Account.sum(:balance)] }.first
      raise ActiveRecord::Rollback
    end
    assert_equal 600, Account.sum(:balance)
  end

  def test_a_connection_that_was_leased_before_stays_so
    kept = Gated.lease_connection
    assert_equal %w[600 600], ran(2) { Account.sum(:balance).tap { spend } }
    assert_same kept, Gated.lease_connection
  end

  # The COMMIT is under way when a response is over; whoever uses the connection next finds it done.
  def test_what_comes_behind_the_end
    nexts = {
      read: -> { Account.sum(:balance) }, write: -> { Account.where(id: 1).update_all("balance = balance") }, raw: -> { Gated.lease_connection.raw_connection.exec("SELECT 1") },
      transaction: -> { Gated.transaction { Account.count } }, isolated: -> { Gated.transaction(isolation: :serializable) { Account.count } },
      active: -> { assert_predicate Gated.lease_connection, :active? }, reset: -> { Gated.lease_connection.reset! }, reconnect: -> { Gated.lease_connection.reconnect! },
      disconnect: -> { Gated.lease_connection.disconnect! }, back: -> { Gated.release_connection; Gated.lease_connection.select_value("SELECT 1") },
      without: -> { answer(WITHOUT, "{ accounts { behind } total }") }, piped: -> { answer(PIPED, "{ accounts { behind } total }") },
      own: -> { ran(1) { Account.transaction { Account.count } } }, resets: -> { ran(1) { Account.with_connection(&:reset!); 1 } },
      settings: -> { answer(SETTINGS, "{ total }", x: "a") }, thread: -> { Gated.release_connection; Thread.new { Account.count.tap { Gated.release_connection } }.value },
      broken: -> { side.exec("SELECT pg_terminate_backend(#{raw(Gated.lease_connection).backend_pid}, 5000)"); assert_equal 6, Account.count }
    }
    nexts.each do |name, use|
      kept = Gated.lease_connection
      assert_equal ["600"], ran(1) { Account.sum(:balance) }, name
      assert_equal PG::PQTRANS_ACTIVE, raw(kept).transaction_status, name
      use.call
      assert_equal "read committed", Gated.lease_connection.select_value("SHOW transaction_isolation"), name
      assert_nil Gated.lease_connection.pipeloader_session.read_transaction, name
      assert_equal PG::PQTRANS_IDLE, raw(Gated.lease_connection).transaction_status, name
      release
    end
  end

  # What siblings are still using isn't given back.
  def test_a_connection_that_a_resolver_gives_back
    { release: -> { Gated.connection_pool.release_connection }, disconnect: -> { Gated.with_connection(&:disconnect!) }, reset: -> { Gated.with_connection(&:reset!) } }.each do |name, how|
      found = ran(3) do |index|
        next Account.count && how.call if index == 1

        [Account.sum(:balance), Account.sum(:balance).tap { spend }].uniq
      end
      assert(found.values_at(0, 2).all? { |it| it.match?(/\A\[600\]\z|The snapshot .* is gone/) }, found.inspect)
      name == :release ? refute_match(/is gone/, found.join) : assert_match(/is gone/, found.join)
      fill
      release
      assert_pool_sound(Gated.connection_pool)
    end
  end

  # The snapshot's own would be left behind in a transaction.
  def test_another_connection_that_a_resolver_takes
    found = ran(2) do |index|
      next if index == 1

      Gated.with_connection { |it| refused { it.execute("SELECT 1 / 0") } }
      another = Gated.connection_pool.checkout
      begin
        refused { another.select_value("SELECT 1") }
      ensure
        Gated.connection_pool.checkin(another)
      end
    end
    assert_match(/is gone/, found.first)
    assert_pool_sound(Gated.connection_pool)
  end

  def test_an_adapter_without_a_pool
    found = ran(1) do
      adapter = ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.new(Gated.connection_pool.db_config.configuration_hash.to_h)
      adapter.select_value("SELECT 1").tap { adapter.disconnect! }
    end
    assert_equal ["1"], found
  end

  # A resolver may lease it for good, also when it has been read.
  def test_a_connection_that_a_resolver_leases
    [-> { Account.count && Gated.lease_connection }, -> { Gated.lease_connection && Account.count }].each do |lease|
      ran_here { lease.call }
      refute_nil Gated.connection_pool.active_connection?
      release
    end
    ran_here { Account.count }
    assert_nil Gated.connection_pool.active_connection?
  end

  # Who has it in hand, finds it as without.
  def test_a_connection_that_somebody_has_in_hand
    by_hand = Gated.lease_connection.raw_connection
    ran_here { Account.sum(:balance) }
    assert_equal PG::PQTRANS_IDLE, by_hand.transaction_status
    by_hand.send_query("SELECT 7")
    assert_equal 7, by_hand.get_last_result.getvalue(0, 0)
  end

  # It can't.
  def test_another_thread_that_gives_it_back
    found = ran(2) do |index|
      first = Account.sum(:balance)
      adapter = Gated.connection_pool.active_connection?
      message = Thread.new { refused { adapter.expire } }.value if index.zero?
      spend
      [first, message.to_s[0, 24], Account.sum(:balance)]
    end
    assert_equal ['[600, "Cannot expire connection", 600]', '[600, "", 600]'], found
  end

  # By somebody's pg_cancel_backend in that moment: it is left in a transaction that has failed.
  def test_an_end_that_was_canceled
    kept = Gated.lease_connection
    ran_here { Account.count }
    raw(kept).block
    raw(kept).discard_results
    raw(kept).exec("BEGIN")
    assert_raises(PG::DivisionByZero) { raw(kept).exec("SELECT 1 / 0") }
    2.times { assert_equal 6, refused { Account.count } }
  end

  # Nobody waits for an end that doesn't come, to end the connection: not the pool's reaper, either.
  def test_the_network_is_gone_behind_a_response
    gate = put_gate(min_messages: "error", pool: 3)
    [-> { Gated.connection_pool.disconnect! }, -> { Gated.connection_pool.flush(-1) }, -> { Gated.connection_pool.connections.each(&:disconnect!) }].each do |ends|
      gate.pass
      ran_here { Account.sum(:balance).tap { gate.hold(:requests) } }
      release
      ender = in_thread(&ends)
      assert ender.join(20), "waits:\n#{ender.backtrace&.first(8)&.join("\n")}"
      gate.pass
      assert_equal 6, Account.count
      release
    end
  end

  # What others have written since is seen when the response is there.
  def test_the_query_cache_afterwards
    Gated.cache do
      PIPED.execute("{ run }", context: { run: ->(_) { Account.minimum(:balance) } })
      spend
      assert_operator Account.minimum(:balance), :<, EACH
    end
  ensure
    release
    fill
  end

  # What isn't a read of a burst fails, and something comes next.
  def test_what_comes_behind_a_failure
    { parked: -> { Account.sum(:balance) }, unparked: -> { Gated.with_connection { |it| it.execute("SELECT 600").getvalue(0, 0) } } }.each do |name, read|
      found = ran(1) do
        Gated.with_connection do |it|
          it.execute("SELECT 1")
          refused { it.raw_connection.exec("SELECT 1 / 0") }
        end
        read.call
      end
      assert_equal ["600"], found, name
    end
  end

  # -- faults ----------------------------------------------------------------------------------------------------------

  # By a cancel between two of our own statements: nothing can be read in it any more, and nobody hears of that later.
  def test_a_savepoint_that_is_missing
    found = ran(2) do |index|
      next Account.sum(:balance) if index.zero?

      Account.with_connection do |it|
        it.execute("SELECT 1")
        raw(it).exec("RELEASE SAVEPOINT pipeloader_read")
        refused { raw(it).exec("SELECT 1 / 0") }
      end
      Array.new(3) { refused { Account.count }[/savepoint|is gone/] }.last
    end
    assert_equal %("is gone"), found.last
    assert_equal(["600"], ran(1) { Account.sum(:balance) })
  end

  def test_a_connection_that_breaks_before_it_is_used
    [-> { Account.sum(:balance) }, -> { Account.transaction { Account.sum(:balance) } }].each do |read|
      fill
      kept = Gated.lease_connection
      kept.select_value("SELECT 1")
      terminate(raw(kept).backend_pid)
      assert_equal %w[600 600], ran(2) { read.call.tap { spend } }
    end
  end

  # Nobody reads in another one.
  def test_a_connection_that_breaks_in_the_middle
    found = ran(1) do
      sum = Account.sum(:balance)
      terminate(Account.with_connection { |it| raw(it).backend_pid })
      again = begin
        Account.sum(:balance)
      rescue StandardError => e
        e.class.name
      end
      last = begin
        Account.sum(:balance)
      rescue Pipeloader::SnapshotError => e
        e.message
      end
      [sum, again, last]
    end
    assert_match(/\A\[600, "(ActiveRecord::(ConnectionFailed|ConnectionNotEstablished|StatementInvalid)|Pipeloader::SnapshotError)", "The snapshot .* is gone/, found.first)
    assert_equal %w[600 600], ran(2) { Account.sum(:balance) }
  end

  def test_an_error_that_leaves_the_response
    schema = Class.new(PIPED)
    error = assert_raises(RuntimeError) { schema.execute("{ total run }", context: { run: ->(_) { Account.count && raise("left") } }) }
    assert_match(/left/, error.message)
    assert_equal PG::CONNECTION_OK, raw(Gated.connection_pool.connections.first).status
  end

  def test_forgotten_names
    ran(2) { Account.find(1).balance }
    found = ran(3) do |index|
      Account.with_connection { |it| it.execute("DEALLOCATE ALL") } if index == 1
      [Account.find(1).balance, Account.find_by(id: 2).balance]
    end
    assert_equal ["[100, 100]"] * 3, found
  end

  private

  # Without giving its connection back.
  def ran_here(&block) = PIPED.execute("{ run }", context: { run: ->(_) { block.call } })

  # @return [String] what it is refused with, if it is
  def refused
    yield
  rescue ActiveRecord::ActiveRecordError, PG::Error, Pipeloader::Error => e
    e.message
  end

  def told
    Told.sql = []
    Gated.connection_pool.connections.each { |it| raw(it).extend(Told) }
    yield
    Told.sql
  ensure
    Told.sql = nil
  end

  def fill = side.exec(ROWS)
  def reset = side.exec("UPDATE snapshot_accounts SET balance = #{EACH}")
  def setting = Account.with_connection { |it| it.select_value(VALUE) }

  # Somebody else writes.
  def spend = side(:writer).exec("UPDATE snapshot_accounts SET balance = balance - 1 WHERE id = 1").clear

  def move(from, to, name = :mover)
    side(name).exec(<<~SQL).clear
      UPDATE snapshot_accounts SET balance = balance + CASE id WHEN #{from} THEN -1 ELSE 1 END WHERE id IN (#{from}, #{to}) AND #{from} <> #{to}
    SQL
  end

  def answer(schema, query, **context)
    schema.execute(query, context: { run: ->(_) { Account.count }, **context }).to_h
  ensure
    release
  end

  def assert_queries_alike(schema)
    3.times { QUERIES.each { |query| assert_equal JSON.generate(answer(PLAIN, query)), JSON.generate(answer(schema, query)), query } }
  end

  # What each of several fields, on several levels, holds for the sum; in between somebody else writes.
  #
  # @param writes [Proc] what a field does when it has read
  def sums(schema, writes = -> { move(1, 3) || spend }, from: EACH)
    reset if from
    run = ->(_) { Account.sum(:balance).tap { writes.call } }
    each = (1..ACCOUNTS).map { |id| "n#{id}: account(id: #{id}) { balance }" }.join(" ")
    found = schema.execute("{ a: run b: run total accounts { balance peer { balance } behind loaded } #{each} }", context: { run: run }).to_h
    raise found.inspect if found["errors"]

    data = found["data"]
    lists = data["accounts"].map { |it| [it["balance"], it.dig("peer", "balance"), it["behind"], it["loaded"]] }.transpose
    singly = (1..ACCOUNTS).map { |id| data["n#{id}"]["balance"] }
    [*data.values_at("a", "b").map(&:to_i), data["total"], *[*lists, singly].map(&:sum)]
  ensure
    release
  end

  # @return [Array<String>] what +count+ fields say, or their errors
  def ran(count, schema: PIPED, **context, &block)
    found = schema.execute("{ #{Array.new(count) { |index| "f#{index}: run(index: #{index})" }.join(" ")} }", context: { run: block, **context }).to_h
    messages = found["errors"].to_a.to_h { |error| [error["path"].first, error["message"]] }
    Array.new(count) { |index| found.dig("data", "f#{index}") || messages["f#{index}"] }
  ensure
    release
  end
end

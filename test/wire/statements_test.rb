# frozen_string_literal: true

require_relative "wire_case"

# What a resolver, or another session, does to a connection's statements and settings while a response is built: command ×
# the field that gives it × moment × prepared or not. (Between responses: see SessionTest.)
class StatementsTest < WireCase
  # Given by a resolver, on the connection that all fields read by.
  COMMANDS = {
    deallocate_all: ->(connection) { connection.execute("DEALLOCATE ALL") },
    discard_plans: ->(connection) { connection.execute("DISCARD PLANS") },
    discard_all: ->(connection) { connection.execute("DISCARD ALL") },
    add_column: ->(connection) { connection.execute("ALTER TABLE shifting ADD COLUMN more int DEFAULT 7") },
    drop_column: ->(connection) { connection.execute("ALTER TABLE shifting DROP COLUMN extra") },
    change_type: ->(connection) { connection.execute("ALTER TABLE shifting ALTER COLUMN extra TYPE text USING 'x' || extra") },
    new_table: ->(connection) { connection.execute("DROP TABLE shifting; CREATE TABLE shifting AS SELECT 1 AS id, 'new' AS extra") },
    add_index: ->(connection) { connection.execute("CREATE INDEX shifting_id ON shifting (id)") },
    update: ->(connection) { connection.execute("UPDATE shifting SET extra = extra + 100") },
    search_path: ->(connection) { connection.schema_search_path = "other" },
    set_search_path: ->(connection) { connection.execute("SET search_path = other") },
    set_timezone: ->(connection) { connection.execute("SET timezone = 'Asia/Tokyo'") },
    set: ->(connection) { connection.execute("SET pipeloader.probe = 'changed'") },
    clear_cache: ->(connection) { connection.clear_cache! },
    reset: ->(connection) { connection.reset! },
    reconnect: ->(connection) { connection.reconnect! },
    disconnect: ->(connection) { connection.disconnect! }
  }.freeze

  # Serially, every read of a known statement fails from then on; we repair.
  FORGETS = %i[deallocate_all discard_all].freeze

  # Ends the transaction, or isn't allowed in one.
  NOT_IN_A_TRANSACTION = %i[discard_all reset reconnect disconnect].freeze

  FIELDS = 4

  def setup
    super
    side.exec("DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other; CREATE TABLE other.shifting AS SELECT 1 AS id, 30 AS extra")
  end

  def teardown
    release
    assert_pool_sound(Gated.connection_pool) if Gated.connection_handler.retrieve_connection_pool(Gated.name)
    side.exec("DROP SCHEMA IF EXISTS other CASCADE; DROP TABLE IF EXISTS shifting")
    super
  end

  COMMANDS.each_key do |command|
    [true, false].each do |prepared|
      mode = prepared ? "prepared" : "unprepared"

      define_method(:"test_#{command}_between_levels_#{mode}") do
        FIELDS.times { |field| assert_command_alike(command, field, prepared, :between) }
      end

      # The other fields' first reads are gathered, or still to come.
      define_method(:"test_#{command}_within_a_level_#{mode}") do
        FIELDS.times { |field| assert_command_alike(command, field, prepared, :within) }
      end

      next if NOT_IN_A_TRANSACTION.include?(command)

      define_method(:"test_#{command}_within_a_level_in_a_transaction_#{mode}") do
        FIELDS.times { |field| assert_command_alike(command, field, prepared, :within, transaction: true) }
      end
    end
  end

  # In an open transaction a forgotten name can't be repaired. A read by that name hears of it, also when the transaction is
  # aborted; a read that prepares a name hears that the transaction is aborted.
  [[0], [1], [0, 1]].each do |known|
    [[0, 1, 2], [2, 1, 0], [1, 1, 0, 0], [2, 0, 1, 2]].each do |read|
      define_method(:"test_names_#{known.join}_are_forgotten_in_a_transaction_that_reads_#{read.join}") do
        outcomes = assert_alike do |piped|
          connect_gated
          rolled_back do
            known.each { |number| numbered(number) }
            Gated.with_connection { |connection| connection.execute("DEALLOCATE ALL") }
            resolve(piped, read.size) { |index| numbered(read[index]) }
          end
        end
        assert_includes outcomes.grep(Failure).map(&:sqlstate), "26000"
      end
    end
  end

  def numbered(number)
    bind = ActiveRecord::Relation::QueryAttribute.new("n", 1, ActiveModel::Type::Integer.new)
    Gated.with_connection { |connection| connection.select_all("SELECT $1::int + #{number}", nil, [bind], preparable: true).rows.first.first }
  end

  # -- eviction --------------------------------------------------------------------------------------------------------

  # What is evicted is registered again, in the same response: in a transaction, after an error, by a repair.
  [1, 2, 3].each do |limit|
    [true, false].each do |transactions|
      define_method(:"test_statement_limit_of_#{limit}_with_#{transactions ? "transactions" : "repairs"}") do
        make_shifting
        connect_gated(statement_limit: limit)
        random = Random.new(seed)
        Gated.with_connection do |connection|
          20.times do |round|
            connection.execute("DEALLOCATE ALL") if !transactions && round.odd?
            in_a_transaction(transactions) { assert_many_shapes(Array.new(random.rand(1..8)) { random.rand(10) }) }
            failing = resolve(true, 3) { |index| index == 1 ? rows(connection, "SELECT $1::int / 0", 1) : many(index) }
            assert_equal [0, "22012", 20], failing.map { |it| it.is_a?(Failure) ? it.sqlstate : it }
            assert_operator raw(connection).exec("SELECT count(*) FROM pg_prepared_statements").getvalue(0, 0).to_i, :<=, limit
          end
        end
      end
    end
  end

  # The pool is full, and a read ends the transaction: what was answered before it, is; and no name is left behind.
  [1, 2].each do |limit|
    define_method(:"test_a_failed_transaction_with_a_statement_limit_of_#{limit}") do
      connect_gated(statement_limit: limit)
      20.times do |round|
        assert_alike do |piped|
          rolled_back { resolve(piped, 3) { |index| shape((round * 3) + index, index == 2 ? "1 / ($1::int - 4)" : "$1::int") } }
        end
      end
      assert_operator names_on_the_server, :<=, limit + 3
      resolve(true, 1) { |_| shape(0, "$1::int") }
      assert_operator names_on_the_server, :<=, limit
    end
  end

  NEW = [-> { value("SELECT 5000000000") }, -> { value("SELECT current_setting('search_path')") }, -> { value("SELECT extra FROM shifting") },
         -> { value("SELECT now() IS NOT NULL") }].freeze

  def self.value(sql) = Gated.with_connection { |connection| connection.select_value(sql) }

  # -- new connections -------------------------------------------------------------------------------------------------

  # Its first statements are ActiveRecord's settings, whoever is the first to need it: a read, or a resolver that quotes
  # while reads are gathered.
  { unprepared: { prepared_statements: false }, prepared: {} }.each do |mode, settings|
    define_method(:"test_a_new_connection_that_is_first_used_for_a_burst_#{mode}") do
      assert_new_connection_alike(settings) { |index| NEW[index].call }
    end

    define_method(:"test_a_new_connection_that_is_first_used_by_a_resolver_that_quotes_#{mode}") do
      assert_new_connection_alike(settings) do |index|
        Gated.with_connection { |connection| connection.quote("x") } if index == 3
        NEW[index].call
      end
    end
  end

  # -- somebody else's names -------------------------------------------------------------------------------------------

  # PREPARE fails. Serially each try takes the next name.
  def test_a_name_that_is_taken
    outcomes = assert_alike do |piped|
      with_a_taken_name do |connection|
        resolve(piped, 2) { |index| rows(connection, index.zero? ? "SELECT $1::int * 2" : "SELECT $1::int * 3", 4) }.map { |it| it.is_a?(Failure) ? it.sqlstate : it }
      end
    end
    assert_equal ["42P05", [[12]]], outcomes
  end

  # The others mustn't run what has the name.
  def test_a_name_that_is_taken_for_reads_of_one_shape
    outcomes = with_a_taken_name { |connection| resolve(true, 3) { |index| rows(connection, "SELECT $1::int * 2", index) } }
    assert_equal ["42P05", [[2]], [[4]]], outcomes.map { |it| it.is_a?(Failure) ? it.sqlstate : it }
  end

  private

  def shape(number, value) = rows(Gated.lease_connection, "SELECT #{number} + #{value}", 4)

  def names_on_the_server = raw(Gated.lease_connection).exec("SELECT count(*) FROM pg_prepared_statements").getvalue(0, 0).to_i

  def rows(connection, sql, value)
    bind = ActiveRecord::Relation::QueryAttribute.new("value", value, ActiveModel::Type::Integer.new)
    return connection.select_all(sql, "Rows", [bind], preparable: true).rows if connection.prepared_statements

    connection.select_all(sql.sub("$1", value.to_s), "Rows").rows
  end

  # One of ten shapes.
  def many(index) = Gated.with_connection { |connection| rows(connection, "SELECT $1::int * 10#{" " * index}", index) }.first.first

  # Yields a connection of which the name that it is going to give next means something else.
  def with_a_taken_name
    connect_gated
    Gated.with_connection do |connection|
      connection.schema_search_path # asks the server once per connection
      next_name = connection.instance_variable_get(:@statements).instance_variable_get(:@counter) + 1
      connection.execute("PREPARE a#{next_name} (bigint) AS SELECT $1::text, 'not yours'")
      yield connection
    ensure
      connection.disconnect!
    end
  end

  def in_a_transaction(really, &block) = really ? Gated.transaction(&block) : yield

  def assert_many_shapes(order)
    outcomes = resolve(true, order.size) { |index| [many(order[index]), many((order[index] + 3) % 10)] }
    assert_equal(order.map { |it| [it * 10, ((it + 3) % 10) * 10] }, outcomes)
  end

  # What a field reads: rows of the table, and what it is told of the session.
  def look(connection, index)
    table = rows(connection, "SELECT * FROM shifting WHERE id >= $1 ORDER BY id", index % 2)
    [table, rows(connection, "SELECT $1::int, current_setting('pipeloader.probe', true)", index)]
  end

  # One read, so that in a transaction no deeper level of an earlier field comes after the command.
  def glance(connection, index)
    return rows(connection, "SELECT * FROM shifting WHERE id >= $1 ORDER BY id", index % 2) if index.even?

    rows(connection, "SELECT current_setting('pipeloader.probe', true), $1::int, '2020-01-01 12:00+00'::timestamptz::text", index)
  end

  def assert_command_alike(command, field, prepared, moment, transaction: false)
    # What is forgotten is repaired: as without prepared statements, where nothing can be.
    plain = outcomes_of(false, command, field, prepared && (transaction || !FORGETS.include?(command)), moment, transaction)
    piped = outcomes_of(true, command, field, prepared, moment, transaction)
    assert_equal plain, piped, "#{command} by field #{field}"
    # It is for the connection to be as good as new.
    refute_includes piped.flatten.grep(Failure).map(&:sqlstate), "26000" unless transaction
  end

  def outcomes_of(piped, command, field, prepared, moment, transaction)
    make_shifting
    connect_gated(prepared_statements: prepared)
    Gated.with_connection do |connection|
      connection.schema_search_path # asks the server once per connection
      FIELDS.times { |index| [look(connection, index), glance(connection, index)] }
      connection.execute("SET pipeloader.probe = 'set'")
      rolled_back_if(transaction) do
        resolve(piped, FIELDS) do |index|
          # What a later field reads first is asked for before the command, unlike in a serial run: levels are that.
          before = look(connection, index) if moment == :between
          COMMANDS.fetch(command).call(connection) if index == field
          [(before if index <= field), glance(connection, index)]
        end
      end
    end
  ensure
    release
  end

  def assert_new_connection_alike(settings, &block)
    make_shifting
    outcomes = assert_alike do |piped|
      Gated.establish_connection(TestDatabase.hash(schema_search_path: "other", **settings))
      resolve(piped, NEW.size, &block)
    end
    assert_equal [5_000_000_000, "other", 30, true], outcomes
  end
end

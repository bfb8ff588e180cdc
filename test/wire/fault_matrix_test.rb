# frozen_string_literal: true

require_relative "both_ways"

# Fault × position × transaction × prepared or not, beyond those of faults_test: faults that another session causes, every
# SQLSTATE that ActiveRecord has a class for, types that it doesn't know. Each cell is run without Pipeloader and with it:
# what each field got (class, message, SQLSTATE, SQL, binds), and what state the transaction is in, must be equal.
class FaultMatrixTest < WireCase
  include BothWays

  FIELDS = 5
  POSITIONS = { first: [0], middle: [2], last: [4], all: [0, 1, 2, 3, 4] }.freeze

  # Raised by a function: {name => SQLSTATE}
  STATES = {
    unique: "23505", foreign_key: "23503", not_null: "23502", check: "23514", exclusion: "23P01", too_long: "22001", out_of_range: "22003",
    division: "22012", serialization: "40001", deadlock_detected: "40P01", lock_not_available: "55P03", query_canceled: "57014",
    undefined_table: "42P01", undefined_column: "42703", read_only: "25006", no_such_statement: "26000", unsupported: "0A000",
    too_many_connections: "53300", out_of_memory: "53200", disk_full: "53100", statement_too_complex: "54001", internal: "XX000",
    connection_failure: "08006", aborted: "25P02", duplicate_database: "42P04", insufficient_privilege: "42501", custom: "PL001"
  }.freeze

  # {fault => [SQL, value]}
  FAULTS = {
    **STATES.to_h { |name, state| [:"state_#{name}", ["SELECT fail_by('#{state}', $1::text)", "why"]] },
    canceled: ["SELECT pg_cancel_backend(pg_backend_pid()), pg_sleep(30), $1::int", 1],
    deadlock: ["SELECT pg_advisory_lock(71), $1::int", 1],
    serialization_failure: ["SELECT id, $1::int FROM contended WHERE id = 1 FOR UPDATE", 1],
    write_in_read: ["SELECT nextval('matrix_sequence'), $1::int", 1],
    enum_type: ["SELECT 'sad'::fresh_mood, $1::int", 1],
    enum_array: ["SELECT ARRAY['sad'::fresh_mood], $1::int", 1],
    composite_type: ["SELECT ROW(1, 'x')::fresh_pair, $1::int", 1],
    domain_type: ["SELECT 7::fresh_number, $1::int", 1],
    bad_enum: ["SELECT $1::text::fresh_mood", "happy"],
    bad_domain: ["SELECT $1::int::fresh_number", -1],
    missing_after_cast: ["SELECT (SELECT id FROM posts), $1::int", 1],
    notice_before: ["SELECT notice_and_fail($1::text)", "noted"]
  }.freeze

  ROLLBACK = ->(model, **options, &run) { model.transaction(**options) { run.call.tap { raise ActiveRecord::Rollback } } }

  TRANSACTIONS = {
    none: ->(_model, &run) { run.call },
    transaction: ->(model, &run) { ROLLBACK.call(model, &run) },
    savepoint: ->(model, &run) { ROLLBACK.call(model) { ROLLBACK.call(model, requires_new: true, &run) } },
    read_only: ->(model, &run) { ROLLBACK.call(model) { model.lease_connection.execute("SET TRANSACTION READ ONLY") && run.call } },
    read_only_session: lambda { |model, &run|
      model.lease_connection.execute("SET default_transaction_read_only = on")
      begin
        run.call
      ensure
        model.lease_connection.execute("RESET default_transaction_read_only")
      end
    },
    preventing_writes: ->(_model, &run) { ActiveRecord::Base.while_preventing_writes(&run) },
    repeatable_read: ->(model, &run) { ROLLBACK.call(model, isolation: :repeatable_read, &run) }
  }.freeze

  @cells = Hash.new(0)
  singleton_class.attr_reader :cells
  Minitest.after_run { puts "  fault matrix: #{cells[:tried]} cells tried, #{cells[:equal]} equal to serial ActiveRecord" if cells[:tried].positive? }

  def setup
    super
    side.exec(<<~SQL)
      CREATE OR REPLACE FUNCTION fail_by(state text, why text) RETURNS int LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION 'because of %', why USING ERRCODE = state, DETAIL = 'detail', HINT = 'hint'; END $$;
      CREATE OR REPLACE FUNCTION notice_and_fail(why text) RETURNS int LANGUAGE plpgsql AS
        $$ BEGIN RAISE DEBUG 'noticed'; RETURN 1 / length(left(why, 0)); END $$;
      CREATE TABLE IF NOT EXISTS contended (id int, number int);
      TRUNCATE contended;
      INSERT INTO contended VALUES (1, 1);
      CREATE SEQUENCE IF NOT EXISTS matrix_sequence
    SQL
  end

  FAULTS.each_key do |fault|
    [Prepared, Unprepared].each do |model|
      define_method(:"test_#{fault}_#{model.name.demodulize.downcase}") do
        TRANSACTIONS.each_key do |transaction|
          POSITIONS.each_key { |position| assert_cell(fault, position, transaction, model) }
        end
      end
    end
  end

  # The faults do occur.
  def test_the_matrix_does_fail_as_it_says
    expected = FAULTS.keys.to_h { |fault| [fault, STATES[fault.to_s.delete_prefix("state_").to_sym]] }
    expected.update(canceled: "57014", deadlock: "40P01", serialization_failure: "40001", write_in_read: nil, bad_enum: "22P02", bad_domain: "23514",
                    missing_after_cast: "21000", notice_before: "22012")
    states = FAULTS.keys.to_h { |fault| [fault, outcomes_of(fault, :middle, :repeatable_read, Prepared, true).first[2].then { |it| it.sqlstate if it.is_a?(Failure) }] }
    assert_equal expected, states
    assert_equal "25006", outcomes_of(:write_in_read, :middle, :read_only, Prepared, true).first[2].sqlstate
  end

  private

  def assert_cell(fault, position, transaction, model)
    label = "#{fault} #{position} #{transaction} #{model}"
    FaultMatrixTest.cells[:tried] += 1
    plain, piped = [false, true].map { |with| outcomes_of(fault, position, transaction, model, with) }
    assert_equal plain, piped, label
    assert_pool_sound(model.connection_pool, label)
    FaultMatrixTest.cells[:equal] += 1
  end

  # @return [Array] what the fields got, and the transaction's state before it was rolled back
  def outcomes_of(fault, position, transaction, model, piped)
    outcomes = state = nil
    renew_types(model) if fault.match?(/enum|composite|domain/)
    model.lease_connection.schema_search_path # asks the server once per connection
    prepared_for(fault, model) do
      TRANSACTIONS.fetch(transaction).call(model) do
        contend(model) if fault == :serialization_failure
        outcomes = without_warnings { resolve(piped, FIELDS) { |index| read(model, index, POSITIONS.fetch(position), *FAULTS.fetch(fault)) } }
        state = state_of(model)
      end
    end
    [outcomes.map { |outcome| settled(outcome) }, state]
  ensure
    model.release_connection
  end

  # Types that ActiveRecord hasn't heard of, on a connection without statements over those of before.
  def renew_types(model)
    model.lease_connection.verify! # it asks for all types when it connects
    model.lease_connection.clear_cache!
    side.exec(<<~SQL)
      DROP TYPE IF EXISTS fresh_mood, fresh_pair CASCADE;
      DROP DOMAIN IF EXISTS fresh_number CASCADE;
      CREATE TYPE fresh_mood AS ENUM ('sad');
      CREATE TYPE fresh_pair AS (a int, b text);
      CREATE DOMAIN fresh_number AS int CHECK (VALUE > 0)
    SQL
  end

  # A deadlock that is ours to lose: the other session waits for us before we wait for it.
  def prepared_for(fault, model)
    return yield unless fault == :deadlock

    connection = model.lease_connection
    connection.execute("SET deadlock_timeout = '5ms'")
    connection.execute("SELECT pg_advisory_lock(72)")
    side(:lock).exec("SET deadlock_timeout = '1h'; SELECT pg_advisory_lock(71)")
    side(:lock).send_query("SELECT pg_advisory_lock(72)")
    await_waiter
    begin
      yield
    ensure
      connection.execute("SELECT pg_advisory_unlock_all(); RESET deadlock_timeout")
      side(:lock).get_last_result
      side(:lock).exec("SELECT pg_advisory_unlock_all()")
    end
  end

  # Another session changes what this transaction's snapshot shows.
  def contend(model)
    model.lease_connection.execute("SELECT 1 FROM contended")
    side.exec("UPDATE contended SET number = number + 1")
  end

  def read(model, index, positions, sql, value)
    sql, value = "SELECT 'field ' || $1::text", index.to_s unless positions.include?(index)
    type = value.is_a?(Integer) ? ActiveModel::Type::Integer.new : ActiveModel::Type::String.new
    bind = ActiveRecord::Relation::QueryAttribute.new("value", value, type)
    model.with_connection do |connection|
      sql = sql.gsub("$1", connection.quote(value)) unless connection.prepared_statements
      result = connection.select_all(sql, "Fault", connection.prepared_statements ? [bind] : [], preparable: true)
      [result.columns, result.cast_values]
    end
  end

  # Process ids, and what a sequence has come to, are different each time.
  def settled(outcome)
    case outcome
    when Failure then outcome.dup.tap { |it| it.message = it.message.gsub(/(process|Process|transaction) \d+/, '\1 …') }
    when Array then outcome.first == %w[nextval int4] ? "next" : outcome
    else outcome
    end
  end

  # "unknown OID 16999: failed to recognize type of 'fresh_mood'. It will be treated as String."
  def without_warnings
    was, $stderr = $stderr, StringIO.new
    yield
  ensure
    $stderr = was
  end
end

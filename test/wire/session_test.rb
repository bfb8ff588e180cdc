# frozen_string_literal: true

require "objspace"
require_relative "connection_case"

# What becomes of a response when the server forgets what we think it knows: names, tables, settings.
class SessionTest < ConnectionCase
  # Whatever an old object refers to is old to the garbage collector, too; and connections are old.
  def test_it_refers_weakly_to_what_belongs_to_a_response
    _, (response, bursts, kinds) = resolve(true, 2) do |index|
      next shape(index) if index.zero?

      session = Gated.with_connection(&:pipeloader_session)
      gathering = session.instance_variable_get(:@gathering)
      [session.response.class, gathering.map { |it| it.object.class },
       [session, gathering].flat_map { |it| ObjectSpace.reachable_objects_from(it) }.map(&:class)]
    end
    assert_equal [Pipeloader::Response, [Pipeloader::Burst]], [response, bursts]
    assert_empty kinds & [Pipeloader::Response, Pipeloader::Burst]
  end

  def test_weak_references
    there = Array.new(100) { Object.new }
    kept = there.map { |it| Pipeloader::WeakReference.new(it) }
    gone = Thread.new { Array.new(100) { Pipeloader::WeakReference.new(Object.new) } }.value
    3.times { GC.start }
    assert_equal there, kept.map(&:object)
    assert_operator gone.count { |it| it.object.nil? }, :>, 90 # a stack may still show some
  end

  # Under a fiber scheduler others go on while a burst waits, and other threads may have the connection: their writes are none of it.
  { fiber: ->(write) { Fiber.new(&write).resume }, thread: ->(write) { Thread.new(&write).join }, itself: ->(write) { write.call } }.each do |whose, run|
    define_method(:"test_a_write_while_a_burst_is_sent_by_#{whose}") do
      attempt = Pipeloader::Attempt.new
      Gated.with_connection do |connection|
        write = -> { attempt.around { connection.execute("UPDATE posts SET body = body WHERE id = 1") } }
        connection.pipeloader_session.sending { run.call(write) }
        refute_predicate connection.pipeloader_session, :sending?
      end
      assert_equal whose != :itself, attempt.wrote?
    end
  end

  # -- what the server forgets -----------------------------------------------------------------------------------------

  # (ActiveRecord alone doesn't get over DEALLOCATE ALL: each read fails by 26000 from then on.)
  ["DEALLOCATE ALL", "DISCARD ALL", "DISCARD PLANS"].each do |command|
    define_method(:"test_#{command.downcase.tr(" ", "_")}_between_bursts") do
      expected = resolve(false, 5) { |index| shape(index) }
      Gated.with_connection do |connection|
        3.times do
          assert_equal expected, resolve(true, 5) { |index| shape(index) }
          raw(connection).exec(command)
        end
        # Healed for good: names are known again, nothing needs repair.
        resolve(true, 5) { |index| shape(index) }
        assert_equal(1, WireCounter.events("burst.pipeloader") { resolve(true, 5) { |index| shape(index) } }.size)
      end
    end

    define_method(:"test_#{command.downcase.tr(" ", "_")}_in_a_transaction") do
      assert_alike do |piped|
        Gated.with_connection do |connection|
          2.times { resolve(piped, 5) { |index| shape(index) } } # the first repairs what the run before has left
          Gated.transaction do
            connection.materialize_transactions
            command == "DISCARD ALL" ? assert_raises(PG::ActiveSqlTransaction) { raw(connection).exec(command) } : raw(connection).exec(command)
            [resolve(piped, 5) { |index| shape(index) }, raw(connection).transaction_status]
          end
        end
      rescue ActiveRecord::StatementInvalid => e
        Failure.of(e)
      end
    end
  end

  def test_forgotten_within_the_burst
    side.exec("CREATE OR REPLACE FUNCTION forget() RETURNS int LANGUAGE plpgsql AS $$ BEGIN DEALLOCATE ALL; RETURN 1; END $$")
    expected = resolve(false, 5) { |index| shape(index) }
    Gated.with_connection do |connection|
      resolve(true, 5) { |index| shape(index) }
      outcomes = resolve(true, 6) { |index| index.zero? ? connection.select_value("SELECT forget()") : shape(index - 1) }
      assert_equal [1, *expected], outcomes
    end
  end

  def test_the_connection_breaks_while_forgotten_statements_are_repaired
    Gated.with_connection do |connection|
      expected = resolve(true, 5) { |index| shape(index) }
      raw(connection).exec("DEALLOCATE ALL")
      killer = killing_waiter("posts")
      assert_equal expected, resolve(true, 5) { |index| shape(index) }
      killer.join
    end
  end

  def test_a_repair_that_fails_says_why
    side.exec("DROP TABLE IF EXISTS fleeting; CREATE TABLE fleeting (id int)")
    outcomes = Gated.with_connection do |connection|
      2.times { resolve(true, 2) { |index| rows(connection, "SELECT * FROM fleeting WHERE id = $1", index) } }
      side.exec("DROP TABLE fleeting")
      raw(connection).exec("DEALLOCATE ALL")
      resolve(true, 3) { |index| rows(connection, index == 1 ? "SELECT $1::int" : "SELECT * FROM fleeting WHERE id = $1", index) }
    end
    assert_equal ["42P01", nil, "42P01"], outcomes.map { |it| it.sqlstate if it.is_a?(Failure) }
  end

  # -- ALTER TABLE -----------------------------------------------------------------------------------------------------

  { add: "ADD COLUMN more int DEFAULT 7", drop: "DROP COLUMN extra", type: "ALTER COLUMN extra TYPE text" }.each do |name, change|
    define_method(:"test_alter_table_#{name}_between_bursts") do
      outcomes = assert_alike do |piped|
        make_shifting
        Gated.with_connection do |connection|
          before = shifting(piped, connection)
          side.exec("ALTER TABLE shifting #{change}")
          [before, shifting(piped, connection), shifting(piped, connection)]
        end
      end
      assert_equal outcomes[1], outcomes[2]
      refute_equal outcomes[0], outcomes[1]
      assert_empty outcomes.flatten.grep(Failure)
    end

    define_method(:"test_alter_table_#{name}_in_a_transaction") do
      outcomes = assert_alike do |piped|
        make_shifting
        Gated.with_connection do |connection|
          shifting(piped, connection)
          Gated.transaction do
            connection.select_value("SELECT 1")
            side.exec("ALTER TABLE shifting #{change}")
            result = [shifting(piped, connection), raw(connection).transaction_status]
            connection.execute("ROLLBACK; BEGIN") if raw(connection).transaction_status == PG::PQTRANS_INERROR
            result
          end
        end
      end
      assert_equal "ActiveRecord::PreparedStatementCacheExpired", outcomes.first.first.class_name
    end
  end

  def test_alter_table_while_the_burst_runs
    make_shifting
    Gated.with_connection do |connection|
      resolve(true, 2) { |index| rows(connection, "SELECT * FROM shifting WHERE id = $1", index + 1) }
      altering = in_thread do
        advisory_locked(41) do
          @locked = true
          await_waiter
          side.exec("ALTER TABLE shifting ADD COLUMN more int DEFAULT 7")
        end
      end
      Thread.pass until @locked
      outcomes = resolve(true, 3) do |index|
        index.zero? ? connection.select_value("SELECT 1 FROM pg_advisory_xact_lock(41)") : rows(connection, "SELECT * FROM shifting WHERE id = $1", index)
      end
      altering.join
      assert_equal [1, [[1, 10, 7]], [[2, 20, 7]]], outcomes
    end
  end

  # -- eviction --------------------------------------------------------------------------------------------------------

  [1, 2, 3].each do |limit|
    define_method(:"test_statement_limit_of_#{limit}") do
      connect_gated(statement_limit: limit)
      expected = resolve(false, 10) { |index| shape(index) }
      random = Random.new(limit)
      Gated.with_connection do |connection|
        10.times do
          order = (0...10).to_a.shuffle(random: random).first(random.rand(1..10))
          assert_equal expected.values_at(*order), resolve(true, order.size) { |index| shape(order[index]) }
          known = raw(connection).exec("SELECT count(*) FROM pg_prepared_statements").getvalue(0, 0).to_i
          assert_operator known, :<=, limit
          assert_operator connection.instance_variable_get(:@statements).length, :<=, limit
        end
      end
    end
  end

  def test_a_thousand_shapes_leave_no_more_than_the_limit
    connect_gated(statement_limit: 100)
    Gated.with_connection do |connection|
      5.times do |round|
        outcomes = resolve(true, 200) { |index| rows(connection, "SELECT $1::int + #{(round * 200) + index}", 1) }
        assert_equal((0...200).map { |index| [[(round * 200) + index + 1]] }, outcomes)
      end
      assert_operator raw(connection).exec("SELECT count(*) FROM pg_prepared_statements").getvalue(0, 0).to_i, :<=, 100
    end
  end

  %i[reset! reconnect! disconnect!].each do |method|
    define_method(:"test_#{method.to_s.delete("!")}_between_bursts") do
      Gated.with_connection do |connection|
        expected = resolve(true, 5) { |index| shape(index) }
        connection.public_send(method)
        2.times { assert_equal expected, resolve(true, 5) { |index| shape(index) } }
      end
    end
  end

  def test_search_path_changes
    side.exec("DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other; CREATE TABLE other.posts AS SELECT id, 'other ' || title AS title FROM posts")
    Gated.with_connection do |connection|
      read = ->(index) { rows(connection, "SELECT title FROM posts WHERE id = $1", index + 1) }
      assert_equal [[["post 1"]], [["post 2"]]], resolve(true, 2, &read)
      connection.schema_search_path = "other"
      assert_equal [[["other post 1"]], [["other post 2"]]], resolve(true, 2, &read)
      connection.schema_search_path = '"$user",public'
      assert_equal [[["post 1"]], [["post 2"]]], resolve(true, 2, &read)
    end
  ensure
    side.exec("DROP SCHEMA IF EXISTS other CASCADE")
  end

  private

  # Locks the table at once, and kills the first that waits for it.
  def killing_waiter(table)
    locked = Queue.new
    thread = in_thread do
      table_locked(table) do
        locked << true
        terminate(await_waiter)
      end
    end
    locked.pop
    thread
  end

  # Ten reads of ten shapes.
  def shape(index)
    Gated.with_connection do |connection|
      case index
      when 0 then GatedPost.find(1).title
      when 1 then GatedPost.find_by(title: "post 2").id
      when 2 then GatedPost.where(id: 3).pick(:likes)
      when 3 then GatedPost.order(:id).limit(2).map(&:title)
      else rows(connection, "SELECT id + #{index} FROM posts WHERE id = $1", index)
      end
    end
  end

  def rows(connection, sql, value)
    bind = ActiveRecord::Relation::QueryAttribute.new("value", value, ActiveModel::Type::Integer.new)
    connection.select_all(sql, "Rows", [bind], preparable: true).rows
  end

  def shifting(piped, connection)
    resolve(piped, 3) { |index| rows(connection, index == 1 ? "SELECT $1::int" : "SELECT * FROM shifting WHERE id = $1", index.zero? ? 1 : 2) }
  end
end

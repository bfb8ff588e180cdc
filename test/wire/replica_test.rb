# frozen_string_literal: true

require_relative "wire_case"
require_relative "../support/replica"

# Roles that are different servers, and shards: which server a field reads from is the field's own affair, whatever others do
# in the same level.
class ReplicaTest < WireCase
  # The server that writes and the one that is read from.
  class Roled < ActiveRecord::Base
    self.abstract_class = true
    self.connection_class = true
    self.connection_specification_name = name
  end

  class RoledPost < Roled
    self.table_name = "posts"
  end

  class << self
    def replica = @replica ||= Replica.new
  end

  def setup
    super
    (@sides ||= {})[:second] = TestDatabase.connect(TestDatabase::SECOND)
    side(:second).exec("SET client_min_messages = warning; DROP TABLE IF EXISTS posts; CREATE TABLE posts (id bigint PRIMARY KEY, title text, likes int)")
    side(:second).exec("INSERT INTO posts SELECT i, 'second ' || i, i FROM generate_series(1, 12) i")
    side.exec("DROP TABLE IF EXISTS conflict; CREATE TABLE conflict AS SELECT 1 AS id; DROP SEQUENCE IF EXISTS numbers; CREATE SEQUENCE numbers; UPDATE posts SET likes = 1 WHERE id = 1")
    replica.catch_up(side)
    connect(TestDatabase.hash, :writing)
    connect(replica.hash, :reading)
    connect(TestDatabase.hash(TestDatabase::SECOND), :writing, :two)
    connect(replica.hash(TestDatabase::SECOND), :reading, :two)
  end

  def teardown
    release
    pools.each { |pool| assert_pool_sound(pool) }
    %i[writing reading].product(%i[default two]) { |role, shard| handler.remove_connection_pool(Roled.name, role: role, shard: shard) }
    side(:second).exec("DROP TABLE posts")
    super
  end

  # -- roles -----------------------------------------------------------------------------------------------------------

  def test_both_roles_in_one_response
    outcomes = assert_resolves_alike(6) do |index|
      at(index.even? ? :reading : :writing) { [replica?, RoledPost.find(index + 1).title, replica?] } << replica?
    end
    assert_equal(Array.new(6) { |index| [index.even?, "post #{index + 1}", index.even?, false] }, outcomes)
  end

  def test_both_roles_go_in_one_level
    bursts = WireCounter.events("burst.pipeloader") { resolve(true, 6) { |index| at(index.even? ? :reading : :writing) { RoledPost.find(index + 1).title } } }
    assert_equal [[1, 3], [1, 3]], bursts.map { |burst| [burst[:position], burst[:reads].size] }
  end

  def test_a_relation_that_is_read_in_another_role_than_it_was_made_in
    outcomes = assert_resolves_alike(4) do |index|
      relation = at(:reading) { RoledPost.where(id: index + 1) }
      at(index.odd? ? :reading : :writing) { [relation.pick(Arel.sql("pg_is_in_recovery()")), relation.map(&:title)] }
    end
    assert_equal [false, true, false, true], outcomes.map(&:first)
  end

  def test_roles_within_roles
    outcomes = assert_resolves_alike(3) do |index|
      at(:reading) do
        first = replica?
        inner = at(:writing) { [replica?, RoledPost.find(index + 1).title, replica?] }
        [first, inner, replica?]
      end
    end
    assert_equal(Array.new(3) { |index| [true, [false, "post #{index + 1}", false], true] }, outcomes)
  end

  # Each sees its own server's state: the replica is behind.
  def test_a_replica_that_is_behind
    replica.paused do
      side.exec("UPDATE posts SET likes = 2 WHERE id = 1")
      outcomes = assert_resolves_alike(4) { |index| at(index.even? ? :reading : :writing) { RoledPost.find(1).likes } }
      assert_equal [1, 2, 1, 2], outcomes
    end
  end

  # What the query cache knows of the one server is no answer of the other.
  def test_query_cache_of_two_roles
    replica.paused do
      side.exec("UPDATE posts SET likes = 2 WHERE id = 1")
      outcomes = assert_resolves_alike(4, around: ->(&run) { at(:reading) { Roled.cache { at(:writing) { Roled.cache(&run) } } } }) do |index|
        at(index.even? ? :reading : :writing) { [RoledPost.find(1).likes, RoledPost.find(1).likes] }
      end
      assert_equal [[1, 1], [2, 2]] * 2, outcomes
    end
  end

  def test_a_transaction_in_one_role_and_reads_in_the_other
    outcomes = assert_resolves_alike(4) do |index|
      next at(:reading) { RoledPost.find(1).likes } unless index == 1

      result = nil
      RoledPost.transaction do
        RoledPost.where(id: 1).update_all(likes: 7)
        result = [RoledPost.find(1).likes, at(:reading) { RoledPost.find(1).likes }]
        raise ActiveRecord::Rollback
      end
      result
    end
    assert_equal [1, [7, 1], 1, 1], outcomes
  end

  # -- writes that aren't allowed ----------------------------------------------------------------------------------------

  WRITES = {
    update_all: -> { RoledPost.where(id: 1).update_all(likes: 3) },
    create: -> { RoledPost.create!(title: "new").title },
    execute: -> { Roled.with_connection { |connection| connection.execute("UPDATE posts SET likes = 3") } },
    delete: -> { RoledPost.find(12).destroy },
    # ActiveRecord takes these for reads; the server doesn't.
    with: -> { Roled.with_connection { |connection| connection.select_rows("WITH x AS (UPDATE posts SET likes = 3 WHERE id = 1 RETURNING id) SELECT id FROM x") } },
    nextval: -> { Roled.with_connection { |connection| connection.select_value("SELECT nextval('numbers')") } },
    lock: -> { RoledPost.lock.find(1).title }
  }.freeze

  WRITES.each do |name, write|
    define_method(:"test_#{name}_in_the_reading_role") do
      3.times do |writer|
        outcomes = assert_resolves_alike(3) { |index| at(:reading) { index == writer ? write.call : RoledPost.find(index + 1).title } }
        assert_kind_of Failure, outcomes.delete_at(writer)
        assert_empty outcomes.grep(Failure)
      end
    end
  end

  def test_read_only_errors_are_active_records
    writes = WRITES.values_at(:update_all, :create, :execute, :delete)
    outcomes = assert_resolves_alike(4) { |index| at(:reading) { writes[index].call } }
    assert_equal ["ActiveRecord::ReadOnlyError"] * 4, outcomes.map(&:class_name)
  end

  def test_while_preventing_writes_is_the_fields_own
    outcomes = assert_resolves_alike(3) do |index|
      next RoledPost.where(id: 1).update_all(likes: 1) if index == 2

      ActiveRecord::Base.while_preventing_writes do
        [RoledPost.find(index + 1).title, error_of { RoledPost.where(id: 1).update_all(likes: 1) }, RoledPost.find(index + 2).title]
      end
    end
    assert_equal [["post 1", "ActiveRecord::ReadOnlyError", "post 2"], ["post 2", "ActiveRecord::ReadOnlyError", "post 3"], 1], outcomes
  end

  # -- what breaks -----------------------------------------------------------------------------------------------------

  # The primary takes a lock that a statement on the replica is in the way of.
  def test_a_conflict_with_recovery
    outcomes = assert_alike do |piped|
      thread = in_thread { resolve(piped, 5) { |index| conflicting(index) } }
      await_sleeper
      side.exec("TRUNCATE conflict")
      without_details(thread.value)
    end
    assert_equal ["post 1", "post 2", "40001", "post 4", "post 5"], states(outcomes)
  end

  def test_a_conflict_with_recovery_in_a_transaction
    outcomes = assert_alike do |piped|
      thread = in_thread { at(:reading) { RoledPost.transaction { resolve(piped, 5) { |index| conflicting(index) } } } }
      await_sleeper
      side.exec("TRUNCATE conflict")
      without_details(thread.value)
    end
    assert_equal ["post 1", "post 2", "40001", "25P02", "post 5"], states(outcomes)
  end

  def test_the_replica_cuts_its_connections_in_a_burst
    outcomes = assert_alike do |piped|
      thread = in_thread { resolve(piped, 5) { |index| conflicting(index) } }
      terminate_on_replica(await_sleeper)
      thread.value.map { |outcome| outcome.is_a?(Failure) ? outcome.class_name : outcome } # (the message is libpq's, as it comes)
    end
    assert_equal ["post 1", "post 2", "ActiveRecord::ConnectionFailed", "post 4", "post 5"], outcomes
  end

  def test_there_is_no_replica
    handler.remove_connection_pool(Roled.name, role: :reading, shard: :default)
    connect(TestDatabase.hash(host: "127.0.0.1", port: KeptProcess.free_port, sslmode: "disable", gssencmode: "disable"), :reading)
    outcomes = assert_resolves_alike(4) { |index| at(index.even? ? :reading : :writing) { RoledPost.find(index + 1).title } }
    assert_equal ["no replica", "post 2", "no replica", "post 4"], outcomes.map { |it| it.is_a?(Failure) ? "no replica" : it }
  end

  # -- shards ----------------------------------------------------------------------------------------------------------

  def test_shards_and_roles
    places = %i[reading writing].product(%i[default two])
    outcomes = assert_resolves_alike(8) do |index|
      role, shard = places[index % 4]
      Roled.connected_to(role: role, shard: shard) { [replica?, RoledPost.find(index + 1).title, RoledPost.where(id: index + 2).pick(:title)] }
    end
    assert_equal(Array.new(8) { |index| [index % 4 < 2, "#{index.even? ? "post" : "second"} #{index + 1}", "#{index.even? ? "post" : "second"} #{index + 2}"] }, outcomes)
  end

  def test_shards_within_shards
    outcomes = assert_resolves_alike(3) do |index|
      Roled.connected_to(shard: :two) do
        [RoledPost.find(index + 1).title, Roled.connected_to(shard: :default) { [RoledPost.find(index + 1).title, RoledPost.find(index + 2).title] }, RoledPost.find(index + 2).title]
      end + [RoledPost.find(index + 3).title]
    end
    assert_equal ["second 1", ["post 1", "post 2"], "second 2", "post 3"], outcomes.first
  end

  def test_all_servers_go_in_one_level
    places = %i[reading writing].product(%i[default two])
    bursts = WireCounter.events("burst.pipeloader") do
      resolve(true, 8) { |index| Roled.connected_to(role: places[index % 4][0], shard: places[index % 4][1]) { RoledPost.find(index + 1).title } }
    end
    assert_equal [[1, 2]] * 4, bursts.map { |burst| [burst[:position], burst[:reads].size] }
  end

  def test_connected_to_many
    outcomes = assert_resolves_alike(4) do |index|
      ActiveRecord::Base.connected_to_many(Roled, role: index.even? ? :reading : :writing, shard: :two) { [replica?, RoledPost.find(index + 1).title] }
    end
    assert_equal [true, false, true, false], outcomes.map(&:first)
  end

  def test_prohibit_shard_swapping
    outcomes = assert_resolves_alike(2) do |index|
      Roled.prohibit_shard_swapping(index.zero?) do
        first = RoledPost.find(1).title
        [first, error_of { Roled.connected_to(shard: :two) { RoledPost.find(1).title } }]
      end
    end
    assert_equal [["post 1", "ArgumentError"], ["post 1", "second 1"]], outcomes
  end

  # -- a proof

  # Its snapshot needs nothing that a standby can't do: there, too, what comes in between is in none of its executions.
  def test_a_proof
    differences = []
    Pipeloader.proof = { sample: 1.0, on_difference: ->(difference) { differences << difference.snapshot } }
    times = 0
    schema = schema_reading do |plain|
      side.exec("UPDATE posts SET likes = #{times += 1} WHERE id = 1")
      replica.catch_up(side)
      %i[reading writing].map { |role| at(role) { [RoledPost.find(1).likes, RoledPost.find(2).likes] } }.inspect + (@wrong ? plain : "")
    end
    schema.execute("{ it }")
    assert_equal [4, []], [times, differences]
    @wrong = true
    schema.execute("{ it }")
    assert_equal [true], differences
  ensure
    Pipeloader.proof = nil
    side.exec("UPDATE posts SET likes = 1 WHERE id = 1")
  end

  private

  # @yieldparam plain [String] whether it is without Pipeloader
  def schema_reading(&run)
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :it, String
      define_method(:it) { run.call(::Pipeloader::ResolverFiber.current.nil?.to_s) }
    end
    WireCase.schema_of(query, nil, { breaker: false }, [])
  end

  def replica = ReplicaTest.replica

  def handler = ActiveRecord::Base.connection_handler

  def connect(hash, role, shard = :default) = handler.establish_connection(hash, owner_name: Roled, role: role, shard: shard)

  def pools = %i[writing reading].product(%i[default two]).map { |role, shard| handler.retrieve_connection_pool(Roled.name, role: role, shard: shard) }

  def at(role, &block) = Roled.connected_to(role: role, &block)

  def error_of
    yield
  rescue StandardError => e
    e.class.name
  end

  # Where this field's reads go.
  def replica? = Roled.with_connection { |connection| connection.select_value("SELECT pg_is_in_recovery()") }

  # Five fields, of which the third holds a lock on the replica until something comes in its way; the last reads the primary.
  def conflicting(index)
    return at(:writing) { RoledPost.find(5).title } if index == 4

    at(:reading) { index == 2 ? Roled.with_connection { |connection| connection.select_value("SELECT id FROM conflict, pg_sleep(60)") } : RoledPost.find(index + 1).title }
  end

  # (What the primary has removed meanwhile, of its catalogue too, may be in the way before its lock is.)
  def without_details(outcomes)
    outcomes.grep(Failure) { |failure| failure.message = failure.message.sub(/^DETAIL: .*$/, "DETAIL: …") }
    outcomes
  end

  # Returns when that statement runs.
  #
  # @return [Integer] its server process
  def await_sleeper
    @sides[:replica] ||= replica.connect
    loop do
      pid = side(:replica).exec("SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep'").values.flatten.first
      return Integer(pid) if pid
    rescue PG::TRSerializationFailure
      next # what was replayed struck this look, too
    end
  end

  def terminate_on_replica(pid)
    side(:replica).exec("SELECT pg_terminate_backend(#{pid})")
    loop { break if side(:replica).exec("SELECT 1 FROM pg_stat_activity WHERE pid = #{pid}").ntuples.zero? }
  end

  def states(outcomes) = outcomes.map { |outcome| outcome.is_a?(Failure) ? outcome.sqlstate : outcome }
end

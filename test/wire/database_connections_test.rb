# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/replaced_constant"

# Which connection a read goes to, and who has it afterwards: several databases, roles, leases, fiber isolation.
class DatabaseConnectionsTest < PipeloaderTest
  include ReplacedConstant

  ENVIRONMENT = ActiveRecord::ConnectionHandling::DEFAULT_ENV.call
  ActiveRecord::Base.configurations = {
    ENVIRONMENT => { "main" => TestDatabase.hash, "replica" => TestDatabase.hash(application_name: "replica") }
  }

  class Replicated < ActiveRecord::Base
    self.abstract_class = true
    connects_to database: { writing: :main, reading: :replica }
  end

  class ReplicatedPost < Replicated
    self.table_name = "posts"
  end

  APPLICATION = "current_setting('application_name')"

  def setup
    release
  end

  def release
    ActiveRecord::Base.connection_handler.each_connection_pool { |pool| pool.release_connection }
  end

  def pools = ActiveRecord::Base.connection_handler.connection_pool_list(:all)

  def busy_connections = pools.sum { |pool| pool.stat[:busy] }

  def test_two_databases_share_a_level
    query = "{ posts { title auditNotes comments { body } } }"
    assert_same_answer(query)
    bursts = WireCounter.events("burst.pipeloader") { Schemas.pair.last.execute(query) }
    assert_equal({ 1 => 1, 2 => 2 }, bursts.map { |burst| burst[:position] }.tally)
    # What goes at the same time, is one round trip.
    counted = Schemas.pair.last.execute(query).context.namespace(:pipeloader)
    assert_equal [2, bursts.sum { |burst| burst[:statements] }], counted.values_at(:bursts, :statements)
  end

  # Both servers work while we wait: neither burst is answered before the other was sent.
  def test_all_bursts_of_a_level_are_sent_before_any_is_waited_for
    steps = []
    Pipeloader::Pipeline.prepend(Module.new do
      define_method(:start) { |*arguments| super(*arguments).tap { steps << :start } }
      define_method(:finish) do
        super().tap { steps << :finish }
      rescue StandardError => e
        steps << e.message
        raise
      end
    end)
    # (A connection that another test has left broken is made anew.)
    2.times { steps.clear && Schemas.pair.last.execute("{ posts(limit: 2) { auditNotes comments { body } } }") }
    assert_equal %i[start start finish finish], steps # the first level is a lone read
  end

  def test_roles
    plain, piped = Schemas.resolve(4) do |index|
      ask = -> { [ReplicatedPost.pick(Arel.sql(APPLICATION)), ReplicatedPost.count, ReplicatedPost.current_role] }
      [index.even? ? Replicated.connected_to(role: :reading) { ask.call + ask.call } : ask.call, ask.call]
    end
    assert_equal plain, piped
    assert_equal "replica", piped[0][0][0]
    refute_equal "replica", piped[1][0][0]
    assert_equal :writing, Replicated.current_role
  end

  # Both roles lead to one server: what was asked for before a write doesn't see it, whichever connection either goes over.
  { update_all: -> { ReplicatedPost.where(id: 1).update_all("likes = likes + 1") },
    execute: -> { Replicated.with_connection { |connection| connection.execute("UPDATE posts SET likes = likes + 1 WHERE id = 1").cmd_tuples } },
    exec_query: -> { Replicated.with_connection { |connection| connection.exec_query("UPDATE posts SET likes = likes + 1 WHERE id = 1 RETURNING 1").length } },
    transaction: -> { Replicated.transaction { ReplicatedPost.where(id: 1).update_all("likes = likes + 1") } },
    another_pool: -> { ::Post.where(id: 1).update_all("likes = likes + 1") } }.each do |name, write|
    define_method(:"test_a_write_by_#{name}_over_another_roles_connection") do
      likes = Post.find(1).likes
      plain, piped = Schemas.resolve(5, before: -> { Post.where(id: 1).update_all(likes: likes) }) do |index|
        next Replicated.connected_to(role: :writing) { write.call } if index == 2

        [Replicated.connected_to(role: :reading) { ReplicatedPost.where(id: 1).pick(:likes) }, Audit.where(id: 1).pick(:note)]
      end
      assert_equal plain, piped
      assert_equal [likes, likes, 1, likes + 1, likes + 1], piped.map { |it| [*it].first }
    ensure
      Post.where(id: 1).update_all(likes: likes)
    end
  end

  def test_a_write_over_another_roles_connection_after_a_burst_that_was_too_much_for_once
    before = Post.order(:id).pluck(:id, :likes)
    Post.update_all(likes: 1)
    with_constant(Pipeloader::Pipeline, :HELD, 100_000) do
      _, piped = Schemas.resolve(12) do |index|
        likes = Replicated.connected_to(role: :reading) do
          Replicated.with_connection { |connection| connection.select_rows("SELECT likes, repeat('x', 50000) FROM posts WHERE id = #{index + 1}") }.first.first
        end
        Replicated.connected_to(role: :writing) { ReplicatedPost.where(id: 1..12).update_all("likes = likes + 1") } if index.zero?
        likes
      end
      assert_equal 1, piped.uniq.size, piped.inspect
    end
  ensure
    before.each { |id, likes| Post.where(id: id).update_all(likes: likes) }
  end

  # Outside Rails' executor nobody gives a connection back but ActiveRecord's own `with_connection`.
  def test_connections_go_back_to_the_pool
    query = "{ posts { title auditNotes comments { body commenter { name } } } }"
    assert_same_answer(query)
    assert_equal 0, busy_connections
  end

  def test_a_connection_leased_before_stays_leased
    connection = ActiveRecord::Base.lease_connection
    assert_same_answer("{ posts { title auditNotes } }")
    assert_same connection, ActiveRecord::Base.connection_pool.active_connection?
    assert_equal 1, busy_connections
  end

  def test_a_connection_of_an_enclosing_block_ends_with_it
    ActiveRecord::Base.with_connection do
      assert_same_answer("{ posts { title auditNotes author { name } } }")
    end
    assert_equal 0, busy_connections
  end

  def test_a_block_in_a_resolver_keeps_its_connection
    plain, piped = Schemas.resolve(3) do |index|
      Post.with_connection do |connection|
        pid = connection.select_value("SELECT pg_backend_pid()")
        [Post.find(index + 1).title, connection.select_value("SELECT pg_backend_pid()") == pid, Post.connection.equal?(connection)]
      end
    end
    assert_equal plain, piped
  end

  # The fiber that took the connection is the first to leave its block; the others are still in theirs.
  def test_a_connection_stays_until_the_last_has_left
    plain, piped = Schemas.resolve(3) do |index|
      Post.with_connection { |connection| [connection.select_value("SELECT #{index}"), !connection.in_use?.nil?] }
    end
    assert_equal plain, piped
    assert_equal [0, true], piped.first
    assert_equal 0, busy_connections
  end

  # As what is about to take long does, or an executor around what a resolver calls: siblings are still using the connection.
  { release_connection: ->(pool) { pool.release_connection }, clear_active_connections: ->(_) { ActiveRecord::Base.connection_handler.clear_active_connections! },
    checkin: ->(pool) { (connection = pool.active_connection?) && pool.checkin(connection) } }.each do |name, give_back|
    { "": -> {}, "_of_the_caller": -> { Post.lease_connection } }.each do |whose, before|
      define_method(:"test_a_resolver_gives_back_the_connection_by_#{name}#{whose}") do
        plain, piped = Schemas.resolve(4, before: before) do |index|
          next [Post.find(index + 1).title, Comment.where(post_id: index).count] unless index == 2

          used = Post.connection_pool.active_connection?
          give_back.call(Post.connection_pool)
          taken = Thread.new { Post.with_connection(&:itself) }.value
          [!Pipeloader::ResolverFiber.current.nil? && taken.equal?(used), Post.find(3).title]
        end
        assert_equal plain, piped
        assert_equal 0, busy_connections
      end
    end
  end

  # Siblings that have no block are using it, too.
  def test_a_resolver_gives_back_a_connection_that_others_have_without_a_block
    plain, piped = Schemas.resolve(4) do |index|
      own = Post.lease_connection unless index == 2
      next [own.select_value("SELECT #{index}"), own.select_rows("SELECT #{index}, 1"), own.in_use?.nil?] if own

      used = Post.connection_pool.active_connection?
      ActiveRecord::Base.connection_handler.clear_active_connections!
      taken = Thread.new { Post.with_connection(&:itself) }.value
      [!Pipeloader::ResolverFiber.current.nil? && taken.equal?(used), Post.find(3).title]
    end
    assert_equal plain, piped
  ensure
    release
  end

  # @yieldreturn what a resolver has read over a connection that has gone back, and that another thread's transaction is using while
  #   the resolver reads on
  # @return [Array<Integer>] how many reads each burst had, without Pipeloader and with it: there a map is a response of its own
  def bursts_beside_a_transaction
    plain, piped = nil
    bursts = WireCounter.events("burst.pipeloader") do
      plain, piped = Schemas.resolve(1) do
        begun = over = nil
        read = yield
        other = Thread.new { Post.transaction { (begun = Post.count) && Thread.pass until over } }
        Thread.pass until begun
        counts = Pipeloader.map([1, 2, 3, 4]) { |id| Comment.where(post_id: id).count }
        over = true
        other.join
        [read, begun, counts]
      end
    end
    assert_equal plain, piped
    bursts.map { |burst| burst[:reads].size }
  end

  # A connection that has gone back between two levels is somebody else's: what that does with it, is nothing to us.
  def test_another_threads_transaction_on_the_connection_of_before
    assert_equal [4, 1, 4], bursts_beside_a_transaction { Post.find(1).title }
  end

  # As above, of one that a resolver has taken from the pool, and given back.
  def test_another_threads_transaction_on_a_connection_that_was_checked_out
    bursts = bursts_beside_a_transaction do
      own = Post.connection_pool.checkout
      own.select_value("SELECT 'a'").tap { Post.connection_pool.checkin(own) }
    end
    assert_equal [4, 4], bursts.reject { |it| it == 1 }
  end

  # A block in which nobody leases for good ends: a sibling has done so meanwhile, and goes on with it.
  { at_once: ->(own) { own.select_value("SELECT 1") }, later: ->(_) { Audit.count } }.each do |name, ask|
    define_method(:"test_a_connection_that_a_sibling_has_leased_#{name}") do
      plain, piped = Schemas.resolve(3, before: method(:release)) do |index|
        next Post.with_connection(prevent_permanent_checkout: true) { |it| it.select_value("SELECT #{index}") } unless index == 1

        own = Post.lease_connection
        Array.new(4) do |round|
          asked = round.zero? ? ask.call(own) && 0 : own.select_value("SELECT #{round}")
          [asked, !own.in_use?.nil?, Thread.new { Post.with_connection(&:itself) }.value.equal?(own)]
        end
      end
      assert_equal plain, piped
      assert_equal Array.new(4) { |round| [round, true, false] }, piped[1]
    ensure
      release
    end
  end

  # What it takes then without a block, stays its own.
  def test_a_resolver_gives_back_the_connection_and_takes_one_for_good
    plain, piped = Schemas.resolve(4) do |index|
      next [Post.find(index + 1).title, Comment.where(post_id: index).count] unless index == 2

      ActiveRecord::Base.connection_handler.clear_active_connections!
      own = Post.connection
      title = [3, 4, 5].map { |id| Post.find(id).title }.first # the others have ended by then
      [title, !own.in_use?.nil?, Thread.new { Post.with_connection(&:itself) }.value.equal?(own), own.select_value("SELECT 1")]
    end
    assert_equal plain, piped
    release
    assert_equal 0, busy_connections
  end

  # From then on the pool has other connections, and ActiveRecord other leases.
  def test_a_resolver_disconnects_the_pool
    pool = ReplicatedPost.connection_pool
    plain, piped = Schemas.resolve(3) do |index|
      first = ReplicatedPost.find(index + 1).title
      pool.disconnect! if index.zero?
      [first, *Array.new(2) { |more| ReplicatedPost.where(id: index + more).pick(:title) }]
    end
    assert_equal plain, piped
    assert_equal 0, busy_connections
    assert_operator pool.connections.size, :<=, 1
  end

  def test_connections_go_back_after_an_error_escapes
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :a, Integer
      field :b, Integer
      def a = Post.count + Post.count
      def b = Comment.count && raise("escapes")
    end
    _, piped = Schemas.make(query: query, mutation: nil)
    assert_raises(RuntimeError) { piped.execute("{ a b }") }
    release
    assert_equal 0, busy_connections
    assert_same_answer("{ posts { title } }")
  end

  def test_pool_of_one
    small = Class.new(ActiveRecord::Base) do
      self.abstract_class = true
      def self.name = "SmallPool"
    end
    small.establish_connection(TestDatabase.hash(pool: 1, checkout_timeout: 1))
    model = Class.new(small) { self.table_name = "posts" }
    plain, piped = Schemas.resolve(6) { |index| [model.where(id: index).count, model.find_by(id: index + 1)&.title] }
    assert_equal plain, piped
  ensure
    small&.connection_pool&.disconnect!
  end
end

# The same under `isolation_level = :fiber`, where ActiveRecord takes every fiber for a world of its own.
class FiberIsolationTest < DatabaseConnectionsTest
  def setup
    super
    isolate_by(:fiber)
    release
  end

  class Current < ActiveSupport::CurrentAttributes
    attribute :user
  end

  def test_a_response_uses_one_connection
    ActiveRecord::Base.lease_connection
    assert_same_answer("{ posts { title author { name } comments { body commenter { name } } } }")
    assert_equal 1, busy_connections
  end

  def test_state_of_the_caller_is_seen_in_resolvers
    Current.set(user: "caller") do
      Post.where(id: 1..3).scoping do
        # The plain schema's own dataloader would have fibers that don't see it.
        plain, piped = Schemas.resolve(3, depth_first: true) { |index| [Current.user, Post.count, Current.set(user: index) { Post.count; Current.user }, Current.user] }
        assert_equal plain, piped
        assert_equal ["caller", 3, 0, "caller"], piped.first
      end
      assert_equal "caller", Current.user
    end
  end

  def test_query_cache_is_shared
    ActiveRecord::Base.cache do
      2.times { assert_same_answer("{ posts { title author { name } } }") }
      assert_round_trips(0) { Schemas.pair.last.execute("{ posts { title author { name } } }") }
    end
  end
end

# Transactional tests: one connection, pinned, behind a real lock.
class PinnedConnectionTest < PipeloaderTest
  def setup
    @pool = ActiveRecord::Base.connection_pool
    @pool.release_connection
    @pool.pin_connection!(true)
  end

  def teardown
    @pool.unpin_connection!
    super
  end

  def test_answers_and_round_trips
    Post.create!(title: "only in here")
    query = "{ posts { title author { name } comments { body commenter { name } } } }"
    assert_includes assert_same_answer(query).to_json, "only in here"
    assert_round_trips(3) { Schemas.pair.last.execute(query) }
  end

  def test_query_cache
    ActiveRecord::Base.cache do
      assert_same_answer("{ posts { title author { name } a: author { name } } }")
      assert_same_answer("{ posts { title author { name } a: author { name } } }")
    end
  end

  def test_mutation
    query = "mutation { a: like(id: 1) { likes comments { body } } b: like(id: 1) { likes author { name } } }"
    plain, piped = Schemas.pair.map do |schema|
      answer = nil
      ActiveRecord::Base.transaction(requires_new: true) do
        answer = schema.execute(query).to_h
        raise ActiveRecord::Rollback
      end
      answer
    end
    assert_equal plain, piped
  end

  def test_another_thread_reads_on_the_same_connection
    plain, piped = Schemas.resolve(2) { |index| [Post.where(id: index).count, Thread.new { Post.count }.value, Post.count] }
    assert_equal plain, piped
  end
end

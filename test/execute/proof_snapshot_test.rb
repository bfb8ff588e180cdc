# frozen_string_literal: true

require_relative "../support/faulty_answers"

# `Pipeloader.proof` where others write meanwhile: what is compared, has been read in one snapshot; where it can't be, as before.
class ProofSnapshotTest < FaultyAnswerTest
  # In `written` somebody writes what `posts` reads.
  ROOT = Class.new(ROOT) do
    graphql_name "Query"
    field :written, Integer
    field :run, String
    field :run_plain, String

    def written = context[:write].call
    def run = context[:run].call.inspect
    def run_plain = ::Pipeloader::ResolverFiber.current.nil? ? run : "nothing"
  end

  module None
    singleton_class.attr_accessor :on
    def around = None.on ? [false, nil] : super
  end
  Pipeloader::ProofSnapshot.singleton_class.prepend(None)

  WRITTEN = "{ written posts { title likes } }"
  RAN = "{ a: runPlain posts { title likes } b: runPlain }"

  def setup
    super
    @differences = []
    @times = 0
    @turn = Mutex.new
    @somebody = TestDatabase.connect
    release # what an earlier test has leased for good
    Pipeloader.proof = { sample: 1.0, on_difference: ->(difference) { @differences << difference }, values: true }
    Post.with_connection { Post.columns }
    @figures = figures
  end

  def teardown
    assert_equal @figures, figures
    adapters.each { |it| assert_nil read_transaction(it) }
    assert_nil Pipeloader::ProofSnapshot.current
  ensure
    @enough = true
    @writer&.join
    restore
    release
    @somebody.close
    super
  end

  def pool = ActiveRecord::Base.connection_pool
  def adapters = ActiveRecord::Base.connection_handler.each_connection_pool.flat_map(&:connections).grep(ActiveRecord::ConnectionAdapters::PostgreSQLAdapter)

  # A lane's end may be on its way.
  def read_transaction(adapter)
    adapter.pipeloader_session.read_transaction&.await_end(adapter.instance_variable_get(:@raw_connection))
    adapter.pipeloader_session.read_transaction
  end

  # What is checked out, and in transactions.
  def figures
    [pool.stat.slice(:busy, :dead, :waiting), pool.active_connection?.nil?,
     @somebody.exec("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in%'").getvalue(0, 0)]
  end

  # Somebody else changes what `posts` reads.
  def write
    @turn.synchronize { @somebody.exec("UPDATE posts SET likes = #{@times += 1}") }
    0
  end

  def write_all_the_time
    @writer = Thread.new do
      somebody = TestDatabase.connect
      1.step { |number| @enough ? break : somebody.exec("UPDATE posts SET likes = #{number}") }
    ensure
      somebody&.close
    end
  end

  # Yields while plans write other titles.
  def wrong_titles(&) = Faults.within(:plan, ->(built) { built.each { |it| it["title"] = "wrong" if it.is_a?(Hash) && it.key?("title") } }, &)

  # Yields where nothing is ever read in one snapshot.
  def apart
    None.on = true
    yield
  ensure
    None.on = false
  end

  def execute(query, schema = schema(), &run)
    schema.execute(query, context: { write: -> { write }, run: run }).to_h
  ensure
    release unless pool.active_connection?&.transaction_open?
  end

  def release = ActiveRecord::Base.connection_handler.clear_active_connections!(:all)

  # @return [Array<Boolean>] of each difference, whether it was found in one snapshot
  def found = @differences.map(&:snapshot)

  # -- somebody writes between the executions

  # It takes two executions more to know, where nothing was known by three.
  def test_no_difference
    execute(WRITTEN)
    assert_equal [4, []], [@times, @differences]
    @times = 0
    apart { execute(WRITTEN) }
    assert_equal [5, []], [@times, @differences]
  end

  def test_a_difference
    apart { wrong_titles { execute(WRITTEN) } }
    assert_empty @differences
    answer = wrong_titles { execute(WRITTEN) }
    assert_equal "wrong", answer.dig("data", "posts", 0, "title")
    difference = @differences.first
    assert_equal [[true], ["data", "posts", 0, "title"], Post.order(:id).first.title, "wrong"],
                 [found, difference.path, difference.plain, difference.piped]
    assert_match(/differs in one snapshot from what graphql-ruby answers at data\.posts\.0\.title/, difference.to_s)
    refute_match(/SAVEPOINT|BEGIN|ROLLBACK/, [difference.plain_sql, difference.piped_sql].join)
  end

  def test_while_somebody_writes_all_the_time
    write_all_the_time
    schema = schema(breaker: false)
    20.times { execute(QUERY.sub("title", "title likes"), schema) }
    assert_empty @differences
    3.times { wrong_titles { execute("{ posts { title likes comments { body } } }", schema) } }
    assert_equal [true] * 3, found
  end

  # What the burst and the plan bring, what goes alone, and what sources read.
  each_case({ resolvers: [{ compile: false }, "{ written names posts { likes author { name } } post(id: 1) { likes } }"],
              plans: [{}, "{ written posts { likes comments { body } } names }"],
              lanes: [{ lanes: { most: 2, declared: [/posts/] } }, "{ written names a: names posts { likes comments { body } } }"] }, "all_is_read_in_it_by") do |options, query|
    execute(query, schema(**options))
    assert_equal [4, []], [@times, @differences]
  end

  # Reads that no fiber parks for, an Enumerator's, and those of an error that its field rescues.
  def test_reads_of_all_ways
    ways = [-> { Post.first.likes }, -> { Enumerator.new { |all| all << Post.last.likes }.next }, -> { Post.find_each.map(&:likes) },
            -> { Pipeloader.without_parking { Post.pick(:likes) } }, -> { Post.all.load_async.map(&:likes) },
            -> { schema.execute("{ posts { likes } }").to_h }, -> { Pipeloader.map([1, 2]) { |id| Post.find(id).likes } },
            -> { [(Post.where("1 / 0 = 1").to_a rescue "failed"), Post.where(id: 3).pluck(:likes)] }]
    ways.each_with_index do |way, index|
      @times = 0
      execute("{ written a: run posts { likes } b: run }", &way)
      assert_equal [4, []], [@times, @differences], "way #{index}"
    end
  end

  # What is different each time, is still no difference.
  def test_a_clock
    now = 0
    execute("{ written run posts { likes } }") { now += 1 }
    assert_equal [5, []], [@times, @differences]
  end

  # Before the second and third plain execution.
  def test_what_changes_in_between
    now = 0
    execute("{ written run posts { likes } }") { [1, 2, 3, 4, 3][(now += 1) - 1] }
    assert_equal [5, [true]], [@times, found]
  end

  # -- connections

  def test_the_only_connection
    with_pool(1) do
      wrong_titles { execute(WRITTEN) }
      assert_equal [[true], 1], [found, pool.connections.size]
    end
  end

  # Whatever was taken for it, is back.
  def test_a_connection_of_its_own
    wrong_titles { schema.execute(WRITTEN, context: { write: -> { write } }) }
    assert_equal [[true], nil], [found, pool.active_connection?]
  end

  # A caller's own stays the caller's.
  def test_a_connection_that_is_leased
    leased = ActiveRecord::Base.lease_connection
    wrong_titles { schema.execute(WRITTEN, context: { write: -> { write } }) }
    assert_same leased, pool.active_connection?
    assert_equal [[true], 0, PG::PQTRANS_IDLE], [found, leased.open_transactions, leased.raw_connection.transaction_status]
  ensure
    release
  end

  def test_within_a_block_of_with_connection
    ActiveRecord::Base.with_connection do |connection|
      wrong_titles { schema.execute(WRITTEN, context: { write: -> { write } }) }
      assert_same connection, pool.active_connection?
    end
    assert_nil pool.active_connection?
    assert_equal [true], found
  end

  def with_pool(size)
    ActiveRecord::Base.establish_connection(TestDatabase.hash(pool: size, checkout_timeout: 1))
    Post.with_connection { Post.columns }
    yield
  ensure
    ActiveRecord::Base.establish_connection(TestDatabase.hash)
    Post.with_connection { Post.columns }
  end

  # -- where there is no snapshot

  # @param query [String] whose plain execution does what the block says
  def assert_apart(query = RAN, &run)
    schema = schema(breaker: false)
    apart { execute(query, schema, &run) }
    expected = @differences.map(&:path)
    @differences.clear
    execute(query, schema, &run)
    assert_equal [expected, expected.map { false }], [@differences.map(&:path), found]
    refute_match(/in one snapshot/, @differences.first.to_s)
  end

  def test_a_test_suites_transaction
    Post.transaction(joinable: false, requires_new: true) { assert_apart { 1 } }
    Post.transaction(joinable: false, requires_new: true) { schema.execute("{ posts { likes } written }", context: { write: -> { @times += 1 } }) }
    assert_equal 5, @times # none was tried
  end

  def test_a_transaction_by_hand
    ActiveRecord::Base.lease_connection.execute("BEGIN")
    assert_apart { 1 }
  ensure
    ActiveRecord::Base.lease_connection.execute("ROLLBACK")
    release
  end

  # Where the plain execution does what Pipeloader's doesn't.
  each_case({ gives_its_connection_back: [-> { ::Post.release_connection && 1 }],
              takes_another: [-> { ::Post.connection_pool.then { |it| it.checkout.then { |other| other.select_value("SELECT 1").tap { |_| it.checkin(other) } } } }],
              writes: [-> { ::Comment.where(body: "none").update_all(score: 1) }],
              writes_and_rescues: [-> { (::Comment.where(body: "none").update_all(score: 1) && 1) rescue 2 }],
              begins_with_isolation: [-> { ::Post.transaction(isolation: :serializable) { ::Post.count } }],
              begins_by_hand: [-> { ::Post.lease_connection.execute("BEGIN; ROLLBACK") && 1 }],
              locks: [-> { ::Post.lock.find(1).id }],
              disconnects: [-> { ::Post.lease_connection.disconnect! || 1 }] }, "who") do |run|
    assert_apart(&run)
  end

  # In the first execution that is in the snapshot, when that has read something.
  def test_a_connection_that_breaks
    calls = 0
    execute(RAN) do
      terminate(Post.with_connection { |it| it.select_value("SELECT pg_backend_pid()") }) if (calls += 1) == 4
      1
    end
    assert_equal [9, [false]], [calls, found] # two each time; one where reading raises
  end

  def terminate(pid)
    @somebody.exec("SELECT pg_terminate_backend(#{pid})")
    Thread.pass until @somebody.exec("SELECT 1 FROM pg_stat_activity WHERE pid = #{pid}").ntuples.zero?
  end

  # Nobody reads anything.
  def test_no_database
    execute("{ runPlain }") { 1 }
    assert_equal [false], found
  end

  # -- what it costs

  def test_without_a_difference_there_is_no_snapshot
    statements = 0
    trace = TracePoint.new(:call) { |event| statements += 1 if event.defined_class == Pipeloader::ProofSnapshot && event.method_id == :initialize }
    trace.enable { execute(QUERY) }
    assert_equal [0, []], [statements, @differences]
  end

  # Nothing more is asked of it: in this process no patch of the adapter is installed.
  def test_no_sample_no_patch
    code = "require 'graphql'; require 'active_record'; require 'active_record/connection_adapters/postgresql_adapter'; require 'pipeloader'; " \
           "has = -> { ActiveRecord::ConnectionAdapters::PostgreSQLAdapter.ancestors.any? { |it| it.name == 'Pipeloader::Patches::PostgreSQLSnapshot' } }; " \
           "print [nil, { sample: 0 }, { sample: 0.1 }].map { |it| Pipeloader.proof = it; has.call }.inspect"
    assert_equal "[false, false, true]", IO.popen([RbConfig.ruby, "-Ilib", "-e", code], &:read)
  end

  # -- other threads, other isolation

  def test_threads
    schema = schema(breaker: false)
    threads = Array.new(4) { |index| Thread.new { Thread.current[:wrong] = index.odd?; Array.new(3) { execute("{ written posts { title likes } }", schema) } } }
    Faults.within(:plan, ->(built) { built.each { |it| it["title"] = "wrong" if Thread.current[:wrong] && it.is_a?(Hash) && it.key?("title") } }) { threads.each(&:join) }
    assert_equal [true] * 6, found
  end

  # Execution::Next has a dataloader without Pipeloader, too, whose fibers have connections of their own then.
  def test_isolated_fibers
    return test_fibers_with_connections_of_their_own if Engine::NEXT

    isolate_by(:fiber)
    execute(WRITTEN)
    assert_equal [4, []], [@times, @differences]
    wrong_titles { execute(WRITTEN) }
    assert_equal [true], found
  end

  def test_fibers_with_connections_of_their_own
    sourced = Class.new(GraphQL::Dataloader::Source) { def fetch(ids) = ::Post.where(id: ids).pluck(:likes) }
    root = query_type(ROOT) { define_method(:run) { dataloader.with(sourced).load(1).to_s } }
    isolate_by(:fiber)
    schema = Schemas.make(query: root, mutation: nil, pipeloader: { breaker: false }) { use(GraphQL::Dataloader) unless respond_to?(:pipeloader_options) }.last
    execute("{ written run posts { title likes } }", schema)
    assert_equal [8, []], [@times, @differences]
    wrong_titles { execute("{ posts { title likes } run }", schema) }
    assert_equal [false], found
  end
end

# frozen_string_literal: true

require_relative "wire_case"
require_relative "subprocess"

# What grows with the size of a response, has a limit: memory, fibers, statements, connections.
class BoundsTest < WireCase
  include Subprocess

  class Text < GraphQL::Schema::Object
    field :length, Integer
    def length = object.length
  end

  class Item < GraphQL::Schema::Object
    field :value, Integer, null: false
    def value = ::Post.with_connection { |connection| connection.select_value("SELECT #{object}") }

    field :title, String
    def title = ::Post.find((object % 12) + 1).title
  end

  class Query < GraphQL::Schema::Object
    field :items, [Item], null: false do
      argument :count, Integer
    end
    def items(count:) = (1..count).to_a
  end

  # {kind => [what one read asks for, fields]}
  BIG = {
    rows: [->(connection, index) { connection.select_value("SELECT repeat('x', 100000 + #{index})").length }, 2_000],
    parameters: [->(connection, index) { connection.select_all("SELECT length($1::text)", nil, [BoundsTest.bind("x" * (100_000 + index))], preparable: true).rows.first.first }, 2_000],
    both: [->(connection, index) { connection.select_all("SELECT $1::text", nil, [BoundsTest.bind("x" * (100_000 + index))], preparable: true).rows.first.first.length }, 2_000],
    huge_rows: [->(connection, index) { connection.select_value("SELECT repeat('x', 4000000 + #{index})").length - 3_900_000 }, 50]
  }.freeze

  # MB above what the process had before the first of two responses. (200 MB pass in each; without Pipeloader Ruby's heap
  # grows by 70 to 100 meanwhile.) A level's parameters are the resolvers' own: they exist until they are sent.
  CAPS = { rows: 260, parameters: 450, both: 500, huge_rows: 260 }.freeze

  def self.bind(text) = ActiveRecord::Relation::QueryAttribute.new("text", text, ActiveModel::Type::String.new)

  def self.integer(number) = ActiveRecord::Relation::QueryAttribute.new("number", number, ActiveModel::Type::Integer.new)

  # -- memory ----------------------------------------------------------------------------------------------------------

  BIG.each do |kind, (read, count)|
    define_method(:"test_memory_of_big_#{kind}") do
      megabytes = lambda do |piped|
        in_process do
          schema = big_schema(piped, count, read)
          Post.with_connection { |connection| read.call(connection, 0) }
          before = reset_peak
          2.times { check_big(schema, count) }
          (peak - before) / KILOBYTE
        end
      end
      most = megabytes.call(true)
      puts "  #{kind}: #{most} MB, without Pipeloader #{megabytes.call(false)} MB" if ENV["PIPELOADER_VERBOSE"]
      assert_operator most, :<, CAPS.fetch(kind), -> { "MB (without Pipeloader: #{megabytes.call(false)})" }
    end
  end

  # What was small so far may be large the next time.
  def test_memory_of_big_rows_after_small_ones
    megabytes = in_process do
      small = big_schema(true, 500, ->(connection, index) { connection.select_value("SELECT 100000 + #{index}") })
      big = big_schema(true, 600, ->(connection, index) { connection.select_value("SELECT repeat('x', 1000000 + #{index})").length - 900_000 })
      Post.with_connection do
        20.times { check_big(small, 500) }
        before = reset_peak
        check_big(big, 600)
        (peak - before) / KILOBYTE
      end
    end
    assert_operator megabytes, :<, 450
  end

  def test_long_texts_are_not_kept
    kept = in_process do
      1_200.times do |number|
        resolve(true, 1) { Post.with_connection { |connection| connection.select_value("SELECT length('#{"x" * 100_000}#{number}')") } }
      end
      GC.start
      ObjectSpace.each_object(String).count { |text| text.bytesize > 90_000 && text.start_with?("SELECT length") }
    end
    assert_operator kept, :<, 100
  end

  # -- fibers ----------------------------------------------------------------------------------------------------------

  def test_forty_thousand_items_with_a_read_each
    fibers = in_process do
      count = 40_000
      _, piped = Schemas.make(query: Query, mutation: nil)
      before = reset_peak
      bursts = WireCounter.events("burst.pipeloader") do
        answer = piped.execute("{ items(count: #{count}) { value } }").to_h
        raise answer["errors"].first.inspect if answer["errors"]
        raise "wrong" unless answer["data"]["items"].map { |item| item["value"] } == (1..count).to_a
      end
      [bursts.size, bursts.map { |burst| burst[:reads].size }.max, bursts.sum { |burst| burst[:statements] }, (peak - before) / KILOBYTE]
    end
    bursts, most, statements, megabytes = fibers
    puts "  40,000 items: #{bursts} bursts of at most #{most} reads, #{megabytes} MB" if ENV["PIPELOADER_VERBOSE"]
    assert_equal 40_000, statements
    assert_operator most, :<=, Pipeloader::Loader::FIBER_LIMIT
    assert_operator bursts, :<=, (40_000 / Pipeloader::Loader::FIBER_LIMIT.to_f).ceil * 2
    assert_operator megabytes, :<, 600
  end

  # What is kept afterward: stacks that Ruby uses again (docs/reliability.md), and nothing that lives on them.
  def test_kept_after_ten_thousand_items_with_a_read_each
    fibers, megabytes = in_process do
      _, piped = Schemas.make(query: Query, mutation: nil, pipeloader: { fiber_limit: 512 })
      piped.execute("{ items(count: 10) { value } }")
      before = reset_peak
      raise "wrong" unless piped.execute("{ items(count: 10000) { value } }").to_h["data"]["items"].size == 10_000

      3.times { GC.start }
      [ObjectSpace.each_object(Fiber).count(&:alive?), (reset_peak - before) / KILOBYTE]
    end
    puts "  10,000 items: #{megabytes} MB kept, #{fibers} fibers" if ENV["PIPELOADER_VERBOSE"]
    assert_operator fibers, :<, 20
    assert_operator megabytes, :<, 80
  end

  # PIPELOADER_VERBOSE prints time and memory; the caps are on memory alone.
  def test_fifty_thousand_items_that_read_by_name
    megabytes, seconds, names = in_process do
      count = 50_000
      _, piped = Schemas.make(query: Query, mutation: nil)
      Post.with_connection { Post.find(1) }
      before = reset_peak
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      titles = piped.execute("{ items(count: #{count}) { title } }").to_h.fetch("data").fetch("items").map { |item| item["title"] }
      raise "wrong" unless titles == (1..count).map { |index| "post #{(index % 12) + 1}" }

      seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
      [(peak - before) / KILOBYTE, seconds, Post.with_connection { |connection| connection.select_value("SELECT count(*) FROM pg_prepared_statements") }]
    end
    puts "  50,000 items: #{megabytes} MB more, #{seconds.round(1)} s, #{names} names" if ENV["PIPELOADER_VERBOSE"]
    assert_operator megabytes, :<, 600
    assert_operator names, :<=, 5
  end

  def test_ten_thousand_texts
    [true, false].each do |prepares|
      megabytes, seconds, names, known = in_process do
        connect_gated(prepared_statements: prepares)
        resolve(true, 500) { |index| Gated.with_connection { |connection| connection.select_value("SELECT #{index}") } }
        before = reset_peak
        started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        20.times do |round|
          outcomes = resolve(true, 500) do |index|
            number = (round * 500) + index
            Gated.with_connection { |connection| connection.select_all("SELECT $1::int + #{number}", nil, [BoundsTest.integer(1)], preparable: true).rows.first.first }
          end
          raise "wrong" unless outcomes == Array.new(500) { |index| (round * 500) + index + 1 }
        end
        seconds = Process.clock_gettime(Process::CLOCK_MONOTONIC) - started
        Gated.with_connection do |connection|
          [(peak - before) / KILOBYTE, seconds, raw(connection).exec("SELECT count(*) FROM pg_prepared_statements").getvalue(0, 0).to_i, connection.pipeloader_session.result_sizes.size]
        end
      end
      puts "  10,000 texts#{" unprepared" unless prepares}: #{megabytes} MB more, #{seconds.round(1)} s, #{names} names" if ENV["PIPELOADER_VERBOSE"]
      assert_operator names, :<=, 1_000 # ActiveRecord's statement_limit
      assert_operator known, :<=, 1_001
      assert_operator megabytes, :<, 100
    end
  end

  def test_fiber_limit_of_the_schema
    [4, 5, 6, 50].each do |limit| # fewer are an ArgumentError of graphql-ruby's
      plain, piped = Schemas.make(query: Query, mutation: nil, pipeloader: { fiber_limit: limit })
      query = "{ items(count: 120) { value title } }"
      expected = plain.execute(query).to_h
      bursts = WireCounter.events("burst.pipeloader") { assert_equal expected, piped.execute(query).to_h }
      assert_operator bursts.map { |burst| burst[:reads].size }.max || 0, :<=, limit
    end
  ensure
    release
  end

  # -- statements ------------------------------------------------------------------------------------------------------

  def test_statements_of_a_burst
    assert_equal [500, 500], size_of_burst { |index| Pipeloader.uncoalesced { Post.where(id: index).pick(:title) } }
    assert_equal [500, 12], size_of_burst { |index| Pipeloader.uncoalesced { Post.where(id: index % 12).pick(:title) } }
    Post.connection.clear_cache!
    assert_equal [500, 2], size_of_burst { |index| Post.where(id: index).pick(:title) }, "the first confirms what is known of it"
    assert_equal [500, 1], size_of_burst { |index| Post.where(id: index).pick(:title) }
  end

  # @return [Array] the reads and the statements of a response with 500 fields, that has one burst
  def size_of_burst(&block)
    bursts = WireCounter.events("burst.pipeloader") { resolve(true, 500, &block) }
    assert_equal 1, bursts.size
    [bursts.first[:reads].size, bursts.first[:statements]]
  end

  def test_quoting_sends_nothing
    read = lambda do |index|
      Post.with_connection { |connection| connection.select_value("SELECT #{connection.quote("it's #{index}")}") }
    end
    resolve(true, 5, &read)
    assert_round_trips(1) { assert_equal Array.new(5) { |index| "it's #{index}" }, resolve(true, 5, &read) }
    connect_gated(prepared_statements: false)
    resolve(true, 1) { GatedPost.find_by(title: "post 1") }
    assert_round_trips(1) { assert_equal [1, 2, 3], resolve(true, 3) { |index| GatedPost.find_by(title: "post #{index + 1}").id } }
  end

  # A level that is more than may be held at once: what was asked for first, is answered first, and a write in between
  # is seen by nobody who asked before it.
  def test_more_than_may_be_held_at_once
    with_constant(Pipeloader::Pipeline, :HELD, 200_000) do
      expected = (0...40).map { |index| [index, 50_000] }
      outcomes = resolve(true, 40) do |index|
        Post.with_connection { |connection| connection.select_rows("SELECT #{index}, repeat('x', 50000)") }.first.then { |number, text| [number, text.length] }
      end
      assert_equal expected, outcomes
    end
    assert_pool_sound
  end

  def test_a_write_after_a_burst_that_was_too_much_for_once
    before = side.exec("SELECT likes, id FROM posts").values
    side.exec("UPDATE posts SET likes = 1 WHERE id <= 12")
    with_constant(Pipeloader::Pipeline, :HELD, 100_000) do
      outcomes = resolve(true, 12) do |index|
        likes = Post.with_connection { |connection| connection.select_rows("SELECT likes, repeat('x', 50000) FROM posts WHERE id = #{index + 1}") }.first.first
        Post.where(id: 1..12).update_all("likes = likes + 1") if index.zero?
        likes
      end
      assert_equal [1] * 12, outcomes
    end
  ensure
    before.each { |likes, id| side.exec("UPDATE posts SET likes = #{likes} WHERE id = #{id}") }
  end

  # -- threads and connections -----------------------------------------------------------------------------------------

  def test_two_threads_at_once
    advisory_locked(61) do
      other = in_thread do
        resolve(true, 3) { |index| index == 1 ? Post.with_connection { |c| c.select_value("SELECT 'waited' FROM pg_advisory_xact_lock(61)") } : Post.find(index + 1).title }
      end
      await_waiter
      # Ours goes on while theirs is in the middle of a burst.
      assert_equal ["post 4", "post 5", "post 6"], resolve(true, 3) { |index| Post.find(index + 4).title }
      assert_predicate other, :alive?
      side(:lock).exec("SELECT pg_advisory_unlock(61)")
      assert_equal ["post 1", "waited", "post 3"], other.value
      side(:lock).exec("SELECT pg_advisory_lock(61)")
    end
  end

  def test_thirty_two_threads_with_a_pool_of_five
    assert_many_threads(pool: 5) { |random| mixed_request(random) }
  end

  def test_thirty_two_threads_with_a_pool_of_one
    assert_many_threads(pool: 1, rounds: 3) { |random| mixed_request(random) }
  end

  # As in Rails' transactional tests with a server in a thread: both threads share both connections.
  def test_two_threads_that_share_pinned_connections
    pinned do
      assert_alternating_reads
    end
  end

  # Each has sent to the one database, in its own order, before it sends to the other.
  def test_two_threads_that_share_pinned_connections_and_take_them_crosswise
    pinned do
      Crosswise.threads = []
      assert_alternating_reads(rounds: 1)
    ensure
      Crosswise.threads = nil
    end
  end

  # Waits, after the first burst is on its way, until the other thread is as far, or waits for us (or has ended).
  module Crosswise
    singleton_class.attr_accessor :threads

    def start(...)
      super
      return unless (threads = Crosswise.threads) && !threads.include?(Thread.current)

      threads << Thread.current
      Thread.pass until threads.uniq.size == 2 || Thread.list.any? { |thread| waits_for_us?(thread) }
    end

    private

    def waits_for_us?(thread)
      thread.thread_variable_get(:crosswise) && !thread.equal?(Thread.current) && thread.stop? &&
        thread.backtrace.to_a.first(3).grep(/mon_enter|synchronize/).any?
    end
  end
  Pipeloader::Pipeline.prepend(Crosswise)

  # What one thread gathers is sent before that thread's write, whatever another thread gathers on the same connection.
  [:before, :after].each do |they|
    define_method(:"test_a_write_on_a_connection_that_another_thread_gathers_on_#{they}_us") do
      pinned do
        GatedPost.where(id: 1).update_all(likes: 3)
        gathered, written = Queue.new, Queue.new
        theirs = ->(index) { index.zero? ? GatedPost.find(2).title : (gathered << true) && written.pop }
        other = nil
        # (Not `pop`: who waits for a queue lets his siblings go on first.)
        gather = -> { other ||= in_thread { resolve(true, 2, &theirs) }.tap { Thread.pass while gathered.empty? } }
        outcomes = resolve(true, 2) do |index|
          gather.call if (index.zero? && they == :before) || (index == 1 && they == :after)
          index.zero? ? GatedPost.find(1).likes : GatedPost.where(id: 1).update_all(likes: 4).tap { written << true }
        end
        assert_equal [3, 1], outcomes
        assert_equal ["post 2", true], other.value
      end
    end
  end

  private

  def pinned
    connect_gated
    pools = [Gated.connection_pool, Audit.connection_pool]
    pools.each { |pool| pool.pin_connection!(true) }
    yield
  ensure
    @threads&.each(&:kill)&.each { |thread| ended?(thread) }
    pools.each(&:unpin_connection!)
  end

  def assert_alternating_reads(rounds: 100)
    reads = [->(index) { GatedPost.find(index).title }, ->(index) { Audit.find(index).note }]
    threads = [reads, reads.reverse].map do |order|
      in_thread do
        Thread.current.thread_variable_set(:crosswise, true)
        Array.new(rounds) { |round| resolve(true, 4) { |index| order[index % 2].call((round % 12) + 1) } }
      ensure
        Crosswise.threads&.push(Thread.current)
      end
    end
    expected = Array.new(rounds) { |round| (round % 12) + 1 }
    assert_equal(expected.map { |id| ["post #{id}", "audit #{id}"] * 2 }, threads.first.value)
    assert_equal(expected.map { |id| ["audit #{id}", "post #{id}"] * 2 }, threads.last.value)
  end

  # -- memory ----------------------------------------------------------------------------------------------------------

  def big_schema(piped, count, read)
    item = Class.new(GraphQL::Schema::Object) do
      graphql_name "Item"
      field :size, Integer
      define_method(:size) { Post.with_connection { |connection| read.call(connection, object) } }
    end
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :items, [item]
      define_method(:items) { (1..count).to_a }
    end
    Class.new(GraphQL::Schema) do
      query(query)
      use(Pipeloader) if piped
    end
  end

  def check_big(schema, count)
    answer = schema.execute("{ items { size } }").to_h
    raise answer["errors"].first.inspect if answer["errors"]

    sizes = answer["data"]["items"].map { |item| item["size"] }
    raise "wrong" unless sizes == (1..count).map { |index| 100_000 + index }
  end

  # -- threads ---------------------------------------------------------------------------------------------------------

  # @return [Array, Array] what a request answered, what it should have
  def mixed_request(random)
    number = random.rand(1 << 40)
    id = random.rand(1..12)
    reads = [
      [-> { Gated.with_connection { |c| c.select_value("SELECT #{number}") } }, number],
      [-> { GatedPost.find(id).title }, "post #{id}"],
      [-> { GatedPost.where(id: id).count }, 1],
      [-> { GatedPost.transaction { GatedPost.find(id).id } }, id],
      [-> { GatedPost.find_by(title: "none #{number}") }, nil],
      [-> { GatedPost.where("likes / 0 = #{number}").to_a }, "ActiveRecord::StatementInvalid"],
      [-> { GatedPost.find(id).title + Audit.find(id).note }, "post #{id}audit #{id}"]
    ].sample(random.rand(1..6), random: random)
    outcomes = resolve(true, reads.size) { |index| reads[index].first.call }
    [outcomes.map { |outcome| outcome.is_a?(Failure) ? outcome.class_name : outcome }, reads.map(&:last)]
  end

  def assert_many_threads(pool:, rounds: 10)
    connect_gated(pool: pool, checkout_timeout: 30)
    seeds = Random.new(seed)
    threads = Array.new(32) do
      random = Random.new(seeds.rand(1 << 30))
      in_thread { Array.new(rounds) { yield random } }
    end
    threads.each do |thread|
      thread.value.each { |outcomes, expected| assert_equal expected, outcomes }
    end
    assert_pool_sound(Gated.connection_pool)
    assert_pool_sound(Audit.connection_pool)
    assert_operator Gated.connection_pool.connections.size, :<=, pool
  end
end

# frozen_string_literal: true

require_relative "wire_case"

# Many more threads than connections, and two databases: every answer is right, and nobody waits for a connection in vain who
# wouldn't without us.
class CrowdTest < WireCase
  THREADS = 32
  POOL = 5

  # The second database, with a pool of its own.
  class Paired < ActiveRecord::Base
    self.abstract_class = true
  end

  class PairedAudit < Paired
    self.table_name = "audits"
  end

  def teardown
    @threads&.each(&:kill)&.each { |thread| ended?(thread) }
    [Gated, Paired].each do |model|
      assert_pool_sound(model.connection_pool)
      assert_operator model.connection_pool.connections.size, :<=, @pool
    end
  ensure
    Paired.remove_connection
    super
  end

  def test_each_response_over_one_database
    crowd { |random, number| number.even? ? first_reads(random, 6) : second_reads(random, 6) }
  end

  # Whoever has a connection of the second has one of the first: some thread can always go on.
  def test_each_response_over_both_in_one_order
    crowd { |random, _number| first_reads(random, random.rand(1..3)) + second_reads(random, random.rand(1..3)) }
  end

  def test_each_response_over_both_in_one_order_with_a_connection_each
    crowd(pool: 1) { |random, _number| first_reads(random, random.rand(1..3)) + second_reads(random, random.rand(1..3)) }
  end

  def test_each_response_over_both_in_different_orders
    crowd(times: 2) { |random, _number| (first_reads(random, random.rand(1..3)) + second_reads(random, random.rand(1..3))).shuffle(random: random) }
  end

  # Nothing is parked on the one when the other is waited for.
  def test_one_database_after_the_other_in_one_field
    crowd(times: 2) do |random, number|
      ids = Array.new(2) { random.rand(1..12) }
      reads = [[-> { GatedPost.find(ids[0]).title }, "post #{ids[0]}"], [-> { PairedAudit.find(ids[1]).note }, "audit #{ids[1]}"]].rotate(number)
      [[-> { reads.map { |read, _| Pipeloader.without_parking(&read) } }, reads.map(&:last)]]
    end
  end

  # Each has the connection that the other waits for.
  def test_two_threads_over_two_databases_crosswise_with_a_connection_each
    connect(1)
    reads = [-> { GatedPost.find(1).title }, -> { PairedAudit.find(1).note }]
    [false, true].each do |piped|
      met = [Queue.new, Queue.new]
      threads = [reads, reads.reverse].each_with_index.map do |order, number|
        in_thread do
          resolve(piped, 2) do |index|
            # The first field has read, or is parked on its connection.
            (met[1 - number] << true) && met[number].pop if index == 1
            order[index].call
          end
        end
      end
      assert_equal [["post 1", "audit 1"], ["audit 1", "post 1"]], threads.map { |thread| names(thread.value) }, "piped: #{piped}"
    end
  end

  private

  def connect(pool)
    @pool = pool
    connect_gated(pool: pool, checkout_timeout: 30)
    Paired.establish_connection(TestDatabase.hash(TestDatabase::SECOND, pool: pool, checkout_timeout: 30))
    PairedAudit.find(1)
  end

  # Threads that each send requests, beginning at the same moment.
  #
  # @param times [Integer] requests of each
  # @yieldreturn [[[read, its answer], …]] the fields of one request
  def crowd(pool: POOL, times: 10)
    connect(pool)
    start = Queue.new
    seeds = Random.new(seed)
    threads = Array.new(THREADS) do |number|
      random = Random.new(seeds.rand(1 << 30))
      in_thread do
        start.pop
        Array.new(rounds(times)) { request(yield(random, number)) }
      end
    end
    THREADS.times { start << true }
    threads.each { |thread| thread.value.each { |outcomes, expected| assert_equal expected, outcomes } }
  end

  # @return [Array, Array] what the fields answered, what they should have
  def request(reads)
    [names(resolve(true, reads.size) { |index| reads[index].first.call }), reads.map(&:last)]
  end

  def names(outcomes) = outcomes.map { |outcome| outcome.is_a?(Failure) ? outcome.class_name : outcome }

  def first_reads(random, count) = reads_of(GatedPost, "post", :title, random, count)

  def second_reads(random, count) = reads_of(PairedAudit, "audit", :note, random, count)

  # Of several kinds, some of two levels, some that fail.
  def reads_of(model, text, column, random, count)
    Array.new(count) do
      id, other, number = random.rand(1..12), random.rand(1..12), random.rand(1 << 40)
      [
        [-> { model.find(id).public_send(column) }, "#{text} #{id}"],
        [-> { [model.find(id), model.find(other)].map(&column) }, ["#{text} #{id}", "#{text} #{other}"]],
        [-> { model.where(id: [id, other]).order(:id).pluck(column) }, [id, other].uniq.sort.map { |it| "#{text} #{it}" }],
        [-> { model.where(column => "#{text} #{id}").count }, 1],
        [-> { model.exists?(id: 100 + id) }, false],
        [-> { model.with_connection { |connection| connection.select_value("SELECT #{number}") } }, number],
        [-> { model.transaction { model.find(id).public_send(column) } }, "#{text} #{id}"],
        [-> { model.find(100 + id) }, "ActiveRecord::RecordNotFound"],
        [-> { model.where("id / 0 = #{number}").to_a }, "ActiveRecord::StatementInvalid"]
      ].sample(random: random)
    end
  end
end

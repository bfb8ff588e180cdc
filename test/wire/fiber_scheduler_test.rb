# frozen_string_literal: true

require_relative "wire_case"
require_relative "../support/fiber_scheduler"

# Requests that are fibers of one thread, as under Falcon: where one waits for its server, the others go on. What one waits for
# here is a lock that another gives back, so none would get on if the thread waited.
class FiberSchedulerTest < WireCase
  def setup
    super
    isolate_by(:fiber)
    connect_gated(pool: 10)
    release
    side(:monitor)
  end

  def teardown
    assert_pool_sound(Gated.connection_pool)
    super
  end

  # @yieldparam number [Integer] of each of eight requests of a pool of two connections
  # @return [Array] what the block has returned for each
  def of_a_small_pool
    connect_gated(pool: 2, checkout_timeout: 20)
    release
    outcomes = Array.new(8)
    FiberScheduler.run { 8.times { |number| Fiber.schedule { outcomes[number] = yield number } } }
    outcomes
  end

  { "a_level" => 3, "a_lone_read" => 1 }.each do |name, fields|
    define_method(:"test_others_go_on_while_#{name}_waits") do
      side(:lock).exec("SELECT pg_advisory_lock(71)")
      outcomes = nil
      FiberScheduler.run do
        Fiber.schedule { outcomes = resolve(true, fields) { |index| waits(index) } }
        Fiber.schedule { others_read_then_unlock }
      end
      assert_equal [*0...fields], outcomes
    end
  end

  # By a scheduler of our own, whose fibers no fiber scheduler knows either.
  def test_others_go_on_while_a_map_waits
    side(:lock).exec("SELECT pg_advisory_lock(71)")
    outcomes = nil
    FiberScheduler.run do
      Fiber.schedule { outcomes = Pipeloader.map([0, 1, 2]) { |index| Pipeloader.map([index]) { waits(index) } } }
      Fiber.schedule { others_read_then_unlock }
    end
    assert_equal [[0], [1], [2]], outcomes
  end

  def test_maps_of_a_small_pool
    outcomes = of_a_small_pool do |number|
      Pipeloader.map([1, 2, 3]) { |index| Array.new(3) { |level| select("'#{number} #{index} #{level}' FROM pg_sleep(0.001)") } }
    end
    assert_equal(Array.new(8) { |number| [1, 2, 3].map { |index| Array.new(3) { |level| "#{number} #{index} #{level}" } } }, outcomes)
  end

  def test_a_map_that_is_interrupted_while_it_waits
    side(:lock).exec("SELECT pg_advisory_lock(71)")
    ended = after = nil
    log = []
    FiberScheduler.run do
      request = Fiber.schedule do
        Pipeloader.map([0, 1, 2]) { |index| waits(index).tap { log << index } }
      rescue Stop => e
        ended = e
        after = Pipeloader.map([0, 1]) { |index| select("'after #{index}'") }
      end
      Fiber.schedule do
        nil until waiters == 1
        request.raise(Stop, "struck")
      end
    end
    assert_equal ["struck", ["after 0", "after 1"], []], [ended.message, after, log]
  ensure
    side(:lock).exec("SELECT pg_advisory_unlock(71)")
  end

  def test_lanes_wait_so_too
    @lanes = { most: 3, declared: [/pg_advisory/] }
    3.times { FiberScheduler.run { Fiber.schedule { resolve(true, 4) { |index| select("#{index} /* pg_advisory */") } } } }
    side(:lock).exec("SELECT pg_advisory_lock(71)")
    outcomes = nil
    waiting = 0
    FiberScheduler.run do
      Fiber.schedule { outcomes = resolve(true, 4) { |index| waits(index) } }
      Fiber.schedule do
        waiting = waiters until waiting == 3
        others_read_then_unlock
      end
    end
    assert_equal [0, 1, 2, 3], outcomes
    assert_equal 3, waiting
  end

  # More of them than the pool has connections.
  def test_a_small_pool
    outcomes = of_a_small_pool do |number|
      resolve(true, 3) { |index| Array.new(3) { |level| select("'#{number} #{index} #{level}' FROM pg_sleep(0.001)") } }
    end
    assert_equal(Array.new(8) { |number| Array.new(3) { |index| Array.new(3) { |level| "#{number} #{index} #{level}" } } }, outcomes)
  end

  def test_an_interrupt_while_it_waits
    side(:lock).exec("SELECT pg_advisory_lock(71)")
    ended = nil
    after = nil
    FiberScheduler.run do
      request = Fiber.schedule do
        resolve(true, 3) { |index| waits(index) }
      rescue Stop => e
        ended = e
        after = resolve(true, 2) { |index| select("'after #{index}'") }
      end
      Fiber.schedule do
        nil until waiters == 1
        request.raise(Stop, "struck")
      end
    end
    assert_equal "struck", ended.message
    assert_equal ["after 0", "after 1"], after
  ensure
    side(:lock).exec("SELECT pg_advisory_unlock(71)")
  end

  def test_errors
    outcomes = nil
    FiberScheduler.run { Fiber.schedule { outcomes = assert_resolves_alike(3) { |index| select("1 / #{index}") } } }
    assert_equal "ActiveRecord::StatementInvalid", outcomes.first.class_name
  end

  # Another request would find the lock held by its own thread.
  def test_nobody_goes_on_where_a_lock_is_held
    side(:lock).exec("SELECT pg_advisory_lock(71)")
    lock = Mutex.new
    steps = []
    unlock = in_thread { await_waiter && side(:lock).exec("SELECT pg_advisory_unlock(71)") }
    FiberScheduler.run do
      Fiber.schedule { resolve(true, 2) { |index| index.zero? ? lock.synchronize { waits(index) && steps << :read } : select("1") } }
      Fiber.schedule { steps << :other }
    end
    unlock.join
    assert_equal %i[read other], steps
  end

  private

  # With a level of three waiting, which is one statement that waits.
  def others_read_then_unlock
    nil until waiters.positive?
    assert_equal(%w[a a], resolve(true, 2) { select("'a'") })
    side(:lock).exec("SELECT pg_advisory_unlock(71)")
  end

  def waiters
    side(:monitor).exec(<<~SQL).ntuples
      SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND state = 'active'
    SQL
  end

  def waits(index) = select("#{index} FROM pg_advisory_xact_lock(71)")

  def select(sql) = Gated.with_connection { |connection| connection.select_value("SELECT #{sql}") }

  def options = @lanes ? { lanes: @lanes } : super
end

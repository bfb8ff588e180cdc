# frozen_string_literal: true

require "concurrent"
require "connection_pool"
require "logger"
require "monitor"
require_relative "../wire/wire_case"
require_relative "../wire/subprocess"

# Locks, latches and tokens of user code that are held while it reads, and that its siblings want, too: in a serial run
# nobody ever waits for them, for each field is done before the next begins.
#
# Each runs in a process that has no other thread. There a wait that nobody can end isn't a hang but Ruby's `fatal`, at
# once; in a server, where other threads live, it would last for ever.
class LocksTest < WireCase
  include Subprocess

  FIELDS = 3

  def self.read(index) = GatedPost.find(index + 1).title

  # A log device that reads: Logger holds a Monitor while it writes.
  class ReadingDevice
    def write(line) = "#{line} of #{WireCase::GatedPost.count}"
    def close = nil
  end

  # ActiveRecord's own, under :thread isolation; until 8.0 it is ThreadLoadInterlockAwareMonitor.
  THREAD_MONITOR = ActiveSupport::Concurrency.const_get(ActiveSupport::Concurrency.constants.grep(/\AThread\w*Monitor\z/).first)

  # {kind => makes the resolver: ->(index) { … }}, the lock being made anew for each response.
  SEEN = {
    mutex_synchronize: -> { lock = Mutex.new; ->(index) { lock.synchronize { read(index) } } },
    mutex_lock: -> { lock = Mutex.new; ->(index) { lock.lock; begin read(index) ensure lock.unlock end } },
    mutex_try_lock: -> { lock = Mutex.new; ->(index) { lock.try_lock ? (begin read(index) ensure lock.unlock end) : "busy" } },
    mutex_twice: -> { lock = Mutex.new; ->(index) { lock.synchronize { read(index) } + read(index + 1) + lock.synchronize { read(index + 2) } } },
    mutexes_crosswise: lambda {
      locks = [Mutex.new, Mutex.new]
      ->(index) { locks[index % 2].synchronize { read(index) + locks[(index + 1) % 2].synchronize { read(index + 1) } + read(index + 2) } }
    },
    mutex_memo: -> { lock = Mutex.new; memo = nil; made = 0; ->(_) { lock.synchronize { memo ||= [read(0), made += 1] } } },
    mutex_of_a_thread: -> { lock = Mutex.new; ->(index) { index.zero? ? lock.synchronize { read(0) } : Thread.new { lock.synchronize { "#{index} by thread" } }.value } },
    monitor_synchronize: -> { lock = Monitor.new; ->(index) { lock.synchronize { read(index) } } },
    monitor_mon_synchronize: -> { lock = Monitor.new; ->(index) { lock.mon_synchronize { read(index) } } },
    monitor_enter: -> { lock = Monitor.new; ->(index) { lock.enter; begin read(index) ensure lock.exit end } },
    monitor_mon_enter: -> { lock = Monitor.new; ->(index) { lock.mon_enter; begin read(index) ensure lock.mon_exit end } },
    monitor_try_enter: -> { lock = Monitor.new; ->(index) { lock.try_enter ? (begin read(index) ensure lock.exit end) : "busy" } },
    monitor_mon_try_enter: -> { lock = Monitor.new; ->(index) { lock.mon_try_enter ? (begin read(index) ensure lock.mon_exit end) : "busy" } },
    monitor_reentered: -> { lock = Monitor.new; ->(index) { lock.synchronize { read(index) + lock.synchronize { read(index + 1) } + read(index + 2) } } },
    monitor_memo: -> { lock = Monitor.new; memo = nil; made = 0; ->(_) { lock.synchronize { memo ||= [read(0), made += 1] } } },
    monitor_mixin: -> { object = Object.new.extend(MonitorMixin); ->(index) { object.synchronize { read(index) } } },
    monitor_mixin_enter: -> { object = Object.new.extend(MonitorMixin); ->(index) { object.mon_enter; begin read(index) ensure object.mon_exit end } },
    active_support_monitor: -> { lock = ActiveSupport.deprecator.silence { ActiveSupport::Concurrency::LoadInterlockAwareMonitor.new }; ->(index) { lock.synchronize { read(index) } } },
    active_support_thread_monitor: -> { lock = THREAD_MONITOR.new; ->(index) { lock.synchronize { read(index) } } },
    logger: -> { log = Logger.new(ReadingDevice.new, formatter: ->(*, text) { text }); ->(index) { log.info("line #{index}"); read(index) } },
    map_compute_if_absent: -> { map = Concurrent::Map.new; made = 0; ->(index) { map.compute_if_absent(index % 2) { [read(index % 2), made += 1] } } },
    map_compute_if_absent_of_one_key: -> { map = Concurrent::Map.new; made = 0; ->(_) { map.compute_if_absent(:key) { [read(0), made += 1] } } },
    map_compute: -> { map = Concurrent::Map.new; ->(index) { map.compute(:key) { |value| "#{value}#{read(index)}" } } }
  }.freeze

  # Whoever is parked holds no lock here; the sibling waits for a condition, a queue.
  LATCHES = {
    delay: -> { made = 0; delay = Concurrent::Delay.new { [read(0), made += 1] }; ->(_) { delay.value! } },
    delays_crosswise: lambda {
      delays = [Concurrent::Delay.new { "#{read(0)} #{delays[1].value!}" }, Concurrent::Delay.new { read(1) }]
      ->(index) { read(index) + delays[index % 2].value! }
    },
    semaphore: -> { semaphore = Concurrent::Semaphore.new(1); ->(index) { semaphore.acquire; begin read(index) ensure semaphore.release end } },
    variable: -> { variable = Concurrent::MVar.new(:token); ->(index) { token = variable.take; begin read(index) ensure variable.put(token) end } },
    read_write_lock: -> { lock = Concurrent::ReadWriteLock.new; ->(index) { index.zero? ? lock.with_write_lock { read(0) } : lock.with_read_lock { read(index) } } },
    queue_of_tokens: -> { tokens = Queue.new([:token]); ->(index) { token = tokens.pop; begin read(index) ensure tokens << token end } },
    sized_queue_of_one: -> { slots = SizedQueue.new(1); ->(index) { slots << index; begin read(index) ensure slots.pop end } },
    condition: lambda {
      lock, changed, done = Mutex.new, ConditionVariable.new, false
      lambda do |index|
        next lock.synchronize { changed.wait(lock) until done; read(index) } unless index.zero?

        read(0).tap { lock.synchronize { done = true; changed.broadcast } }
      end
    },
    condition_of_a_monitor: lambda {
      object, done = Object.new.extend(MonitorMixin), false
      changed = object.new_cond
      lambda do |index|
        next object.synchronize { changed.wait_until { done }; read(index) } unless index.zero?

        read(0).tap { object.synchronize { done = true; changed.broadcast } }
      end
    },
    pool_of_one_connection: -> { pool = ConnectionPool.new(size: 1, timeout: 5) { Object.new }; ->(index) { pool.with { read(index) } } }
  }.freeze

  # Owned by the thread, not by the fiber, or by nobody while the block runs.
  FREE = {
    interlock_running: -> { ->(index) { ActiveSupport::Dependencies.interlock.running { read(index) } } },
    interlock_loading: -> { ->(index) { ActiveSupport.deprecator.silence { ActiveSupport::Dependencies.interlock.loading { read(index) } } } },
    share_lock: -> { lock = ActiveSupport::Concurrency::ShareLock.new; ->(index) { index.zero? ? lock.exclusive { read(0) } : lock.sharing { read(index) } } },
    reentrant_read_write_lock: -> { lock = Concurrent::ReentrantReadWriteLock.new; ->(index) { lock.with_write_lock { read(index) } } },
    atom: -> { atom = Concurrent::Atom.new(0); ->(index) { [read(index), atom.swap { |number| number + 1 }] } },
    memory_store: -> { store = ActiveSupport::Cache::MemoryStore.new; ->(index) { store.fetch("key #{index % 2}") { read(index % 2) } } },
    memory_store_after_read: -> { store = ActiveSupport::Cache::MemoryStore.new; ->(index) { read(index) + store.fetch("key") { read(0) } } },
    hash: -> { hash = Hash.new { |memo, key| memo[key] = read(key) }; ->(index) { hash[index % 2] } },
    future: -> { future = Concurrent::Promises.fulfilled_future(1); ->(index) { [future.value!, read(index)] } }
  }.freeze

  def setup
    super
    connect_gated
  end

  [SEEN, LATCHES, FREE].reduce(:merge).each { |kind, make| define_method(:"test_#{kind}") { assert_alike(make) } }

  # At once, and with it goes what has been gathered; who comes after it parks again.
  def test_who_holds_a_lock_reads_at_once
    { Mutex.new => :synchronize, Monitor.new => :synchronize }.each do |lock, method|
      bursts = in_process do
        alone { resolve(true, 5) { |index| LocksTest.read(index) } }
        WireCounter.events("burst.pipeloader") { resolve(true, 5) { |index| index == 2 ? lock.public_send(method) { LocksTest.read(index) } : LocksTest.read(index) } }
                   .map { |burst| burst[:reads].size }
      end
      assert_equal [3, 2], bursts, lock.class
    end
  end

  # Released however the block ends.
  def test_a_lock_is_over_when_its_block_fails
    [Mutex, Monitor].each do |type|
      outcomes, bursts = in_process do
        alone { resolve(true, 5) { |index| LocksTest.read(index) } }
        lock, outcomes = type.new, nil
        bursts = WireCounter.events("burst.pipeloader") do
          outcomes = resolve(true, 4) do |index|
            begin
              lock.synchronize { raise ArgumentError, "no" }
            rescue ArgumentError
              LocksTest.read(index)
            end
          end
        end
        [outcomes, bursts.map { |burst| burst[:reads].size }]
      end
      assert_equal ["post 1", "post 2", "post 3", "post 4"], outcomes
      assert_equal [4], bursts
    end
  end

  # Who waits for a sibling of the same response while it holds another lock, which a third one wants.
  def test_a_latch_inside_a_lock
    assert_alike(lambda {
      lock = Mutex.new
      delay = Concurrent::Delay.new { LocksTest.read(0) }
      ->(index) { index.even? ? lock.synchronize { delay.value! + LocksTest.read(index) } : [delay.value!, lock.synchronize { LocksTest.read(index) }] }
    }, fields: 6)
  end

  # Fields that take locks of several kinds, nested as they come, and read in between: never a wait that doesn't end,
  # and each section is as alone as in a serial run.
  def test_locks_at_random
    puts "  seed #{seed}" if ENV["PIPELOADER_VERBOSE"]
    wrong = in_process do
      [false, true].each { |with| resolve(with, 6) { |index| LocksTest.read(index) } }
      random = Random.new(seed)
      Array.new(rounds(40)) do
        programs = Array.new(6) { random_program(random) }
        plain, piped = [false, true].map do |with|
          locks = [Mutex.new, Monitor.new, Mutex.new, Monitor.new]
          log = []
          resolve_alone(with, 6, ->(index) { run_program(programs[index], index, locks, log) }).then { |outcomes| [outcomes, log.sort] }
        end
        [programs, plain, piped] unless plain == piped
      end.compact.first
    end
    assert_nil wrong, "seed #{seed}"
  end

  # What anyone can do today who knows of a lock, whoever else wants it.
  SEEN.slice(:mutex_synchronize, :mutex_lock, :mutex_try_lock, :monitor_synchronize, :map_compute, :logger).each do |kind, make|
    define_method(:"test_without_parking_under_#{kind}") do
      assert_alike(-> { resolver = make.call; ->(index) { Pipeloader.without_parking { resolver.call(index) } } })
    end
  end

  # Held by another thread: that is no sibling's, and it ends as it would without us.
  def test_a_lock_that_another_thread_holds
    lock = Mutex.new
    held, give_back = Queue.new, Queue.new
    holder = in_thread { lock.synchronize { held << give_back.pop } }
    Thread.pass until lock.locked?
    waiting = in_thread { resolve(true, 4) { |index| index == 1 ? lock.synchronize { "locked #{index}" } : LocksTest.read(index) } }
    Thread.pass until waiting.stop? && waiting.backtrace.to_a.first.to_s.match?(/`(?:synchronize|lock)'/)
    give_back << true
    assert_equal ["post 1", "locked 1", "post 3", "post 4"], waiting.value
    holder.join
  end

  # A condition that another thread brings about, awaited by several fields.
  def test_a_condition_that_another_thread_brings_about
    lock, changed, done = Mutex.new, ConditionVariable.new, false
    waiting = in_thread do
      resolve(true, 5) { |index| index.odd? ? lock.synchronize { changed.wait(lock) until done; "done #{index}" } : LocksTest.read(index) }
    end
    Thread.pass until waiting.stop? && waiting.backtrace.to_a.first(4).any?(/`(?:sleep|wait)'/)
    lock.synchronize { done = true; changed.broadcast }
    assert_equal ["post 1", "done 1", "post 3", "done 3", "post 5"], waiting.value
  end

  # While the field that waits lets its siblings go on, none of which can.
  class SignaledWhenUnlocked < Mutex
    attr_writer :signal

    def unlock
      super.tap { @signal&.call }
    end
  end

  %i[signal broadcast].each do |call|
    define_method(:"test_a_#{call}_that_comes_while_siblings_are_let_go_on") do
      lock, changed, done = SignaledWhenUnlocked.new, ConditionVariable.new, false
      lock.signal = -> { done = true; changed.public_send(call) }
      waiting = in_thread { resolve(true, 1) { |_| lock.synchronize { changed.wait(lock) until done; "done" } } }
      assert waiting.join(20), "waits forever"
      assert_equal ["done"], waiting.value
    ensure
      waiting&.kill
    end
  end

  def test_waits_that_have_a_limit_end_by_it
    lock, never = Mutex.new, ConditionVariable.new
    assert_equal ["post 1", "timed out", "post 3"], resolve(true, 3) { |index|
      next LocksTest.read(index) unless index == 1

      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.01
      lock.synchronize { never.wait(lock, 0.01) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline }
      "timed out"
    }
  end

  # No limit for the wait of a serial run is none here.
  def test_a_queue_that_is_asked_without_patience
    skip "Queue#pop has no limit before Ruby 3.2" if RUBY_VERSION < "3.2"

    outcomes = resolve_both(-> { Queue.new }) { |queue, index| index.zero? ? queue.pop(timeout: 0) : LocksTest.read(index).tap { |title| queue << title } }
    assert_equal [nil, "post 2", "post 3"], outcomes
    outcomes = resolve_both(-> { SizedQueue.new(1) }) do |slots, index|
      index.zero? ? [slots.push(1, timeout: 0).class, slots.push(2, timeout: 0)] : LocksTest.read(index).tap { slots.pop(timeout: 0) }
    end
    assert_equal [[SizedQueue, nil], "post 2", "post 3"], outcomes
  end

  # It wants the pool's only connection, with which a sibling is parked.
  %i[join value].each do |method|
    define_method(:"test_a_thread_that_is_waited_for_by_#{method}") do
      connect_gated(pool: 1, checkout_timeout: 1)
      outcomes = assert_resolves_alike(4) do |index|
        next LocksTest.read(index) + LocksTest.read(index + 4) if index.even?

        title = nil
        Thread.new { title = LocksTest.read(index) }.public_send(method)
        title
      end
      assert_equal ["post 1post 5", "post 2", "post 3post 7", "post 4"], outcomes
    end
  end

  # It may work on records that siblings would load meanwhile.
  %i[join value].each do |method|
    define_method(:"test_siblings_stay_where_they_are_while_a_thread_ends_soon_that_is_waited_for_by_#{method}") do
      outcomes = resolve_both(-> { [] }) do |begun, index|
        begun << index
        seen = nil
        index.zero? ? Thread.new { sleep(0.005) && seen = begun.dup }.public_send(method) : LocksTest.read(index)
        seen
      end
      assert_equal [[0], nil, nil], outcomes
    end
  end

  def test_a_thread_that_is_waited_for_with_a_limit
    never = Queue.new
    sleeper = in_thread { never.pop }
    outcomes = assert_resolves_alike(3) { |index| index == 1 ? sleeper.join(0.01).inspect : LocksTest.read(index) }
    assert_equal ["post 1", "nil", "post 3"], outcomes
  end

  private

  # As assert_resolves_alike, with something that is made anew for each run.
  def resolve_both(make)
    made = nil
    assert_resolves_alike(FIELDS, around: ->(&run) { made = make.call; run.call }) { |index| yield made, index }
  end

  # [:read, 3] | [:lock, 1, [...]] | [:try, 0, [...]]
  def random_program(random, held = [])
    Array.new(random.rand(1..3)) do
      free = held.include?(0) || held.include?(2) ? [1, 3] : [0, 1, 2, 3] # a Mutex isn't taken twice
      case random.rand(5)
      when 0 then (lock = free.sample(random: random)) && [:lock, lock, random_program(random, [*held, lock])]
      when 1 then (lock = free.sample(random: random)) && [:try, lock, random_program(random, [*held, lock])]
      else [:read, random.rand(10)]
      end
    end
  end

  # @return what was read; +log+ gets a line for each section that wasn't alone
  def run_program(program, index, locks, log)
    program.map do |step, at, inner|
      lock = locks[at] if inner
      case step
      when :read then LocksTest.read(at)
      when :lock then lock.synchronize { section(lock, index, log) { run_program(inner, index, locks, log) } }
      else
        next "busy" unless (lock.is_a?(Mutex) ? lock.try_lock : lock.try_enter)

        begin
          section(lock, index, log) { run_program(inner, index, locks, log) }
        ensure
          lock.is_a?(Mutex) ? lock.unlock : lock.exit
        end
      end
    end
  end

  def section(lock, index, log)
    outer = lock.instance_variable_get(:@inside)
    log << "#{index} in the section of #{outer}" if outer && outer != index
    lock.instance_variable_set(:@inside, index)
    yield
  ensure
    lock.instance_variable_set(:@inside, outer)
  end

  def assert_alike(make, fields: FIELDS)
    plain, piped = in_process do
      [false, true].each { |with| resolve(with, fields) { |index| LocksTest.read(index) } } # what is made lazily, is there
      [false, true].map { |with| resolve_alone(with, fields, make.call) }
    end
    assert_equal plain, piped
    assert_empty plain.grep(/busy/)
  end

  # @return [Array, String] what the fields got, or what ended the response
  def resolve_alone(piped, fields, resolver)
    alone
    resolve(piped, fields, &resolver)
  rescue Exception => e # rubocop:disable Lint/RescueException -- `fatal` is one of no class that has a name
    "#{e.class}: #{e.message.lines.first}"
  ensure
    Gated.release_connection
  end

  # Ends every other thread.
  def alone
    yield if block_given?
    (Thread.list - [Thread.current]).each { |thread| thread.kill.join }
  end
end

# frozen_string_literal: true

require "concurrent"
require "logger"
require "monitor"
require_relative "wire_case"
require_relative "subprocess"

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
    attr_reader :lines

    def initialize = @lines = []
    def write(line) = @lines << "#{line.chomp} of #{WireCase::GatedPost.count}"
    def close = nil
  end

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
    active_support_monitor: -> { lock = ActiveSupport::Concurrency::LoadInterlockAwareMonitor.new; ->(index) { lock.synchronize { read(index) } } },
    active_support_thread_monitor: -> { lock = ActiveSupport::Concurrency::ThreadLoadInterlockAwareMonitor.new; ->(index) { lock.synchronize { read(index) } } },
    logger: -> { log = Logger.new(device = ReadingDevice.new, formatter: ->(*, text) { text }); ->(index) { log.info("line #{index}"); [read(index), device.lines.size] } },
    map_compute_if_absent: -> { map = Concurrent::Map.new; made = 0; ->(index) { map.compute_if_absent(index % 2) { [read(index % 2), made += 1] } } },
    map_compute_if_absent_of_one_key: -> { map = Concurrent::Map.new; made = 0; ->(_) { map.compute_if_absent(:key) { [read(0), made += 1] } } },
    map_compute: -> { map = Concurrent::Map.new; ->(index) { map.compute(:key) { |value| "#{value}#{read(index)}" } } }
  }.freeze

  # Owned by the thread, not by the fiber, or by nobody while the block runs.
  FREE = {
    interlock_running: -> { ->(index) { ActiveSupport::Dependencies.interlock.running { read(index) } } },
    interlock_loading: -> { ->(index) { ActiveSupport::Dependencies.interlock.loading { read(index) } } },
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
    # (Its reaper would be a second thread.)
    connect_gated(reaping_frequency: nil)
  end

  FREE.each { |kind, make| define_method(:"test_#{kind}") { assert_alike(make) } }

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

  def test_waits_that_have_a_limit_end_by_it
    lock, never = Mutex.new, ConditionVariable.new
    assert_equal ["post 1", "timed out", "post 3"], resolve(true, 3) { |index|
      next LocksTest.read(index) unless index == 1

      deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + 0.01
      lock.synchronize { never.wait(lock, 0.01) while Process.clock_gettime(Process::CLOCK_MONOTONIC) < deadline }
      "timed out"
    }
  end

  private

  def assert_alike(make, fields: FIELDS)
    plain, piped = in_process do
      resolve(false, fields) { |index| LocksTest.read(index) } # what is loaded lazily, is loaded
      [false, true].map { |with| resolve_alone(with, fields, make.call) }
    end
    assert_equal plain, piped
    assert_empty plain.grep(/busy/)
  end

  # @return [Array, String] what the fields got, or what ended the response
  def resolve_alone(piped, fields, resolver)
    (Thread.list - [Thread.current]).each { |thread| thread.kill.join }
    resolve(piped, fields, &resolver)
  rescue Exception => e # rubocop:disable Lint/RescueException -- `fatal` is one of no class that has a name
    "#{e.class}: #{e.message.lines.first}"
  ensure
    Gated.release_connection
  end
end

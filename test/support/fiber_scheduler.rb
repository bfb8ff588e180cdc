# frozen_string_literal: true

require "io/wait"

# The least that Ruby wants of a fiber scheduler, as Falcon has one: while a fiber waits, others go on.
#
#     FiberScheduler.run { 3.times { |n| Fiber.schedule { sleep(1) && puts(n) } } } # takes a second
class FiberScheduler
  # Runs the block on a thread whose scheduler this is, and returns when all fibers are done.
  def self.run
    thread = Thread.new do
      Fiber.set_scheduler(new)
      yield
    end
    thread.report_on_exception = false
    thread.join
  end

  def initialize
    @waiting = {} # {fiber => [IO, events, deadline]}
    @blocked = {} # {fiber => deadline}
    @ready = []
    @lock = Thread::Mutex.new
    @wakes, @wake = IO.pipe
  end

  def close
    step until @waiting.empty? && @blocked.empty? && @ready.empty?
  end

  def fiber(&block) = Fiber.new(blocking: false, &block).tap(&:resume)

  def io_wait(io, events, timeout)
    @waiting[Fiber.current] = [io, events, deadline(timeout)]
    Fiber.yield
  ensure
    @waiting.delete(Fiber.current)
  end

  def kernel_sleep(duration = nil) = block(:sleep, duration)

  def block(_blocker, timeout = nil)
    @blocked[Fiber.current] = deadline(timeout)
    Fiber.yield
  ensure
    @blocked.delete(Fiber.current)
  end

  def unblock(_blocker, fiber)
    @lock.synchronize { @ready << fiber }
    @wake.write_nonblock(".")
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def deadline(timeout) = timeout && (now + timeout)

  def step
    came = select
    over = now
    @lock.synchronize { @ready.shift(@ready.size) }.each { |fiber| fiber.resume(true) if @blocked.key?(fiber) }
    @blocked.select { |_, at| at && at <= over }.each_key { |fiber| fiber.resume(false) if @blocked.key?(fiber) }
    @waiting.to_a.each do |fiber, (io, _, at)|
      next unless @waiting.key?(fiber)

      events = came.fetch(io, 0)
      fiber.resume(events) if events.positive? || (at && at <= over)
    end
  end

  # @return [Hash{IO => Integer}] events
  def select
    until_when = [*@waiting.each_value.map(&:last), *@blocked.values].compact.min
    readable, writable = [IO::READABLE, IO::WRITABLE].map { |kind| @waiting.each_value.filter_map { |io, events, _| io if events.anybits?(kind) } }
    reads, writes = IO.select([*readable, @wakes], writable, nil, @ready.empty? ? until_when && [until_when - now, 0].max : 0)
    @wakes.read_nonblock(1000) if reads&.delete(@wakes)
    came = Hash.new(0)
    reads&.each { |io| came[io] |= IO::READABLE }
    writes&.each { |io| came[io] |= IO::WRITABLE }
    came
  end
end

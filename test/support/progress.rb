# frozen_string_literal: true

# PIPELOADER_PROGRESS=1, as bin/test sets it: instead of dots, how far the run is, and how long the rest may take.
#
#   1204 of 4301 tests, 0 failed, 95 s; about 4 min left
#
# One line that is written anew on a terminal; elsewhere a line every half minute. Each failure is named at once. The estimate takes all
# tests for equally long.
class Progress < Minitest::Reporter
  INTERVALS = { true => 1, false => 30 }.freeze # seconds, by whether it is a terminal

  # @return [Integer] tests that this run has, +filter+ and PIPELOADER_PART considered
  def self.total(filter)
    filter = Regexp.new(filter[1..-2]) if filter.is_a?(String) && filter.match?(%r{\A/.*/\z})
    Minitest::Runnable.runnables.sum do |tests|
      tests.runnable_methods.count { |name| filter.nil? || filter === name || filter === "#{tests}##{name}" }
    end
  end

  def start
    @total = self.class.total(options[:filter] || options[:include])
    @done = @failed = 0
    @begun = @told = now
  end

  def record(result)
    @done += 1
    name_failure(result) unless result.passed? || result.skipped?
    tell if now - @told >= INTERVALS.fetch(io.tty?)
  end

  def report = io.puts("#{"\r\e[K" if io.tty?}#{line}")

  # @return [String] what is known by now
  def line
    left = (now - @begun) / [@done, 1].max * (@total - @done)
    "#{@done} of #{@total} tests, #{@failed} failed, #{(now - @begun).round} s#{"; about #{in_words(left)} left" if @done < @total}"
  end

  private

  def tell
    @told = now
    io.tty? ? io.print("\r\e[K#{line}") : io.puts(line)
    io.flush
  end

  def name_failure(result)
    @failed += 1
    io.puts "#{"\r\e[K" if io.tty?}#{result.result_code}: #{result.klass}##{result.name}"
  end

  def in_words(seconds) = seconds < 90 ? "#{seconds.round} s" : "#{(seconds / 60).round} min"
  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

Minitest.extensions << "pipeloader_progress"
Minitest.define_singleton_method(:plugin_pipeloader_progress_init) do |options|
  next if options[:verbose]

  reporter.reporters.reject! { |it| it.is_a?(Minitest::ProgressReporter) }
  reporter.reporters.unshift(Progress.new(options[:io], options))
end

# frozen_string_literal: true

# The process of one contender, started by Worker: orders come on stdin, each is answered on stdout. Both are marshalled:
# an order is [name, [argument, …], {option: …}], an answer [:ok, value] or [:failed, message].
#
#   ruby benchmark/serving.rb FOLDER_OF_LIB CONTENDER WORKLOAD

require_relative "contenders"
require_relative "workloads"
require_relative "sample"

module Bench
  # Obeys the orders.
  class Serving
    def initialize(contender, orders, answers)
      @contender = contender
      @orders = orders
      @answers = answers
    end

    def run
      until @orders.eof?
        order, arguments, options = Marshal.load(@orders)
        Marshal.dump(attempt { public_send(order, *arguments, **options) }, @answers)
      end
    end

    # Returns why the contender can't run here, if so, and the libraries that its process has loaded.
    def load
      @contender.load
      { missing: @contender.missing, libraries: libraries }
    end

    def seed(address)
      ActiveRecord::Base.establish_connection(address)
      dataset = @contender.dataset
      ActiveRecord::Base.with_connection do |connection|
        connection.execute("DROP SCHEMA IF EXISTS #{dataset.namespace} CASCADE; CREATE SCHEMA #{dataset.namespace}")
        dataset.seed(connection)
        connection.select_value("SHOW server_version")[/\S+/]
      end
    end

    # What a contender returns can't always be marshalled.
    def connect(address)
      @contender.connect(address)
      nil
    end

    # Forgets what was learned of the document at another distance, and runs: +least+, and more until so many seconds have
    # passed, but at most +most+. PostgreSQL settles on plans after five executions, Pipeloader after 32 on whether it rests.
    #
    # @return [Float] how many seconds the last one took
    def warm(least: 2, most: 100, seconds: 1)
      @contender.workload.renew
      start = Sample.now
      last = nil
      (1..most).each do |run|
        last = time
        break if run >= least && Sample.now - start > seconds
      end
      last
    end

    def answer = @contender.comparable_answer

    def sample = Sample.take(@contender)

    # Statements of one answer, as libpq itself records what it sends.
    def statements
      Tempfile.create("trace") do |file|
        wire = @contender.wire
        wire.trace(file)
        @contender.answer
        wire.untrace
        file.rewind
        file.each_line.count { |line| line.match?(/\tF\t\d+\t(Execute|Query)\t/) }
      end
    end

    # The process's peak memory over some answers, in bytes; nil where the system doesn't tell.
    def peak
      File.write("/proc/self/clear_refs", "5")
      3.times { @contender.answer }
      File.read("/proc/self/status")[/VmHWM:\s+(\d+)/, 1].to_i * 1024
    rescue SystemCallError
      nil
    end

    # See Profiler#run.
    def profile(seconds)
      require_relative "profiler"
      Profiler.new(@contender, $LOAD_PATH.first).run(seconds)
    end

    def yjit? = defined?(RubyVM::YJIT) && RubyVM::YJIT.enabled? ? true : false

    private

    def attempt
      [:ok, yield]
    rescue StandardError, ScriptError => e
      [:failed, "#{e.class}: #{e.message.lines.first(12).join}\n#{e.backtrace.first(12).join("\n")}"]
    end

    def time
      start = Sample.now
      @contender.answer
      Sample.now - start
    end

    # The gems that files were loaded from, by their folders' names.
    def libraries = $LOADED_FEATURES.filter_map { |file| file[%r{/gems/([^/]+)-\d[^/]*/}, 1] }.uniq.sort
  end
end

if $PROGRAM_NAME == __FILE__
  lib, contender, workload = ARGV
  $LOAD_PATH.unshift(lib)
  require "tempfile"
  trap("INT", "SYSTEM_DEFAULT") # the parent does the talking
  # What a gem prints must not end up between our answers.
  answers = $stdout.dup.binmode
  answers.sync = true
  $stdout.reopen($stderr)
  Bench::Serving.new(Bench::Contender.named(contender).new(Bench::Workload.named(workload)), $stdin.binmode, answers).run
end

# frozen_string_literal: true

require "json"
require "net/http"
require "open3"
require "socket"

module Bench
  # Whole responses over HTTP from Puma (a process of 16 threads) and Falcon (two processes, as here are two cores), under
  # wrk with 32 connections.
  class Web
    SERVERS = {
      "puma" => ->(port) { ["puma", "--quiet", "-t", "16:16", "-b", "tcp://127.0.0.1:#{port}"] },
      "falcon" => ->(port) { ["falcon", "--quiet", "serve", "--forked", "--count", "2", "-b", "http://127.0.0.1:#{port}", "-c"] }
    }.freeze
    WORKLOADS = %w[sleeps narrow-25].freeze
    CONTENDERS = %w[naive dataloader pipeloader pipeloader-lanes].freeze
    HEADS = ["workload", "server", "contender", "requests/s", "median ms", "p99 ms", "failed"].freeze
    CONNECTIONS = 32
    PATIENCE = 30 # seconds for a server to start
    LOG = File.expand_path("../tmp/benchmark/web.log", __dir__)

    def self.row(result)
      result.values_at(:workload, :server, :contender, :requests, :median, :p99, :failed).map { |cell| cell || "–" }
    end

    def initialize(database, progress, seconds: 8)
      @database = database
      @progress = progress
      @seconds = seconds
    end

    # [{workload:, server:, contender:, requests:, median:, p99:, failed:}, …], each answer held against naive's.
    def run
      return [] unless wrk?
      WORKLOADS.flat_map do |workload|
        parity = Parity.new
        contenders = CONTENDERS.select { |title| Contender.named(title).serves?(Workload.named(workload)) }
        SERVERS.keys.product(contenders).map { |server, contender| measure(workload, server, contender, parity) }
      end
    end

    private

    def wrk? = system("command -v wrk >/dev/null") || warn("bench: without wrk, no web servers are measured (see bin/setup)")

    def measure(workload, server, contender, parity)
      @progress.say("#{workload}: #{contender} served by #{server}")
      serve(workload, server, contender) do |port|
        parity.check("#{contender} by #{server}", get(port))
        wrk(port, 2)
        { workload: workload, server: server, contender: contender, **read(wrk(port, @seconds)) }
      end
    end

    def serve(workload, server, contender)
      port = TCPServer.open("127.0.0.1", 0) { |socket| socket.addr[1] }
      address = @database.address(Workload.named(workload)).merge(pool: CONNECTIONS)
      app = JSON.generate([contender, workload, address, Worker::LIB, Process.pid])
      pid = Process.spawn({ "BENCH_APP" => app, "RACK_ENV" => "production" }, *SERVERS[server].call(port),
                          "#{__dir__}/web/config.ru", %i[out err] => [LOG, "a"], pgroup: true)
      wait_for(port, pid)
      yield port
    ensure
      stop(pid) if pid
    end

    def wait_for(port, pid)
      start = Sample.now
      until answers?(port)
        raise Worker::Failed, "a web server didn't start: see #{LOG}" if Sample.now - start > PATIENCE || gone?(pid)
        sleep 0.1
      end
    end

    def answers?(port)
      get(port) && true
    rescue SystemCallError, EOFError, Net::ReadTimeout
      false
    end

    def gone?(pid) = Process.wait(pid, Process::WNOHANG)
    def get(port) = Net::HTTP.get_response("127.0.0.1", "/", port).then { |response| response.body }

    def wrk(port, seconds)
      options = ["-t2", "-c#{CONNECTIONS}", "-d#{seconds}s", "--timeout", "20s", "--latency"]
      Open3.capture2e("wrk", *options, "http://127.0.0.1:#{port}/").first
    end

    # wrk says "     50%   12.34ms", "     99%    1.20s", "Requests/sec:   123.4", "Non-2xx or 3xx responses: 5".
    def read(text)
      requests = text[/Requests\/sec:\s+([\d.]+)/, 1].to_f
      # (If no answer came in time, there is nothing to say about how long they took.)
      median, p99 = (["50%", "99%"].map { |part| ms(text[/^ +#{part} +(\S+)/, 1]) } if requests.positive?)
      { requests: requests, median: median, p99: p99,
        failed: text[/Non-2xx or 3xx responses: (\d+)/, 1].to_i + text[/Socket errors: (.*)/, 1].to_s.scan(/\d+/).sum(&:to_i) }
    end

    def ms(text) = (text.to_f * { "us" => 0.001, "ms" => 1, "s" => 1000, "m" => 60_000 }.fetch(text[/[a-z]+/])).round(1)

    # With its children.
    def stop(pid)
      Process.kill("KILL", -pid)
      Process.wait(pid)
    rescue Errno::ESRCH, Errno::ECHILD
      # Gone already.
    end
  end
end

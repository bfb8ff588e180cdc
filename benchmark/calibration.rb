# frozen_string_literal: true

require "pg"
require "enumerable/statistics"
require_relative "../example/latency_proxy"

module Bench
  # How far away the server is that is said to be so many milliseconds away: `select 1`, on a connection as the contenders'.
  class Calibration
    RUNS = 100

    def initialize(address)
      @address = address
    end

    # {rtt => {median:, p99:}} in ms.
    def run(rtts) = rtts.to_h { |rtt| [rtt, rtt.zero? ? measure(@address) : far(rtt)] }

    private

    def far(rtt)
      proxy = LatencyProxy.start("#{@address[:host]}:#{@address[:port]}", rtt: rtt)
      measure(@address.merge(host: proxy.host, port: proxy.port))
    ensure
      proxy&.stop
    end

    def measure(address)
      wire = PG.connect(**address.except(:adapter, :username, :database, :schema_search_path),
                        user: address[:username], dbname: address[:database])
      wire.prepare("one", "select 1")
      seconds = Array.new(RUNS) { time(wire) }
      { median: seconds.median * 1000, p99: seconds.percentile(99) * 1000 }
    ensure
      wire&.close
    end

    def time(wire)
      start = Sample.now
      wire.exec_prepared("one")
      Sample.now - start
    end
  end
end

# frozen_string_literal: true

# One contender behind a web server, see Web.

require_relative "../contenders"
require_relative "../workloads"

name, workload, address, lib, owner = ENV.fetch("BENCH_APP").then { |text| JSON.parse(text) }
$LOAD_PATH.unshift(lib)

# Whoever started the server, and would stop it, may be killed.
Thread.new do
  sleep 1 while Process.kill(0, owner)
rescue Errno::ESRCH
  exit!
end

contender = Bench::Contender.named(name).new(Bench::Workload.named(workload))
contender.load
# A connection per fiber, where fibers answer requests.
ActiveSupport::IsolatedExecutionState.isolation_level = :fiber if defined?(Falcon)
contender.connect(address.transform_keys(&:to_sym))

run ->(_environment) { [200, { "content-type" => "application/json" }, [contender.answer]] }

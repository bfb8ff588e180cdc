# frozen_string_literal: true

# One query over 50 posts, their authors, comments and commenters, with plain resolvers: how many round trips it takes with
# Pipeloader and without, counted on the wire.
#
#   ruby example/run.rb

ENV["BUNDLE_GEMFILE"] ||= File.expand_path("../Gemfile", __dir__)
system(File.expand_path("../bin/setup", __dir__)) || exit(1)
require "bundler/setup"
$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "pipeloader"
require_relative "../test/support/private_cluster"
require_relative "latency_proxy"
require_relative "schema"

QUERY = "{ posts(limit: 50) { title author { name } comments { body commenter { name } } } }"

# The result and the round trips it took. The first run of a connection isn't counted: it asks for types and prepares
# statements.
def execute_and_count(schema, proxy, rtt)
  proxy.rtt = 0
  schema.execute(QUERY)
  proxy.rtt = rtt
  result = nil
  cost = proxy.count { result = schema.execute(QUERY) }
  [result, cost[:round_trips]]
end

begin
  address = PrivateCluster.tcp_hash
  proxy = LatencyProxy.start("#{address[:host]}:#{address[:port]}")
  ActiveRecord::Base.establish_connection(**address, host: proxy.host, port: proxy.port)
  Example.seed(ActiveRecord::Base.lease_connection)

  plain, plain_trips = execute_and_count(Example.build_schema, proxy, 0)
  # So far away that a burst is sent whole before its first answer is back.
  piped, piped_trips = execute_and_count(Example.build_schema(Pipeloader), proxy, 20)
  abort "The answers differ. This is a bug in Pipeloader." if piped.to_json != plain.to_json
  counters = piped.context.namespace(:pipeloader)

  puts QUERY, ""
  puts "resolved #{piped["data"]["posts"].size} posts with plain ActiveRecord resolvers"
  puts "round trips:      #{piped_trips}"
  puts "reads pipelined:  #{counters[:reads]}, as #{counters[:statements]} statements"
  puts "without it:       #{plain_trips} round trips, for the same bytes"
rescue Interrupt
  exit 130
rescue PrivateCluster::Error, ActiveRecord::ConnectionNotEstablished => e
  abort e.message
end

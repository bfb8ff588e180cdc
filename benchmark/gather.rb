# frozen_string_literal: true

# Records and their associations as JSON, outside of GraphQL, by several serializers: a serial loop over naive code,
# ActiveRecord's `includes` by hand, its `load_async` by hand, the gems goldiloader and ar_lazy_preload, and Pipeloader.map over
# the naive code. Each in a process of its own: what these gems patch would be in the others' way. They take turns. What comes
# must be the same; round trips are counted.
#
#   BUNDLE_GEMFILE=benchmark/Gemfile bundle exec ruby benchmark/gather.rb [--tree posts|narrow|wide] [records] [rtt in ms …]
#
# The trees: posts, a blog of 50, three levels deep; narrow and wide, those that the original was described with, as in
# example/bench.rb (25 posts) and example/bench_wide.rb (12 issues). RTTs: 0 1 5.

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "optparse"
require_relative "../example/latency_proxy"
require_relative "../test/support/private_cluster"
require_relative "gather/tree"
require_relative "gather/report"

options = { tree: "posts", budget: 2.0 }
OptionParser.new("Usage: ruby benchmark/gather.rb [options] [records] [rtt in ms …]") do |parser|
  parser.on("--tree NAME", Gather::Tree::NAMES, "#{Gather::Tree::NAMES.join(", ")}; default posts")
  parser.on("--budget SECONDS", Float, "for the runs of each contender; default 2. With 0, times mean nothing")
end.parse!(into: options)
size, *rtts = ARGV
rtts = rtts.empty? ? [0.0, 1.0, 5.0] : rtts.map { |text| Float(text) }

address = PrivateCluster.tcp_hash
ActiveRecord::Base.establish_connection(address)
tree = Gather::Tree.planted(options[:tree], size&.to_i)
ActiveRecord::Base.remove_connection
proxy = LatencyProxy.start("#{address[:host]}:#{address[:port]}")
begin
  rtts.each do |rtt|
    # Without a network there is no need of the proxy, which would take some of the two cores.
    to = rtt.zero? ? address : address.merge(host: proxy.host, port: proxy.port)
    proxy.rtt = rtt
    puts "RTT #{rtt} ms, #{options[:tree]}, #{tree.size} records"
    Gather::Report.new(tree, to, (proxy unless rtt.zero?), options[:budget]).print
  end
ensure
  proxy.stop
end

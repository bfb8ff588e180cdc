# frozen_string_literal: true

# A list of posts as JSON, three levels deep, outside of GraphQL: a serial loop, the same with ActiveRecord's `includes` by hand,
# and Pipeloader.map over naive code. What comes must be the same; round trips are counted on the way.
#
#   bundle exec ruby benchmark/gather.rb [posts] [rtt in ms …]        # 50 0 1 5

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "json"
require_relative "blog"
require "pipeloader"
require_relative "../example/latency_proxy"

POSTS, PEOPLE = (ARGV[0] || 50).to_i, 200
Person.insert_all!((1..PEOPLE).map { |id| { name: "Person #{id}" } })
Post.insert_all!((1..POSTS).map { |id| { title: "Post #{id}", author_id: id % PEOPLE + 1 } })
Comment.insert_all!((1..(POSTS * 5)).map do |id|
  { body: "Comment #{id}", post_id: (id % POSTS) + 1, author_id: (id * 7 % PEOPLE) + 1 }
end)
ActiveRecord::Base.connection.execute("ANALYZE")

# What an application writes that never thinks of loading.
class PostJSON
  def initialize(post, map) = (@post, @map = post, map)

  def as_json
    { title: @post.title, author: @post.author.name,
      comments: @map.(@post.comments.to_a) { |comment| { body: comment.body, author: comment.author.name } } }
  end
end

SERIAL = ->(values, &block) { values.map(&block) }
GATHERED = ->(values, &block) { Pipeloader.map(values, &block) }

def list(posts, map) = map.(posts.to_a) { |post| PostJSON.new(post, map).as_json }

CONTENDERS = {
  "naive" => -> { list(Post.order(:id), SERIAL) },
  "includes" => -> { list(Post.order(:id).includes(:author, comments: :author), SERIAL) },
  "Pipeloader.map" => -> { list(Post.order(:id), GATHERED) }
}.freeze

def seconds
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
end

rtts = ARGV.size > 1 ? ARGV.drop(1).map(&:to_f) : [0.0, 1.0, 5.0]
address = PrivateCluster.tcp_hash
proxy = LatencyProxy.start("#{address[:host]}:#{address[:port]}")
begin
  rtts.each do |rtt|
    # Without a network there is no need of the proxy, which would take some of the two cores.
    ActiveRecord::Base.establish_connection(rtt.zero? ? address : address.merge(host: proxy.host, port: proxy.port))
    proxy.rtt = rtt
    answers = CONTENDERS.transform_values { |work| 3.times { work.call }; JSON.generate(work.call) }
    abort "The answers differ" unless answers.values.uniq.size == 1

    times = CONTENDERS.transform_values { [] }
    15.times { CONTENDERS.each { |name, work| times[name] << seconds { work.call } } }
    medians = times.transform_values { |all| all.sort[all.size / 2] }
    medians.each do |name, median|
      trips = proxy.count { CONTENDERS[name].call }[:round_trips] unless rtt.zero?
      puts format("RTT %.1f ms, %d posts: %-15s %7.1f ms, %.2f of naive%s", rtt, POSTS, name, median * 1000,
                  median / medians["naive"], trips && ", #{trips} round trips")
    end
  end
ensure
  proxy.stop
end

# frozen_string_literal: true

# A list of posts as JSON, three levels deep, outside of GraphQL, by several serializers: a serial loop over naive code, ActiveRecord's
# `includes` by hand, the gems goldiloader and ar_lazy_preload, and Pipeloader.map over the naive code. What comes must be the same; round trips are counted on the way.
#
#   BUNDLE_GEMFILE=benchmark/Gemfile bundle exec ruby benchmark/gather.rb [posts] [rtt in ms …]        # 50 0 1 5

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "json"
require "logger"
require_relative "blog"
require "pipeloader"
require "goldiloader"
require "ar_lazy_preload"
require "alba"
require "jbuilder"
require "active_model_serializers"
require_relative "../example/latency_proxy"

Goldiloader.globally_enabled = false
ArLazyPreload.install_hooks
ActiveModelSerializers.logger = Logger.new(nil)

POSTS, PEOPLE = (ARGV[0] || 50).to_i, 200
Person.insert_all!((1..PEOPLE).map { |id| { name: "Person #{id}" } })
Post.insert_all!((1..POSTS).map { |id| { title: "Post #{id}", author_id: id % PEOPLE + 1 } })
Comment.insert_all!((1..(POSTS * 5)).map do |id|
  { body: "Comment #{id}", post_id: (id % POSTS) + 1, author_id: (id * 7 % PEOPLE) + 1 }
end)
ActiveRecord::Base.connection.execute("ANALYZE")

class PersonResource
  include Alba::Resource
  attributes :name
end

class CommentResource
  include Alba::Resource
  attributes :body
  one :author, resource: PersonResource
end

class PostResource
  include Alba::Resource
  attributes :title
  one :author, resource: PersonResource
  many :comments, resource: CommentResource
end

class PersonSerializer < ActiveModel::Serializer
  attributes :name
end

class CommentSerializer < ActiveModel::Serializer
  attributes :body
  belongs_to :author, serializer: PersonSerializer
end

class PostSerializer < ActiveModel::Serializer
  attributes :title
  belongs_to :author, serializer: PersonSerializer
  has_many :comments, serializer: CommentSerializer
end

# What an application writes that never thinks of loading: of one post.
SERIALIZERS = {
  "plain Ruby" => lambda do |post|
    { title: post.title, author: { name: post.author.name },
      comments: post.comments.map { |comment| { body: comment.body, author: { name: comment.author.name } } } }
  end,
  "alba" => ->(post) { PostResource.new(post).to_h },
  "jbuilder" => lambda do |post|
    Jbuilder.new do |json|
      json.title post.title
      json.author(post.author, :name)
      json.comments(post.comments) do |comment|
        json.body comment.body
        json.author(comment.author, :name)
      end
    end.attributes!
  end,
  "AMS" => lambda do |post|
    ActiveModelSerializers::SerializableResource.new(post, serializer: PostSerializer, adapter: :attributes, include: "**").as_json
  end
}.freeze

# {name => gets a serializer, returns what it makes of all posts}
CONTENDERS = {
  "a serial loop" => ->(one) { Post.order(:id).map(&one) },
  "includes" => ->(one) { Post.order(:id).includes(:author, comments: :author).map(&one) },
  "goldiloader" => ->(one) { Goldiloader.enabled { Post.order(:id).map(&one) } },
  "ar_lazy_preload" => ->(one) { Post.order(:id).preload_associations_lazily.map(&one) },
  "Pipeloader.map" => ->(one) { Pipeloader.map(Post.order(:id)) { |post| one.call(post) } }
}.freeze

def seconds
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
end

# @return [Hash{String => Float}] median seconds of each
def medians(one)
  times = CONTENDERS.transform_values { [] }
  15.times { CONTENDERS.each { |name, work| times[name] << seconds { work.call(one) } } }
  times.transform_values { |all| all.sort[all.size / 2] }
end

def compare(one, title, proxy)
  answers = CONTENDERS.transform_values { |work| 3.times { work.call(one) }; JSON.generate(work.call(one)) }
  abort "The answers differ" unless answers.values.uniq.one?

  medians(one).tap do |found|
    found.each do |name, median|
      trips = proxy&.count { CONTENDERS[name].call(one) }
      puts format("%-12s %-16s %7.1f ms, %.2f of includes%s", title, name, median * 1000, median / found["includes"],
                  trips && ", #{trips[:round_trips]} round trips")
    end
  end
end

rtts = ARGV.size > 1 ? ARGV.drop(1).map(&:to_f) : [0.0, 1.0, 5.0]
address = PrivateCluster.tcp_hash
proxy = LatencyProxy.start("#{address[:host]}:#{address[:port]}")
begin
  rtts.each do |rtt|
    # Without a network there is no need of the proxy, which would take some of the two cores.
    ActiveRecord::Base.establish_connection(rtt.zero? ? address : address.merge(host: proxy.host, port: proxy.port))
    proxy.rtt = rtt
    puts "RTT #{rtt} ms, #{POSTS} posts"
    SERIALIZERS.each { |title, one| compare(one, title, (proxy unless rtt.zero?)) }
  end
ensure
  proxy.stop
end

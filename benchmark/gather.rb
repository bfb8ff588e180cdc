# frozen_string_literal: true

# A list of posts as JSON, three levels deep, outside of GraphQL, by several serializers: a serial loop over naive code,
# ActiveRecord's `includes` by hand, the gems goldiloader and ar_lazy_preload, and Pipeloader.map over the naive code. Each in a
# process of its own: what these gems patch would be in the others' way. What comes must be the same; round trips are counted.
#
#   BUNDLE_GEMFILE=benchmark/Gemfile bundle exec ruby benchmark/gather.rb [posts] [rtt in ms …]        # 50 0 1 5

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "json"
require "logger"
require_relative "blog"
require "alba"
require "jbuilder"
require "active_model_serializers"
require_relative "../example/latency_proxy"

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
    options = { serializer: PostSerializer, adapter: :attributes, include: "**" }
    ActiveModelSerializers::SerializableResource.new(post, **options).as_json
  end
}.freeze

def lazily
  require "ar_lazy_preload"
  ArLazyPreload.install_hooks
  ArLazyPreload.config.auto_preload = true
end

# {name => [what it needs, what makes JSON of all posts by a serializer]}
CONTENDERS = {
  "a serial loop" => [-> {}, ->(one) { Post.order(:id).map(&one) }],
  "includes" => [-> {}, ->(one) { Post.order(:id).includes(:author, comments: :author).map(&one) }],
  "goldiloader" => [-> { require "goldiloader" }, ->(one) { Post.order(:id).map(&one) }],
  "ar_lazy_preload" => [-> { lazily }, ->(one) { Post.order(:id).map(&one) }],
  "Pipeloader.map" => [-> { require "pipeloader" }, ->(one) { Pipeloader.map(Post.order(:id), &one) }]
}.freeze
RUNS = 20

def seconds
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  yield
  Process.clock_gettime(Process::CLOCK_MONOTONIC) - began
end

# @return [Array] what the block returns in a process of its own
def apart(address)
  reader, writer = IO.pipe(binmode: true)
  pid = fork do
    ActiveRecord::Base.establish_connection(address)
    writer.write(Marshal.dump(yield))
    writer.flush
    exit!(0)
  end
  writer.close
  Marshal.load(reader.read)
ensure
  Process.wait(pid) if pid
end

def compare(one, title, address, proxy)
  found = CONTENDERS.to_h do |name, (need, work)|
    trips = nil
    run = lambda do
      need.call
      5.times { work.call(one) }
      [JSON.generate(work.call(one)), Array.new(RUNS) { seconds { work.call(one) } }.sort[RUNS / 2]]
    end
    all = nil
    trips = proxy.count { all = apart(address, &run) }[:round_trips] / (RUNS + 6.0) if proxy
    [name, [*(all || apart(address, &run)), trips]]
  end
  abort "The answers differ" unless found.each_value.map(&:first).uniq.one?

  found.each do |name, (_, median, trips)|
    puts format("%-10s %-16s %7.1f ms, %5.2f of includes%s", title, name, median * 1000, median / found["includes"][1],
                trips && format(", %.1f round trips on average, with what connecting takes", trips))
  end
end

rtts = ARGV.size > 1 ? ARGV.drop(1).map(&:to_f) : [0.0, 1.0, 5.0]
address = PrivateCluster.tcp_hash
ActiveRecord::Base.remove_connection
proxy = LatencyProxy.start("#{address[:host]}:#{address[:port]}")
begin
  rtts.each do |rtt|
    # Without a network there is no need of the proxy, which would take some of the two cores.
    to = rtt.zero? ? address : address.merge(host: proxy.host, port: proxy.port)
    proxy.rtt = rtt
    puts "RTT #{rtt} ms, #{POSTS} posts"
    SERIALIZERS.each { |title, one| compare(one, title, to, (proxy unless rtt.zero?)) }
  end
ensure
  proxy.stop
end

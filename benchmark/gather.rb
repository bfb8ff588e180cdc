# frozen_string_literal: true

# A list of posts as JSON, three levels deep, outside of GraphQL, by several serializers: a serial loop over naive code,
# ActiveRecord's `includes` by hand, the gems goldiloader and ar_lazy_preload, and Pipeloader.map over the naive code. Each in a
# process of its own: what these gems patch would be in the others' way. They take turns. What comes must be the same; round trips
# are counted.
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
require_relative "turns"

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

SERIAL = "a serial loop"
# {name => [what it needs, what makes JSON of all posts by a serializer]}
CONTENDERS = {
  SERIAL => [-> {}, ->(one) { Post.order(:id).map(&one) }],
  "includes" => [-> {}, ->(one) { Post.order(:id).includes(:author, comments: :author).map(&one) }],
  "goldiloader" => [-> { require "goldiloader" }, ->(one) { Post.order(:id).map(&one) }],
  "ar_lazy_preload" => [-> { lazily }, ->(one) { Post.order(:id).map(&one) }],
  "Pipeloader.map" => [-> { require "pipeloader" }, ->(one) { Pipeloader.map(Post.order(:id), &one) }]
}.freeze
BUDGET = 2 # seconds for the runs of each contender
MOST = 21

# One contender in a process of its own, which does its work whenever it is told to.
class ContenderProcess
  def initialize(address, need, work)
    orders, @into = IO.pipe
    @out, answers = IO.pipe(binmode: true)
    @pid = fork do
      [@into, @out].each(&:close)
      ActiveRecord::Base.establish_connection(address)
      need.call
      5.times { work.call }
      Marshal.dump(timed(&work), answers) while orders.gets == "run\n"
      exit!(0)
    end
    [orders, answers].each(&:close)
  end

  # @return [Array(Float, String)] seconds, and JSON
  def run
    @into.puts("run")
    Marshal.load(@out)
  end

  # Not by closing the pipe: those that were forked later have it, too.
  def stop
    @into.puts("stop")
    Process.wait(@pid)
  end

  private

  def timed
    began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    found = yield
    [Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, JSON.generate(found)]
  end
end

def median(values) = values.sort[values.size / 2]

# They take turns, so that all have the machine as it is: a ratio is of one round's times.
#
# @return [Hash{String => Array(Float, Float, Integer)}] median of seconds, of the ratio to +includes+, and round trips
def figures(contenders, proxy)
  first = contenders.transform_values(&:run)
  abort "The answers differ" unless first.each_value.map(&:last).uniq.one?

  trips = contenders.transform_values { |contender| proxy.count { contender.run }[:round_trips] if proxy }
  rounds = Bench::Turns.new(first.transform_values(&:first), budget: BUDGET, least: 3, most: MOST)
                       .map { |_, names| names.to_h { |name| [name, contenders.fetch(name).run.first] } }
  contenders.to_h do |name, _|
    times = rounds.filter_map { |round| round.values_at(name, "includes") if round.key?(name) && round.key?("includes") }
    [name, [median(times.map(&:first)), median(times.map { |own, other| own / other }), trips[name]]]
  end
end

def compare(one, title, address, proxy)
  contenders = CONTENDERS.transform_values { |need, work| ContenderProcess.new(address, need, -> { work.call(one) }) }
  figures(contenders, proxy).each do |name, (seconds, ratio, trips)|
    trips &&= ", #{trips} round trips"
    puts format("%-10s %-16s %7.1f ms, %5.2f of includes%s", title, name, seconds * 1000, ratio, trips)
  end
ensure
  contenders&.each_value(&:stop)
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

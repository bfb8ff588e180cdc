# frozen_string_literal: true

# 1,000 subscribers of one trigger: a store that executes them one by one in plain graphql-ruby, and one that does so in
# Pipeloader.multiplex. What is delivered must be the same; statements are counted on the way.
#
#   bundle exec ruby benchmark/subscribers.rb [subscribers] [rtt in ms …]        # 1000 0 1

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "json"
require "active_record"
require "pg"
require "graphql"
require "pipeloader"
require_relative "blog"
require_relative "../example/latency_proxy"

PEOPLE, COMMENTS = 200, 25
Person.insert_all!((1..PEOPLE).map { |id| { name: "Person #{id}" } })
Post.insert_all!((1..10).map { |id| { title: "Post #{id}", author_id: id } })
Comment.insert_all!((1..(10 * COMMENTS)).map do |id|
  { body: "Comment #{id}", post_id: (id % 10) + 1, author_id: (id * 7 % PEOPLE) + 1 }
end)
ActiveRecord::Base.connection.execute("ANALYZE")

module Types
  class Person < GraphQL::Schema::Object
    field :name, String
  end

  class Comment < GraphQL::Schema::Object
    field :body, String
    field :author, Person
  end

  class Post < GraphQL::Schema::Object
    field :title, String
    field :author, Person
    field :comments, [Comment]
    field :mine, [Comment]
    def mine = object.comments.where(author_id: context[:viewer])
  end

  class PostChanged < GraphQL::Schema::Subscription
    payload_type Post
    def subscribe = :no_response
    def update = ::Post.find(object)
  end

  class Subscription < GraphQL::Schema::Object
    field :post_changed, subscription: PostChanged
  end

  class Query < GraphQL::Schema::Object
    field :nothing, String
  end
end

class Store < GraphQL::Subscriptions
  attr_reader :delivered

  def initialize(together: false, **options)
    super(**options)
    @together = together
    @queries = {}
    @delivered = []
  end

  def write_subscription(query, _events) = @queries[query.context[:subscription_id] = build_id] = query
  def delete_subscription(id) = @queries.delete(id)
  def deliver(_id, result) = @delivered << result.to_h

  def read_subscription(id)
    query = @queries.fetch(id)
    { query_string: query.query_string, variables: query.provided_variables, operation_name: query.operation_name,
      context: { viewer: query.context[:viewer] } }
  end

  def execute_all(event, object)
    return @queries.each_key { |id| execute(id, event, object) } unless @together

    Pipeloader.multiplex(@queries.keys) { |id| execute(id, event, object) }
  end
end

def schema(piped)
  Class.new(GraphQL::Schema) do
    query(Types::Query)
    subscription(Types::Subscription)
    use(Store, together: piped)
    use(Pipeloader) if piped
  end
end

QUERY = "subscription { postChanged { title author { name } comments { body author { name } } mine { body } } }"

def trigger(schema)
  store = schema.subscriptions
  store.delivered.clear
  began = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  store.trigger(:post_changed, {}, 1)
  [Process.clock_gettime(Process::CLOCK_MONOTONIC) - began, JSON.generate(store.delivered)]
end

subscribers = (ARGV[0] || 1000).to_i
rtts = ARGV.size > 1 ? ARGV.drop(1).map(&:to_f) : [0.0, 1.0]
plain, piped = [false, true].map { |it| schema(it) }
[plain, piped].each do |it|
  subscribers.times { |index| it.execute(QUERY, context: { viewer: (index % PEOPLE) + 1 }) }
end

address = PrivateCluster.tcp_hash
proxy = LatencyProxy.start("#{address[:host]}:#{address[:port]}")
ActiveRecord::Base.establish_connection(address.merge(host: proxy.host, port: proxy.port))
2.times { trigger(piped) } # the connection learns what to send for many
rtts.each do |rtt|
  proxy.rtt = rtt
  round_trips = []
  times = [plain, piped].map do |it|
    results = Array.new(it == plain ? 1 : 3) do
      result = nil
      round_trips << [it == piped, proxy.count { result = trigger(it) }[:round_trips]]
      result
    end
    [results.map(&:first).sort[results.size / 2], results.last.last]
  end
  abort "The answers differ" unless times[0].last == times[1].last

  count = 0
  counter = ->(*, payload) { count += payload[:statements] }
  ActiveSupport::Notifications.subscribed(counter, "burst.pipeloader") { trigger(piped) }
  puts format("RTT %.1f ms, %d subscribers: plain %.2f s (%d round trips), Pipeloader.multiplex %.2f s " \
              "(%d round trips, %d statements): %.1f times less",
              rtt, subscribers, times[0].first, round_trips.assoc(false).last, times[1].first,
              round_trips.assoc(true).last, count,
              times[0].first / times[1].first)
end
proxy.stop

# frozen_string_literal: true

# What Pipeloader::Web's recording costs, where the page is mounted: blocks of requests with it and without, by turns. A request
# is one of ActionPack's, without HTTP: middlewares, routes, a controller that parses JSON, executes and renders JSON. What is
# done for the recording is timed where it is done, between other work; its cost is the difference between both medians, and a
# part of what it takes to add up several requests together. (Whole requests differ by more than that, on a machine with other
# work.) The figures of docs/web.md.
#
#   bundle exec ruby benchmark/web_page.rb [blocks] [--executions]        # 12; without a request around them
#   PIPELOADER_ENGINE=next bundle exec ruby benchmark/web_page.rb         # GraphQL::Execution::Next

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "active_record"
require "pg"
require "graphql"
require "action_controller"
require "pipeloader/web"
require_relative "blog"

Person.insert_all!((1..20).map { |id| { name: "Person #{id}" } })
Post.insert_all!((1..10).map { |id| { title: "Post #{id}", author_id: id } })
Comment.insert_all!((1..50).map { |id| { body: "Comment #{id}", post_id: (id % 10) + 1, author_id: (id * 7 % 20) + 1 } })
ActiveRecord::Base.connection.execute("ANALYZE")

NEXT = ENV["PIPELOADER_ENGINE"] == "next"

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
  end

  class Query < GraphQL::Schema::Object
    field :posts, [Post], **(NEXT ? { resolve_legacy_instance_method: true } : {})
    def posts = ::Post.order(:id).to_a
  end
end

class AppSchema < GraphQL::Schema
  if NEXT
    use GraphQL::Execution::Next, as_default: true
    use GraphQL::Dataloader
  end
  query Types::Query
  use Pipeloader, rest: false
end

# As `rails generate graphql:install` writes it.
class GraphqlController < ActionController::API
  def execute
    render json: AppSchema.execute(params[:query], variables: {}, context: {}, operation_name: params[:operationName])
  end
end

# The middlewares of a Rails API that have a part in such a request.
module Application
  ROUTES = ActionDispatch::Routing::RouteSet.new.tap do |routes|
    routes.draw do
      mount Pipeloader::Web.method(:call), at: "/pipeloader" # a class is asked for Rails::Railtie
      post "/graphql", to: "graphql#execute"
    end
  end
  STACK = ActionDispatch::MiddlewareStack.new do |stack|
    stack.use ActionDispatch::HostAuthorization, nil
    stack.use ActionDispatch::RequestId, header: "X-Request-Id"
    stack.use ActionDispatch::RemoteIp
  end.build(ROUTES)

  # @return [String] the answer
  def self.post(text)
    body = JSON.generate(query: text, variables: {}, operationName: nil)
    env = Rack::MockRequest.env_for("http://blog.test/graphql", method: "POST", input: body, "CONTENT_TYPE" => "application/json")
    status, _, parts = STACK.call(env)
    answer = +""
    parts.each { |part| answer << part }
    parts.close if parts.respond_to?(:close)
    raise "#{status}: #{answer}" unless status == 200 && answer.start_with?('{"data"')

    answer
  end
end

Pipeloader::Web.authorize = :host
ActionController::Base.logger = ActiveRecord::Base.logger = nil
EXECUTIONS = !ARGV.delete("--executions").nil?
RUN = EXECUTIONS ? AppSchema.method(:execute) : Application.method(:post)

QUERIES = { "a list" => "query List { posts { title } }",
            "one association" => "query One { posts { title author { name } } }",
            "three associations" => "query Three { posts { title author { name } comments { body author { name } } } }" }.freeze
WARM = 3
BLOCK = 100

# Adds up what the calls take in which an execution and the recording meet.
module Spent
  @total = 0.0

  class << self
    # @return [Float] microseconds
    attr_accessor :total

    def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_microsecond)

    def in(owner, name)
      owner.prepend(Module.new do
        define_method(name) do |*given, **named, &block|
          began = Spent.now
          super(*given, **named, &block)
        ensure
          Spent.total += Spent.now - began
        end
      end)
    end
  end
end
Spent.in(Pipeloader::Counters.singleton_class, :of)
Spent.in(Pipeloader::Counters, :count)
Spent.in(Pipeloader::Counters, :close)
Spent.in(Pipeloader::Burst.singleton_class, :watched?)
Spent.in(Pipeloader::Summary.singleton_class, :tell)

# @return [Array(Float, Integer)] microseconds of CPU, and objects
def figures = [Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :float_microsecond), GC.stat(:total_allocated_objects)]

def middle(all) = all.sort[all.size / 2]

# To subscribe empties ActiveSupport's caches, which the first executions of a block fill again.
#
# @return [Array<Array(Float, Integer, Float)>] of each request: microseconds of CPU, objects, microseconds in what is timed
def measure(text, recording)
  Pipeloader::Web.start if recording
  WARM.times { RUN.call(text) }
  GC.start
  GC.disable
  Array.new(BLOCK) do
    Spent.total = 0.0
    began = figures
    RUN.call(text)
    [*figures.zip(began).map { |after, before| after - before }, Spent.total]
  end
ensure
  GC.enable
  Pipeloader::Web.stop
end

# @return [Float] microseconds that adding up takes, per request
def added
  recorder = Pipeloader::Web.instance_variable_get(:@recorder)
  query = AppSchema.execute(QUERIES.values.first).query
  query.context.namespace(:pipeloader_web).clear # else it is shown, and added up at once
  payload = { queries: [query], waited: 0.01, rows: 3, reads: 2, statements: 2, bursts: 2 }
  middle(Array.new(200) do
    31.times { recorder.response(payload) }
    began = Spent.now
    recorder.send(:add_up)
    (Spent.now - began) / 31
  end)
end

blocks = Integer(ARGV.fetch(0, 12))
ADDED = added
puts format("adding up: %.1f µs per request", ADDED)
Pipeloader::Web.stop
QUERIES.each do |name, text|
  20.times { RUN.call(text) }
  seen = { true => [], false => [] }
  blocks.times { seen.keys.shuffle.each { |recording| seen[recording].concat(measure(text, recording)) } }
  (_, objects, spent), (whole, fewer, before) = seen.values.map { |all| all.transpose.map { |it| middle(it) } }
  spent += ADDED
  puts format("%-20s %5.0f µs of CPU, %.0f µs of it for the recording: %.1f %%, %d objects",
              name, whole, spent - before, 100 * (spent - before) / whole, objects - fewer)
end

# frozen_string_literal: true

# What Pipeloader::Web's recording costs an execution, without HTTP: blocks of executions with it and without, by turns. What is
# done for it is timed where it is done, between other work; its cost is the difference between both medians. (Those of whole
# executions differ by more than that, on a machine with other work.) The figures of docs/web.md.
#
#   bundle exec ruby benchmark/web_page.rb [blocks]        # 30

$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "active_record"
require "pg"
require "graphql"
require "pipeloader/web"
require_relative "blog"

Person.insert_all!((1..20).map { |id| { name: "Person #{id}" } })
Post.insert_all!((1..10).map { |id| { title: "Post #{id}", author_id: id } })
Comment.insert_all!((1..50).map { |id| { body: "Comment #{id}", post_id: (id % 10) + 1, author_id: (id * 7 % 20) + 1 } })
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
  end

  class Query < GraphQL::Schema::Object
    field :posts, [Post]
    def posts = ::Post.order(:id).to_a
  end
end

class AppSchema < GraphQL::Schema
  query Types::Query
  use Pipeloader, rest: false
end

QUERIES = { "a list" => "query List { posts { title } }",
            "one association" => "query One { posts { title author { name } } }",
            "three associations" => "query Three { posts { title author { name } comments { body author { name } } } }" }.freeze
WARM = 3
BLOCK = 10

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
# @return [Array<Array(Float, Integer, Float)>] of each execution: microseconds of CPU, objects, microseconds in what is timed
def measure(text, recording)
  Pipeloader::Web.start if recording
  WARM.times { AppSchema.execute(text) }
  GC.start
  GC.disable
  Array.new(BLOCK) do
    Spent.total = 0.0
    began = figures
    AppSchema.execute(text)
    [*figures.zip(began).map { |after, before| after - before }, Spent.total]
  end
ensure
  GC.enable
  Pipeloader::Web.stop
end

blocks = Integer(ARGV.fetch(0, 30))
Pipeloader::Web.stop
QUERIES.each do |name, text|
  20.times { AppSchema.execute(text) }
  seen = { true => [], false => [] }
  blocks.times { seen.keys.shuffle.each { |recording| seen[recording].concat(measure(text, recording)) } }
  (_, objects, spent), (whole, fewer, before) = seen.values.map { |all| all.transpose.map { |it| middle(it) } }
  puts format("%-20s %5.0f µs of CPU, %.0f µs of it for the recording: %.1f %%, %d objects",
              name, whole, spent - before, 100 * (spent - before) / whole, objects - fewer)
end

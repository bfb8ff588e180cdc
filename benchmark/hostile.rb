# frozen_string_literal: true

# What bin/hostile runs: what documents cost that somebody has made up to cost much, with Pipeloader against without; and what a
# process keeps after many reads.
#
# A document is executed twice, with Pipeloader and without by turns, each in a process of its own; every round has another text,
# so that the first time is the first. CPU and objects are those of GraphQL::Schema.execute; memory is what the process had at
# most more than before.

require "active_record"
require "graphql"
require "json"
require "objspace"
require "pipeloader"
require_relative "../test/support/private_cluster"

module Hostile
  # What is asked for.
  module Models
    class Record < ActiveRecord::Base
      self.abstract_class = true
    end

    class User < Record
      self.table_name = "hostile_users"
      has_many :posts, class_name: "Hostile::Models::Post", foreign_key: :user_id
    end

    class Post < Record
      self.table_name = "hostile_posts"
      belongs_to :user, class_name: "Hostile::Models::User"
      has_many :comments, class_name: "Hostile::Models::Comment", foreign_key: :post_id
    end

    class Comment < Record
      self.table_name = "hostile_comments"
      belongs_to :post, class_name: "Hostile::Models::Post"
      belongs_to :user, class_name: "Hostile::Models::User"
    end

    POSTS = 100
    TABLES = { hostile_users: { name: :string }, hostile_posts: { user_id: :bigint, title: :string },
               hostile_comments: { post_id: :bigint, user_id: :bigint, body: :string } }.freeze

    def self.seed
      TABLES.each do |name, columns|
        Record.connection_pool.with_connection do |connection|
          connection.create_table(name, force: true) { |table| columns.each { |column, type| table.column(column, type) } }
        end
      end
      User.insert_all!(Array.new(10) { |n| { name: "user #{n}" } })
      Post.insert_all!(Array.new(POSTS) { |n| { user_id: (n % 10) + 1, title: "title #{n}" } })
      Comment.insert_all!(Array.new(3 * POSTS) { |n| { post_id: (n % POSTS) + 1, user_id: (n % 10) + 1, body: "body #{n}" } })
    end
  end

  # With Pipeloader or without.
  module Schemas
    def self.make(&options)
      user = Class.new(GraphQL::Schema::Object) { graphql_name("User") }
      comment = Class.new(GraphQL::Schema::Object) { graphql_name("Comment") }
      post = Class.new(GraphQL::Schema::Object) { graphql_name("Post") }
      fields(user, post, comment)
      root = query(post)
      Class.new(GraphQL::Schema) do
        query root
        max_query_string_tokens nil if respond_to?(:max_query_string_tokens)
        class_eval(&options) if options
      end
    end

    def self.fields(user, post, comment)
      user.class_eval do
        field :name, String
        field :posts, [post]
      end
      comment.class_eval do
        field :body, String
        field :user, user
        field :post, post
      end
      post.class_eval do
        field :title, String
        field :user, user
        field :comments, [comment]
        field :shout, String
        field :label, String
        field :comments_count, Integer
        field :comments_page, comment.connection_type, method: :comments
        def shout = object.title.upcase
        def label = "#{context[:prefix]}#{object.id}"
        def comments_count = object.comments.count
      end
    end
    private_class_method :fields

    def self.query(post)
      Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field(:post, post) { argument :id, Integer }
        field(:posts, [post]) { argument :first, Integer }
        def post(id:) = Models::Post.find(id)
        def posts(first:) = Models::Post.order(:id).limit(first)
      end
    end
    private_class_method :query
  end

  # {name => what makes its text of a number that no other text has}
  module Documents
    class << self
      def many(count, round, selection) = Array.new(count) { |n| "a#{round}_#{n}: #{selection}" }.join(" ")
    end

    ORDINARY = ->(n) { "{ posts(first: 20) { a#{n}: title user { name } comments { body user { name } } } }" }
    ALL = {
      "20,000 aliases of a column, one record" => ->(n) { "{ post(id: 1) { #{many(20_000, n, "title")} } }" },
      "20,000 aliases of a column, a list of 1" => ->(n) { "{ posts(first: 1) { #{many(20_000, n, "title")} } }" },
      "2,000 aliases of a column, a list of 20" => ->(n) { "{ posts(first: 20) { #{many(2_000, n, "title")} } }" },
      "5,000 aliases of a belongs_to, one record" => ->(n) { "{ post(id: 1) { #{many(5_000, n, "user { name }")} } }" },
      "5,000 aliases of a belongs_to, a list of 1" => ->(n) { "{ posts(first: 1) { #{many(5_000, n, "user { name }")} } }" },
      "5,000 aliases of a has_many, a list of 1" => ->(n) { "{ posts(first: 1) { #{many(5_000, n, "comments { body }")} } }" },
      "500 aliases of an association, a list of 20" => ->(n) { "{ posts(first: 20) { #{many(500, n, "user { name }")} } }" },
      "1,000 aliases of a root field" => ->(n) { "{ #{many(1_000, n, "post(id: 1) { title }")} }" },
      "20,000 aliases of a method that works something out" => ->(n) { "{ posts(first: 1) { #{many(20_000, n, "shout")} } }" },
      "20,000 aliases of a method that asks the context" => ->(n) { "{ posts(first: 1) { #{many(20_000, n, "label")} } }" },
      "5,000 aliases of an association, one opaque" => lambda { |n|
        "{ posts(first: 1) { label #{many(5_000, n, "user { name }")} } }"
      },
      "1,000 aliases of a count" => ->(n) { "{ posts(first: 1) { #{many(1_000, n, "commentsCount")} } }" },
      "1,000 aliases of a connection" => ->(n) { "{ posts(first: 1) { #{many(1_000, n, "commentsPage { nodes { body } }")} } }" },
      "70 aliases in 70 aliases" => ->(n) { "{ posts(first: 1) { #{many(70, n, "user { #{many(70, n, "name")} }")} } }" },
      "17 aliases in 17 in 17" => lambda { |n|
        "{ posts(first: 1) { #{many(17, n, "user { #{many(17, n, "posts { #{many(17, n, "title")} }")} }")} } }"
      },
      "a fragment with 2,000 aliases, 10 times" => lambda { |n|
        "{ #{many(10, n, "post(id: 1) { ...F }")} } fragment F on Post { #{many(2_000, n, "title")} }"
      },
      "20,000 times the same field" => ->(n) { "{ posts(first: 1) { a#{n}: title #{"title " * 20_000} } }" },
      "5,000 inline fragments" => ->(n) { "{ posts(first: 1) { a#{n}: title #{"... on Post { user { name } } " * 5_000} } }" },
      "an ordinary one" => ORDINARY
    }.freeze
  end

  # One of the two, in a process of its own.
  class Side
    # What an execution took: seconds of CPU, objects made, and the bytes of its answer.
    Sample = Struct.new(:cpu, :objects, :answer)
    # MB: at most, and after GC, more than before.
    Memory = Struct.new(:peak, :kept)

    def initialize(schema)
      orders, @orders = IO.pipe(binmode: true)
      @answers, answers = IO.pipe(binmode: true)
      @pid = fork do
        [@orders, @answers].each(&:close)
        serve(schema, orders, answers)
        exit!(0)
      end
      [orders, answers].each(&:close)
    end

    # @return [Sample]
    def run(text) = ask([:run, text])

    # @return [Memory] since it began
    def memory = ask([:memory])

    def stop
      Marshal.dump([:stop], @orders)
      Process.wait(@pid)
    end

    private

    def ask(order)
      Marshal.dump(order, @orders)
      Marshal.load(@answers).tap { |it| raise it if it.is_a?(Exception) }
    end

    def serve(schema, orders, answers)
      3.times { execute(schema, Documents::ORDINARY.call(0)) }
      GC.start
      before = [status("VmRSS"), ObjectSpace.memsize_of_all]
      until (order, text = Marshal.load(orders)).first == :stop
        Marshal.dump(answer(order, schema, text, before), answers)
      end
    end

    def answer(order, schema, text, before)
      return measure(schema, text) if order == :run

      peak = status("VmHWM")
      GC.start
      Memory.new(peak - before[0], (ObjectSpace.memsize_of_all - before[1]) / 1e6)
    rescue StandardError => e
      RuntimeError.new("#{e.class}: #{e.message}")
    end

    def measure(schema, text)
      GC.start
      objects, cpu = GC.stat(:total_allocated_objects), Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
      answer = execute(schema, text)
      cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu
      Sample.new(cpu, GC.stat(:total_allocated_objects) - objects, answer.to_json.hash)
    end

    def execute(schema, text)
      schema.execute(text, context: { prefix: "p" }).to_h.tap { |it| raise it["errors"].first(2).inspect if it["errors"] }
    end

    def status(name) = File.read("/proc/self/status")[/^#{name}:\s+(\d+)/, 1].to_i / 1024.0
  end

  # A document, measured.
  class Measurement
    HEADS = ["", "plain, s of CPU", "ratio, 1st", "2nd", "objects, 1st", "2nd", "peak MB, plain", "ratio", "kept MB, plain",
             "ours"].freeze

    def initialize(document, rounds)
      @document = document
      @rounds = rounds
    end

    # @return [Array] as HEADS, without the name
    def row
      sides = { plain: Side.new(Schemas.make), piped: Side.new(Schemas.make { use Pipeloader }) }
      samples = Array.new(@rounds) { |n| round(sides, @document.call(n + 1)) }
      memory = sides.transform_values(&:memory)
      [median(samples) { |first, _| first[:plain].cpu }, *ratios(samples, :cpu), *ratios(samples, :objects),
       memory[:plain].peak, memory[:piped].peak / memory[:plain].peak, memory[:plain].kept, memory[:piped].kept]
    ensure
      sides&.each_value(&:stop)
    end

    private

    # @return [Array<Hash>] what the first time took, and the second
    def round(sides, text)
      Array.new(2) do
        samples = sides.to_a.shuffle.to_h { |name, side| [name, side.run(text)] }
        raise "not the same answer" unless samples[:plain].answer == samples[:piped].answer

        samples
      end
    end

    def ratios(samples, measure)
      [0, 1].map { |time| median(samples) { |it| it[time][:piped][measure] / it[time][:plain][measure].to_f } }
    end

    def median(samples, &figure) = samples.map(&figure).sort[samples.size / 2]
  end

  # A list whose items read each by a fiber of its own, with so many fibers at most: how many round trips that took, and what a
  # process of its own has kept afterwards.
  class Reads
    HEADS = ["fiber_limit", "round trips", "CPU s", "kept MB, 1st time", "3rd time"].freeze
    LIMITS = [nil, 4096, 2048, 1024, 512, 256].freeze

    # @param limit [Integer, nil] nil for a schema without Pipeloader
    def initialize(limit, count)
      @limit = limit
      @count = count
    end

    # @return [Array] as HEADS
    def row
      answer, answers = IO.pipe(binmode: true)
      pid = fork do
        Marshal.dump(measure, answers)
        exit!(0)
      end
      answers.close
      Marshal.load(answer).tap { Process.wait(pid) }
    end

    private

    def measure
      bursts = 0
      ActiveSupport::Notifications.subscribe("burst.pipeloader") { bursts += 1 }
      execute(100)
      before, bursts = resident, 0
      times = Array.new(3) do
        cpu = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID)
        execute(@count)
        [Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) - cpu, resident - before]
      end
      trips = @limit ? bursts / 3 : @count
      [@limit || "without Pipeloader", trips, times.map(&:first).min.round(2), times.first.last.round, times.last.last.round]
    end

    def execute(count)
      titles = schema.execute("{ items(count: #{count}) { title } }").to_h.fetch("data").fetch("items").map { |it| it["title"] }
      raise "wrong" unless titles == Array.new(count) { |n| "title #{(n + 1) % Models::POSTS}" }
    end

    def resident
      4.times { GC.start }
      File.read("/proc/self/status")[/^VmRSS:\s+(\d+)/, 1].to_i / 1024.0
    end

    def schema = @schema ||= make(@limit)

    def make(limit)
      root = query
      Class.new(GraphQL::Schema) do
        query root
        use Pipeloader, fiber_limit: limit if limit
      end
    end

    def query
      item = Class.new(GraphQL::Schema::Object) do
        graphql_name "Item"
        field :title, String
        def title = Models::Post.find((object % Models::POSTS) + 1).title
      end
      Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field(:items, [item]) { argument :count, Integer }
        def items(count:) = (1..count).to_a
      end
    end
  end
end

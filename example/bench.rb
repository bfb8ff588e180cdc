# frozen_string_literal: true

# The narrow query (posts -> author, comments -> commenter; 25 posts) resolved in four ways, at several distances from the
# database: naive, ActiveRecord's includes written by hand, GraphQL::Dataloader, Pipeloader.
#
#   ruby example/bench.rb [--rtt 0,1,5] [--iterations 15] [--only naive,pipeloader] [--json FILE]
#
# Each contender runs in a process of its own and must give naive's answer, byte by byte, before anything is timed. They
# take turns in random order. RTT 0 is a loopback connection without a proxy; the rest goes through LatencyProxy, which
# counts the round trips too. A timing is one execute of the query text up to the JSON text.

ENV["BUNDLE_GEMFILE"] ||= File.expand_path("../Gemfile", __dir__)
system(File.expand_path("../bin/setup", __dir__)) || exit(1)
require "bundler/setup"
require "etc"
require "optparse"
$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "pg"
require "pipeloader"
require_relative "../test/support/private_cluster"
require_relative "latency_proxy"
require_relative "schema"

module Example
  # One contender in a forked process: {connect:} and {run:} go in, an answer or seconds come out.
  class Worker
    attr_reader :name

    def initialize(name, query, &schema)
      @name = name
      orders, @orders = IO.pipe(binmode: true)
      @answers, answers = IO.pipe(binmode: true)
      @process = fork do
        trap("INT", "SYSTEM_DEFAULT") # the parent does the talking
        [@orders, @answers].each(&:close)
        serve(orders, answers, query, &schema)
        exit!(0)
      end
      [orders, answers].each(&:close)
    end

    # Connects, warms up, returns the answer as JSON.
    def connect(address) = ask([:connect, address])

    # Seconds of one execution.
    def time = ask([:time])

    # By force, as it may hang, and as closing the pipe wouldn't reach it: workers forked later hold copies.
    def stop
      Process.kill("KILL", @process)
      Process.wait(@process)
    end

    private

    def ask(order)
      Marshal.dump(order, @orders)
      Marshal.load(@answers).tap { |answer| raise answer if answer.is_a?(Exception) }
    rescue EOFError, Errno::EPIPE
      raise "the process of #{name} died"
    end

    def serve(orders, answers, query)
      schema = yield
      until orders.eof?
        order, address = Marshal.load(orders)
        answer = order == :connect ? warm_up(schema, query, address) : measure(schema, query)
        Marshal.dump(answer, answers)
      end
    rescue StandardError, ScriptError => e
      Marshal.dump(RuntimeError.new("#{name}: #{e.full_message(highlight: false)}"), answers)
    end

    def warm_up(schema, query, address)
      ActiveRecord::Base.establish_connection(address)
      Array.new(3) { answer(schema, query) }.last
    end

    def measure(schema, query)
      GC.start
      start = LatencyProxy.now
      answer(schema, query)
      LatencyProxy.now - start
    end

    def answer(schema, query) = JSON.generate(schema.execute(query).to_h)
  end

  # Runs contenders ({"name" => -> { schema }}) against each other and prints the table.
  class Bench
    COUNTING_RTT = 5 # ms: so far away that a burst is sent whole before its first answer is back

    def initialize(title, query, contenders)
      @title = title
      @query = query
      @contenders = contenders
      @options = { rtt: [0, 1, 5], iterations: 15 }
    end

    def run(arguments)
      parse(arguments)
      start
      count
      @times = @options[:rtt].to_h { |rtt| [rtt, time(rtt)] }
      report
      File.write(@options[:json], JSON.pretty_generate(figures)) if @options[:json]
    rescue Interrupt
      exit 130
    rescue RuntimeError, SystemCallError => e # PrivateCluster's and the options' errors too
      abort e.message
    ensure
      @workers&.each(&:stop)
    end

    private

    def parse(arguments)
      OptionParser.new("Usage: ruby #{$PROGRAM_NAME} [options]") do |parser|
        parser.on("--rtt LIST", Array, "round-trip times in ms; default 0,1,5") { |list| list.map { |text| Float(text) } }
        parser.on("--iterations N", Integer, "runs of each at each distance; default 15")
        parser.on("--only LIST", Array, "contenders: #{@contenders.keys.join(", ")}")
        parser.on("--json FILE", "all figures, single runs too")
      end.parse!(arguments, into: @options)
      @options[:rtt] = @options[:rtt].map { |rtt| Float(rtt) }
      unknown = @options.fetch(:only, []) - @contenders.keys
      abort "No contender #{unknown.join(", ")}; there are: #{@contenders.keys.join(", ")}" if unknown.any?
    end

    def start
      @address = PrivateCluster.tcp_hash
      ActiveRecord::Base.establish_connection(@address)
      ActiveRecord::Base.with_connection do |connection|
        Example.seed(connection)
        @server_version = connection.select_value("SHOW server_version")
      end
      ActiveRecord::Base.remove_connection
      @proxy = LatencyProxy.start("#{@address[:host]}:#{@address[:port]}")
      # naive first: its answer is the measure.
      names = @contenders.keys & ["naive", *@options.fetch(:only, @contenders.keys)]
      @workers = names.map { |name| Worker.new(name, @query, &@contenders[name]) }
    end

    # Compares the answers, and reads off the wire what each costs.
    def count
      expected = nil
      @costs = @workers.to_h do |worker|
        progress "comparing answers, counting round trips", worker.name
        answer = connect(worker, COUNTING_RTT)
        raise "naive got errors: #{answer[0, 500]}" if answer.include?('"errors":')
        expected ||= answer
        raise "#{worker.name}'s answer isn't naive's:\n#{difference(expected, answer)}" if answer != expected
        [worker.name, @proxy.count { worker.time }.except(:connections)]
      end
      @answer_bytes = expected.bytesize
    end

    def difference(expected, answer)
      at = expected.each_char.zip(answer.each_char).index { |left, right| left != right } || expected.size
      [expected, answer].map { |text| "  … #{text[[at - 40, 0].max, 120]}" }.join("\n")
    end

    def time(rtt)
      @workers.each { |worker| connect(worker, rtt) }
      seconds = @workers.to_h { |worker| [worker.name, []] }
      @options[:iterations].times do |iteration|
        progress "RTT #{rtt} ms", "run #{iteration + 1} of #{@options[:iterations]}"
        @workers.shuffle.each { |worker| seconds[worker.name] << worker.time }
      end
      seconds
    end

    def connect(worker, rtt)
      return worker.connect(@address) if rtt.zero?
      @proxy.rtt = rtt
      worker.connect(@address.merge(host: @proxy.host, port: @proxy.port))
    end

    # One line that changes on a terminal; elsewhere one line per kind of work.
    def progress(kind, detail)
      return $stderr.print("\r\e[K#{@title}: #{kind}: #{detail}") if $stderr.tty?
      warn "#{@title}: #{kind} …" if kind != @kind
      @kind = kind
    end

    def report
      $stderr.print("\r\e[K") if $stderr.tty?
      width = @times.size * 24
      puts "#{@title}; median ms of #{@options[:iterations]} (least), and the median's part of naive's", ""
      heads = @times.keys.map { |rtt| "RTT #{rtt.to_s.delete_suffix(".0")} ms".rjust(24) }
      puts "#{" " * 22}#{heads.join}   round trips   bytes to / from the server"
      @costs.each do |name, cost|
        columns = @times.values.map { |times| column(times, name) }.join
        puts format("%-22s%-#{width}s   %11d   %d / %d", name, columns, *cost.values)
      end
      puts "", "All #{@workers.size} gave the same #{@answer_bytes} bytes. #{environment.values.join(", ")}"
    end

    def column(times, name)
      median, least, share = summary(times, name)
      format("%9.1f (%.1f)", median, least).rjust(17) + format("%7.3f", share)
    end

    # Median and least in ms, the median's part of naive's.
    def summary(times, name)
      [median(times[name]) * 1000, times[name].min * 1000, median(times[name]) / median(times["naive"])]
    end

    def median(seconds)
      sorted = seconds.sort
      (sorted[(sorted.size - 1) / 2] + sorted[sorted.size / 2]) / 2
    end

    def environment
      @environment ||= {
        ruby: "Ruby #{RUBY_VERSION}",
        graphql: "graphql #{GraphQL::VERSION}", activerecord: "ActiveRecord #{ActiveRecord.version}",
        pg: "pg #{PG::VERSION} (libpq #{PG.library_version / 10_000})", postgresql: "PostgreSQL #{@server_version[/\S+/]}",
        processors: "#{Etc.nprocessors} processors"
      }
    end

    def figures
      contenders = @costs.to_h do |name, cost|
        times = @times.to_h do |rtt, seconds|
          median, least, share = summary(seconds, name)
          [rtt, { median: median, least: least, of_naive: share, runs: seconds[name].map { |second| second * 1000 } }]
        end
        [name, { **cost, milliseconds_at_rtt: times }]
      end
      { title: @title, query: @query, answer_bytes: @answer_bytes, environment: environment, contenders: contenders }
    end
  end

  # As GraphQL::Dataloader wants it: a load per association. Associations to one record go by the record's class, so that
  # several of them make one query.
  module Dataloaded
    # For has_many; graphql's own source of this kind does it from 2.5.3 or so.
    class AssociationSource < GraphQL::Dataloader::Source
      def initialize(association)
        @association = association
      end

      def fetch(records)
        ActiveRecord::Associations::Preloader.new(records: records, associations: @association).call
        records.map { |record| record.public_send(@association) }
      end
    end

    class Comment < Types::Comment
      def commenter = dataload_record(User, object.commenter_id)
    end

    class Post < Types::Post
      field :comments, [Comment], null: false

      def author = dataload_record(Author, object.author_id)
      def comments = dataloader.with(AssociationSource, :comments).load(object)
    end

    class Query < Types::Query
      field :posts, [Post], null: false do
        argument :limit, Integer, required: true
      end
    end
  end

  # As an application would write it that knows this query.
  class NarrowIncludes < Types::Query
    graphql_name "Query"

    def posts(limit:) = super.includes(:author, comments: :commenter)
  end
end

if $PROGRAM_NAME == __FILE__
  Example::Bench.new(
    "Narrow query, 25 posts", Example::NARROW,
    "naive" => -> { Example.build_schema },
    "includes" => -> { Example.build_schema(query: Example::NarrowIncludes) },
    "dataloader" => -> { Example.build_schema(GraphQL::Dataloader, query: Example::Dataloaded::Query) },
    "pipeloader" => -> { Example.build_schema(Pipeloader) }
  ).run(ARGV)
end

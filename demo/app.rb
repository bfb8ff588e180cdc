# frozen_string_literal: true

# What `bin/demo --app` runs when Ruby, PostgreSQL and a compiler are there. Needs the standard library only: the application
# has gems of its own.

require "json"
require "net/http"
require "socket"
require "tmpdir"
require_relative "../test/support/kept_process"
require_relative "options"
require_relative "progress"
require_relative "paint"
require_relative "rails_application"

module Demo
  # A Rails application in the browser until Ctrl-C. Puma and PostgreSQL end with this process, however it ends.
  class App
    # Something that is for the user to put right.
    class Problem < StandardError; end

    HOST = "127.0.0.1"
    # name => query; each is asked twice, since the first time ActiveRecord wants to know of the tables, too
    SAMPLES = {
      "Feed" => "posts(limit: 50) { title author { name } commentCount comments { body commenter { name } } }",
      "Authors" => "users { name postCount latestPosts(limit: 2) { headline comments { body } } }",
      "Readers" => "posts(limit: 20) { title keenestReader }"
    }.transform_values { |fields| "{ #{fields} }" }.freeze
    # What Pipeloader says in the log, see docs/rails.md; and Rails, at a request's end, also where there is no Pipeloader.
    LINE = /^ *(?:Burst \d|Pipeloader: |Completed \d)/

    def initialize(options, out: $stdout, err: $stderr)
      @port = options.port
      @out = out
      @progress = Progress.new(err)
      @paint = Paint.for(out)
    end

    # Returns when it is interrupted while it serves.
    #: () -> void
    def call
      check_port
      Dir.mktmpdir("pipeloader-demo-") { |folder| run(RailsApplication.new(folder)) }
    ensure
      @progress.clear
    end

    private

    # Before anything else, which takes a while.
    def check_port
      TCPServer.new(HOST, @port).close
    rescue Errno::EADDRINUSE
      raise Problem, "port #{@port} is taken: name another, as in bin/demo --app --port #{@port < 65_535 ? @port + 1 : 3000}"
    rescue Errno::EACCES
      raise Problem, "port #{@port} is for root alone: name one from 1024, as in bin/demo --app --port 3000"
    end

    def run(application)
      application.make { |what, &work| step(what, &work) }
      @blog = application.generated
      step("Starting PostgreSQL") { PrivateCluster.url }
      step("Making the database: create, migrate, seed") { @blog.rails("db:create", "db:migrate", "db:seed", **@blog.database) }
      step("Starting Puma") { serve }
      show
      wait
    ensure
      leave
    end

    # A terminal is shown for how long it goes on.
    def step(what)
      @progress.say(what)
      started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      clock = Thread.new do
        loop do
          sleep 1
          @progress.say(what, "#{(Process.clock_gettime(Process::CLOCK_MONOTONIC) - started).round} s")
        end
      end
      yield
    ensure
      clock&.kill&.join
      @progress.clear
    end

    def serve
      command = [RbConfig.ruby, "#{@blog.path}/bin/rails", "server", "--binding=#{HOST}", "--port=#{@port}"]
      @puma = KeptProcess.new(*command, environment: { **@blog.environment, **@blog.database })
      @puma.await("Puma") { listening? }
    end

    def listening?
      TCPSocket.new(HOST, @port).close
      true
    rescue Errno::ECONNREFUSED
      false
    end

    ## What it says

    def show
      @out.puts "", "A generated Rails application with Pipeloader, in development. Ctrl-C ends it, and all that it started.", "",
                "  what each query takes   #{@paint.bold("#{address}/pipeloader")}",
                "  the same as JSON        #{address}/pipeloader/operations.json",
                "  GraphiQL, to ask by     #{address}/graphiql",
                "  the application         #{@blog.path}: change a type, ask again", "",
                "Asked so far, and what the log says of it:"
      SAMPLES.each { |name, query| show_sample(name, query) }
      @out.puts "", "Ask it yourself; what the log says then comes here:", "", "  #{curl(*SAMPLES.first)}", ""
      @out.flush
    end

    def show_sample(name, query)
      lines = Array.new(2) do
        ask(name, query)
        news
      end
      @out.puts "", "  #{@paint.bold("query #{name} #{query}")}", lines.reject(&:empty?).last
    end

    def ask(name, query)
      answer = Net::HTTP.post_form(URI("#{address}/graphql"), query: "query #{name} #{query}")
      return if answer.is_a?(Net::HTTPSuccess) && !JSON.parse(answer.body).key?("errors")

      raise Problem, "the query #{name} was answered by #{answer.code}: #{answer.body[0, 500]}"
    rescue SystemCallError, Timeout::Error, EOFError => e
      raise Problem, "Puma doesn't answer (#{e.message}):\n#{last_words}"
    end

    def curl(name, query) = %(curl -s #{address}/graphql --data-urlencode 'query=query #{name} #{query}')

    def address = "http://#{HOST}:#{@port}"

    # Until Ctrl-C.
    def wait
      loop do
        news.each { |line| @out.puts(line, *("" if line.include?("Completed "))) }
        @out.flush
        raise Problem, "Puma has ended:\n#{last_words}" unless @puma.alive?

        sleep 0.2
      end
    rescue Interrupt
      # That is how it ends.
    end

    # @return [Array<String>] lines of Pipeloader's in the log since they were last asked for
    def news
      @log ||= File.open("#{@puma.folder}/log", encoding: Encoding::UTF_8)
      @log.readlines.map { |line| line.scrub.gsub(/\e\[[\d;]*m/, "") }.grep(LINE).map { |line| "    #{line.strip}" }
    end

    def last_words = @puma.log.lines.last(10).join

    ## How it ends

    # A second Ctrl-C is too late.
    def leave
      trap("INT", "IGNORE")
      @log&.close
      @puma&.stop
      @blog.drop_database if @blog&.database_stays?
      PrivateCluster.stop
    end
  end
end

begin
  trap("INT", "DEFAULT")
  Demo::App.new(Demo::Options.parse(ARGV)).call
  warn "bin/demo: ended, with all that it started"
rescue OptionParser::ParseError, Demo::App::Problem, GeneratedApplication::Failure, PrivateCluster::Error, KeptProcess::Error => e
  abort "bin/demo: #{e.message}"
rescue Interrupt
  warn "bin/demo: interrupted"
  exit 130
rescue Errno::EPIPE
  exit! 0 # nobody reads on
end

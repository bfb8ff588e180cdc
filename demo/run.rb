# frozen_string_literal: true

# What bin/demo runs when everything is set up.

require "active_record"
require "graphql"
require "pg"
require "pipeloader"
require_relative "../test/support/private_cluster"
require_relative "../example/latency_proxy"
require_relative "models"
require_relative "piped_schema"
require_relative "options"
require_relative "queries"
require_relative "paint"
require_relative "progress"
require_relative "database"
require_relative "comparison"
require_relative "report"
require_relative "columns"
require_relative "svg"

module Demo
  # Something that is for the user to put right. The message is one line.
  class Problem < StandardError; end

  # The demo from the command line to the exit status.
  class Run
    def initialize(options, out: $stdout, err: $stderr)
      @options = options
      @out = out
      @progress = Progress.new(err)
      @database = Database.new
      @ways = { plain: PlainSchema, piped: options.field_exact ? ExactSchema : PipedSchema }
    end

    # True if all answers were the same.
    #: () -> bool
    def call
      check
      load
      comparisons = queries.map { |query| compare(query) }
      draw(comparisons) if @options.svg
      comparisons.all?(&:same?)
    ensure
      @progress.clear
      @database.drop
    end

    private

    # What can be refused before anything is started.
    def check
      queries.each { |query| check_query(query.text) }
      raise Problem, "the SVG can't be written to #{@options.svg}" unless @options.svg.nil? || writable?(@options.svg)
    end

    def writable?(file)
      File.exist?(file) ? File.file?(file) && File.writable?(file) : File.writable?(File.dirname(file))
    end

    def check_query(text)
      query = GraphQL::Query.new(PlainSchema, text)
      error = query.static_errors.first
      raise Problem, "the query is not valid: #{error.message}#{place(error)}" if error
      raise Problem, "the query is empty, or has several operations" unless query.selected_operation
    end

    def place(error)
      line, column = error.to_h["locations"]&.first&.values_at("line", "column")
      " (line #{line}, column #{column})" if line
    end

    def queries
      @queries ||= @options.query ? [Query.new("your query", nil, asked)] : ours
    end

    def asked = (@options.query == "-" ? $stdin.set_encoding("UTF-8").read : @options.query).strip

    def ours = QUERIES.select { |query| @options.names.include?(query.name) }

    def load
      @database.open
      @progress.say("Loading Chinook into PostgreSQL")
      @database.load
      @progress.clear
      @out.puts "Chinook sample database, #{Words.count(@database.rows)} rows · PostgreSQL #{@database.version} · " \
                "ActiveRecord #{ActiveRecord.version} · graphql #{GraphQL::VERSION}",
                "The same types, resolvers and models both ways, but for one line in the schema: " \
                "use Pipeloader#{", field_exact: true" if @options.field_exact}",
                "Query cache on, as in a Rails request; medians of #{Comparison::RUNS.min} to #{Comparison::RUNS.max} runs" \
                "#{"; round trips counted on the wire" if @options.rtts.any?(&:positive?)}."
    end

    def compare(query)
      comparison = Comparison.new(query, @ways)
      @options.rtts.each { |rtt| @database.at(rtt) { |proxy| time(comparison, rtt, proxy) } }
      @progress.clear
      Report.new(@out, paint: Paint.for(@out)).print(comparison)
      show_columns(query) if @options.field_exact
      comparison
    end

    def show_columns(query)
      lines = @database.at(0.001) { |proxy| Columns.new(WholeSchema, ExactSchema, proxy).lines(query) }
      @out.puts "", lines
    end

    def time(comparison, rtt, proxy)
      step = "Timing #{comparison.query.name} at RTT #{rtt} ms"
      @progress.say(step)
      comparison.run(rtt, proxy) { |turn, runs| @progress.say(step, "#{turn} of #{runs}") }
    end

    def draw(comparisons)
      File.write(@options.svg, Svg.draw(comparisons))
      @out.puts "", "The timelines as SVG: #{@options.svg}"
    end
  end
end

# Ends with one line on standard error.
def fail_with(message, status = 1)
  warn "bin/demo: #{message.lines.first&.strip}"
  exit status
end

begin
  trap("INT", "DEFAULT")
  exit Demo::Run.new(Demo::Options.parse(ARGV)).call
rescue OptionParser::ParseError, Demo::Problem, PrivateCluster::Error => e
  fail_with e.message
rescue URI::InvalidURIError
  fail_with "PIPELOADER_DATABASE_URL is not the URL of a PostgreSQL server"
rescue ActiveRecord::ConnectionNotEstablished, ActiveRecord::NoDatabaseError, PG::Error => e
  fail_with "PostgreSQL can't be reached: #{(e.cause || e).message}"
rescue ActiveRecord::ActiveRecordError => e
  fail_with "PostgreSQL refused: #{e.message}"
rescue Interrupt
  fail_with "interrupted", 130
rescue Errno::EPIPE
  exit! 0 # nobody reads on, as in `bin/demo | head`
end

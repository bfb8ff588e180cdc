# frozen_string_literal: true

require "optparse"

module Demo
  # What the command line asks for. Needs the standard library only, so that bin/demo can refuse or help before any set-up.
  class Options
    BANNER = <<~TEXT
      Usage: bin/demo [options] [narrow] [wide] [aggregates]
             bin/demo --app [--port N]

      Runs GraphQL queries on the Chinook sample database, with and without Pipeloader, and shows what went over the wire.
      Without a name all three are run. PIPELOADER_DATABASE_URL names a PostgreSQL to use instead of a private one.

      With --app it generates a Rails application instead, starts it, and prints the address of the page that shows what each
      query takes (docs/web.md). Ctrl-C ends it. examples/rails_app/README.md says what to look at.

    TEXT
    NAMES = %w[narrow wide aggregates].freeze
    LONGEST_RTT = 100
    PORT = 3000

    attr_reader :names, :rtts, :query, :svg, :help, :field_exact, :app, :port

    # Raises OptionParser::ParseError, whose message is one line.
    def self.parse(argv) = new.tap { |options| options.send(:parse, argv) }

    def initialize
      @names = NAMES
      @rtts = [0, 1]
      @field_exact = false
      @app = false
      @port = PORT
    end

    private

    def parse(argv)
      asked = parser.parse(argv, into: given = {})
      return if help
      return check_app(asked, given.keys) if app || given.key?(:port)

      unknown = asked - NAMES
      raise OptionParser::InvalidArgument, "#{unknown.first} (the queries are #{NAMES.join(", ")})" if unknown.any?
      raise OptionParser::NeedlessArgument, "#{asked.first} (--query runs yours alone)" if query && asked.any?

      @names = asked.uniq if asked.any?
    end

    def check_app(asked, given)
      raise OptionParser::NeedlessArgument, "--port (it is for --app)" unless app

      other = asked.first || (given - %i[app port]).map { |name| "--#{name}" }.first
      raise OptionParser::NeedlessArgument, "#{other} (--app takes --port alone)" if other
      raise OptionParser::InvalidArgument, "#{port} (a port is from 1 to 65535)" unless port.between?(1, 65_535)
    end

    def parser
      OptionParser.new(BANNER) do |o|
        o.on("--query TEXT", "Run this GraphQL query instead; - reads it from standard input") { |text| @query = utf8(text) }
        o.on("--rtt MS", Array, "Round-trip times to the server in milliseconds (default: 0,1; try 5)") do |list|
          @rtts = rtts_in(list)
        end
        o.on("--field-exact", "Read only the columns that a query selects, and show which") { @field_exact = true }
        o.on("--svg FILE", "Draw the timelines into this file too") { |file| @svg = file }
        o.on("--app", "Serve a generated Rails application, with the page mounted") { @app = true }
        o.on("--port N", Integer, "For --app: where it listens (default: #{PORT})") { |port| @port = port }
        o.on("-h", "--help", "Show this") { @help = o.help }
      end
    end

    def rtts_in(list)
      list.map { |text| Float(text) }.map { |ms| ms % 1 == 0 ? ms.to_i : ms }.uniq.sort.tap do |rtts|
        raise ArgumentError unless rtts.any? && rtts.all? { |ms| ms.between?(0, LONGEST_RTT) }
      end
    rescue ArgumentError
      raise OptionParser::InvalidArgument, "#{list.join(",")} (milliseconds from 0 to #{LONGEST_RTT}, as in 0,1,5)"
    end

    def utf8(text) = text.dup.force_encoding(Encoding::UTF_8)
  end
end

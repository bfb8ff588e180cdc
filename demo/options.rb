# frozen_string_literal: true

require "optparse"

module Demo
  # What the command line asks for. Needs the standard library only, so that bin/demo can refuse or help before any set-up.
  class Options
    BANNER = <<~TEXT
      Usage: bin/demo [options] [narrow] [wide] [aggregates]

      Runs GraphQL queries on the Chinook sample database, with and without Pipeloader, and shows what went over the wire.
      Without a name all three are run. PIPELOADER_DATABASE_URL names a PostgreSQL to use instead of a private one.

    TEXT
    NAMES = %w[narrow wide aggregates].freeze
    LONGEST_RTT = 100

    attr_reader :names, :rtts, :query, :svg, :help, :field_exact

    # Raises OptionParser::ParseError, whose message is one line.
    def self.parse(argv) = new.tap { |options| options.send(:parse, argv) }

    def initialize
      @names = NAMES
      @rtts = [0, 1]
      @field_exact = false
    end

    private

    def parse(argv)
      asked = parser.parse(argv)
      unknown = asked - NAMES
      raise OptionParser::InvalidArgument, "#{unknown.first} (the queries are #{NAMES.join(", ")})" if unknown.any?
      raise OptionParser::NeedlessArgument, "#{asked.first} (--query runs yours alone)" if query && asked.any?

      @names = asked.uniq if asked.any?
    end

    def parser
      OptionParser.new(BANNER) do |o|
        o.on("--query TEXT", "Run this GraphQL query instead; - reads it from standard input") { |text| @query = utf8(text) }
        o.on("--rtt MS", Array, "Round-trip times to the server in milliseconds (default: 0,1; try 5)") do |list|
          @rtts = rtts_in(list)
        end
        o.on("--field-exact", "Read only the columns that a query selects, and show which") { @field_exact = true }
        o.on("--svg FILE", "Draw the timelines into this file too") { |file| @svg = file }
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

# frozen_string_literal: true

require "json"

# PIPELOADER_REPORT=FILE: what was tested, on which versions and with what outcome, as JSON for bin/matrix.
#
#   {"versions": {"ruby": "3.1.2", "postgresql": "15.8", …}, "runs": 590, "assertions": 9000, "failures": ["FooTest#test_x"],
#    "skips": {"this graphql has no Query::Partial": 1}}
class Report < Minitest::StatisticsReporter
  FILE = ENV["PIPELOADER_REPORT"]

  # Asked of what is loaded and of the server itself, not of a lock file.
  def self.versions
    connection = TestDatabase.connect
    server = connection.parameter_status("server_version")
    { ruby: RUBY_VERSION, activerecord: ActiveRecord.version.to_s, graphql: GraphQL::VERSION, engine: Engine::NAME,
      pg: PG::VERSION, libpq: PG.library_version.divmod(10_000).join("."), postgresql: server[/\A[\d.]+/] }
  ensure
    connection&.close
  end

  def initialize(options)
    super(StringIO.new, options)
    @versions = self.class.versions
  end

  def report
    super
    skipped, failed = results.partition(&:skipped?)
    File.write(FILE, JSON.generate(versions: @versions, runs: count, assertions: assertions,
                                   failures: failed.map { |result| "#{result.klass}##{result.name}" },
                                   skips: skipped.map { |result| result.failure.message }.tally))
  end
end

Minitest.extensions << "pipeloader_report"
Minitest.define_singleton_method(:plugin_pipeloader_report_init) { |options| reporter << Report.new(options) }

# frozen_string_literal: true

# What field-exact projection saves: 200 rows × 3 fields of a table of 60 columns with 2 kB a row, read whole, projected, and with
# a SELECT list written by hand.
#
#   ruby example/bench_columns.rb [rounds]
#
# Bytes are counted by a proxy on the wire; times are medians of executes that take turns, without it (RTT 0). The last one,
# whose records are there already, is what graphql-ruby itself takes: no projection can go below it. Planning is what the
# projection does for each execute of a document that is known: measured apart, as it is too little to be seen in the whole.

ENV["BUNDLE_GEMFILE"] ||= File.expand_path("../Gemfile", __dir__)
system(File.expand_path("../bin/setup", __dir__)) || exit(1)
require "bundler/setup"
$LOAD_PATH.unshift(File.expand_path("../lib", __dir__))
require "json"
require "pipeloader"
require_relative "../test/support/private_cluster"
require_relative "latency_proxy"

ROWS = 200
COLUMNS = 57
ROUNDS = Integer(ARGV.first || 60)

class BroadRow < ActiveRecord::Base
  self.table_name = "pipeloader_broad_rows"

  def self.seed
    connection.create_table(table_name, force: true) do |t|
      t.string :title
      t.integer :likes
      COLUMNS.times { |i| i.even? ? t.string("text#{i}") : t.bigint("number#{i}") }
    end
    insert_all!(Array.new(ROWS) do |row|
      filler = COLUMNS.times.to_h { |i| i.even? ? ["text#{i}", "x" * 58] : ["number#{i}", row * 1_000_000_007] }
      { title: "title #{row}", likes: row, **filler }
    end)
    connection.execute("ANALYZE #{table_name}")
  end
end

class RowType < GraphQL::Schema::Object
  field :id, ID, null: false
  field :title, String
  field :likes, Integer
end

QUERY = "{ rows { id title likes } }"
LOADED = [] # rubocop:disable Style/MutableConstant
DOCUMENT = GraphQL.parse(QUERY)

# @yield returns the relation of the root field
def schema(next_engine: false, **options, &rows)
  query = Class.new(GraphQL::Schema::Object) do
    graphql_name "Query"
    field :rows, [RowType], null: false
    define_method(:rows, &rows)
    define_singleton_method(:rows) { |_object, _context| instance_exec(&rows) } if next_engine
  end
  Class.new(GraphQL::Schema) do
    query(query)
    use(Pipeloader, **options)
    next unless next_engine

    use(GraphQL::Dataloader) unless dataloader_class < GraphQL::Dataloader
    use(GraphQL::Execution::Next, as_default: true)
    query.fields["rows"].instance_variable_set(:@execution_mode, :resolve_each)
  end
end

def contenders(next_engine)
  whole = -> { BroadRow.order(:id) }
  uncompiled = { next_engine: next_engine, compile: false }
  { "whole rows" => schema(**uncompiled, &whole),
    "field-exact" => schema(**uncompiled, field_exact: true, &whole),
    "field-exact, compiled" => schema(next_engine: next_engine, field_exact: true, &whole),
    "select by hand" => schema(**uncompiled) { BroadRow.select(:id, :title, :likes).order(:id) },
    "no read at all" => schema(**uncompiled) { LOADED.empty? ? LOADED.concat(BroadRow.order(:id).to_a) : LOADED } }
end

def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)

def execute(schema) = JSON.generate(schema.execute(document: DOCUMENT).to_h)

def median(values) = values.sort[values.size / 2]

def time
  started = now
  yield
  now - started
end

def medians(schemas)
  times = Hash.new { |all, name| all[name] = [] }
  ROUNDS.times do
    schemas.to_a.shuffle.each do |name, schema|
      GC.start
      times[name] << time { execute(schema) }
    end
  end
  times.transform_values { |all| median(all) }
end

# Milliseconds of what a projection does in an execute of a known document.
def planning(schema)
  query = GraphQL::Query.new(schema, document: DOCUMENT)
  node = DOCUMENT.definitions.first.selections.first
  relation = BroadRow.order(:id)
  plan = proc do
    demand = Pipeloader::Operation.of(query).demands.at(RowType, node.selections, node)
    projection = demand.projection(BroadRow).for(relation)
    projection.narrow(relation.spawn).arel
  end
  without = proc { relation.spawn.arel }
  [plan, without].map { |it| median(Array.new(200) { time { 20.times(&it) } / 20 }) }.inject(:-)
end

begin
  address = PrivateCluster.tcp_hash
  ActiveRecord::Base.establish_connection(**address)
  BroadRow.seed
  proxy = LatencyProxy.start("#{address[:host]}:#{address[:port]}")

  [false, (true if defined?(GraphQL::Execution::Next))].compact.each do |next_engine|
    schemas = contenders(next_engine)
    abort "The answers differ. This is a bug in Pipeloader." unless schemas.values.map { |it| execute(it) }.uniq.one?

    ActiveRecord::Base.establish_connection(**address, host: proxy.host, port: proxy.port)
    bytes = schemas.transform_values { |it| execute(it); proxy.count { execute(it) }[:bytes_to_client] }
    ActiveRecord::Base.establish_connection(**address)
    schemas.each_value { |it| 5.times { execute(it) } }
    times = medians(schemas)
    plan = planning(schemas["field-exact"])

    puts next_engine ? "GraphQL::Execution::Next" : "Interpreter", format("%22s %12s %8s %10s %8s", "", "bytes", "", "ms", "")
    schemas.each_key do |name|
      puts format("%22s %12d %7.1f%% %10.2f %7.2f×", name, bytes[name], 100.0 * bytes[name] / bytes["whole rows"],
                  times[name], times[name] / times["whole rows"])
    end
    reads = %w[field-exact whole\ rows].map { |name| times[name] - times["no read at all"] }
    puts format("%22s %40.2f×", "the read alone", reads.first / reads.last)
    puts format("%22s %31.4f ms, %.2f %% of the response", "planning", plan, 100 * plan / times["field-exact"]), ""
  end
ensure
  BroadRow.connection.drop_table(BroadRow.table_name, if_exists: true) if BroadRow.connected?
  proxy&.stop
end

# frozen_string_literal: true

# Run by boot_test.rb in a process of its own, in which nothing but Bundler is loaded: `ruby boot_run.rb STEP…` takes these steps
# one after the other, answers QUERIES without and with Pipeloader, and prints what it saw as JSON. BOOT_DATABASE is the test's
# database, as JSON.

require "json"
require "tmpdir"

module BootRun
  STEPS = {
    "active_record" => -> { require "active_record" },
    "base" => -> { ActiveRecord::Base },
    # (They can't be loaded before it.)
    "adapter" => -> { %w[active_record active_record/connection_adapters/postgresql_adapter].each { |it| require it } },
    "sqlite" => -> { %w[active_record active_record/connection_adapters/sqlite3_adapter].each { |it| require it } },
    "connected" => -> { connect.select_value("SELECT 1") },
    "graphql" => -> { require "graphql" },
    "batch" => -> { require "graphql/batch" },
    "eager" => -> { [ActiveRecord, (GraphQL if GraphQL.respond_to?(:eager_load!))].compact.each(&:eager_load!) },
    "pipeloader" => -> { require "pipeloader" },
    "engine" => -> { require "pipeloader/active_record" },
    "gathered" => -> { connect && Pipeloader.map([1, 2]) { |id| ActiveRecord::Base.connection.select_value("SELECT #{id}") } },
    "by_base" => -> { ActiveSupport.on_load(:active_record) { require "pipeloader" } },
    "by_adapter" => -> { ActiveSupport.on_load(:active_record_postgresqladapter) { require "pipeloader" } },
    "by_path" => -> { require File.expand_path("../../lib/pipeloader", __dir__) },
    # As Rails does when all initializers have run.
    "initialized" => -> { ActiveSupport.run_load_hooks(:after_initialize, Struct.new(:config).new(Struct.new(:eager_load).new(true))) },
    "schemas" => -> { Application.schemas },
    "answered" => -> { answers },
    "forked" => -> { go_on_in_child },
    "names" => -> { Names.define },
    "autoloads" => -> { Names.autoload }
  }.freeze

  # An application's own names: each that lib/ calls something by, and neither Ruby nor a host has at top level.
  module Names
    # A class of the application's that nobody else has any business with.
    class Foreign
      %i[new === == =~ call of hash to_s inspect name running? members method_defined? instance_method < <= respond_to?].each do |name|
        define_singleton_method(name) { |*, **| raise "a class of the application's was asked: #{name}" }
      end
    end

    class << self
      def define = each { |name| Object.const_set(name, Class.new(Foreign)) }

      # As Zeitwerk does: there, and not loaded.
      def autoload
        folder = Dir.mktmpdir
        at_exit { FileUtils.rm_rf(folder) }
        each do |name|
          File.write("#{folder}/#{name}.rb", "raise 'the application\\'s #{name} was loaded'\n")
          Object.autoload(name, "#{folder}/#{name}.rb")
        end
      end

      private

      # (Record is a model of the application's. A class ClassMethods is more than ActiveSupport can bear, one called Rails more than
      # graphql-ruby.)
      def each(&)
        (all - hosts - %w[Record ClassMethods Rails]).each(&)
        Object.autoload(:Record, File.expand_path("boot_record.rb", __dir__))
      end

      def all = @all ||= Dir[File.expand_path("../../lib/**/*.rb", __dir__)].flat_map { |file| named(File.read(file)) }.uniq.sort

      def named(source) = source.gsub(/^\s*#.*/, "").scan(/\b[A-Z]\w*\b/)

      # Seen by a child, in which all is loaded.
      def hosts
        @hosts ||= IO.popen("-") do |child|
          next child.read.split if child

          %w[active_record adapter sqlite graphql batch pipeloader eager].each { |step| BootRun.instance_exec(&STEPS.fetch(step)) }
          puts all.select { |name| Object.const_defined?(name, false) }
          $stdout.flush
          exit!
        end
      end
    end
  end

  # Models and schemas, of the test database's tables.
  module Application
    QUERIES = [
      "{ posts { title author { name } comments { body } } }",
      "{ posts { byline count paged(first: 1) { totalCount nodes { body } edges { cursor } pageInfo { hasNextPage } } } }",
      "{ posts { loud latest(limit: 1) { body } hidden } things { label } page { edges { cursor node { id __typename } } } }",
      "{ record { id name record { name } } records { name boss } }",
      "{ failing posts { id } current }"
    ].freeze

    class << self
      # @return [Array(Class, Class)] pairs, one for each engine: without Pipeloader and with it
      def schemas
        @schemas ||= engines.map do |engine|
          [[], [[Pipeloader, { trips: :depth }]], [[Pipeloader, { compile: false }]], [[Pipeloader, { field_exact: true }]]].map { |plugins| schema([*engine, *plugins]) }
        end
      end

      private

      # What each `use`s.
      def engines
        require_relative "boot_types"
        [[], *([[[GraphQL::Execution::Next, { as_default: true }], [GraphQL::Dataloader]]] if defined?(GraphQL::Execution::Next))]
      end

      def schema(plugins)
        Class.new(GraphQL::Schema) do
          query BootTypes::Query
          plugins.each { |plugin, options| use(plugin, **options.to_h) }
          rescue_from(ActiveRecord::StatementInvalid) { |error| raise GraphQL::ExecutionError, error.message }
        end
      end
    end
  end

  class << self
    def run(steps)
      @steps = steps
      while (step = @steps.shift)
        instance_exec(&STEPS.fetch(step))
      end
      puts JSON.generate(answers: answers, logged: logged, bursts: @bursts)
    end

    private

    def connect
      ActiveRecord::Base.establish_connection(JSON.parse(ENV.fetch("BOOT_DATABASE"))) unless @connected
      @connected = true
      ActiveRecord::Base.lease_connection
    end

    # Twice each: what is kept answers the second time.
    def answers
      connect
      Application.schemas.flat_map do |engine|
        Application::QUERIES.flat_map { |query| Array.new(2) { engine.map { |schema| JSON.generate(schema.execute(query)) } } }
      end
    end

    # Of one response: its bursts, and what the log says of them.
    def logged
      lines = StringIO.new
      ActiveSupport::LogSubscriber.logger = Logger.new(lines)
      count = 0
      ActiveSupport::Notifications.subscribed(->(*) { count += 1 }, "burst.pipeloader") { Application.schemas.first[1].execute(Application::QUERIES.first) }
      @bursts = count
      lines.string.lines.grep(/burst/i).size
    end

    # (A connection isn't shared with a child.)
    def go_on_in_child
      rest = @steps.slice!(0..)
      ActiveRecord::Base.connection_handler.clear_all_connections!(:all) if @connected
      @connected = false
      _, status = Process.wait2(fork { run(rest) })
      exit!(status.exitstatus || 1)
    end
  end
end

BootRun.run(ARGV.dup) if $PROGRAM_NAME == __FILE__

# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../wire/subprocess"
require "active_support/testing/assertions"
require "active_record/testing/query_assertions"

# What others report with Pipeloader and without it, as docs/observability.md says. Each of them in a process of its own, as they
# change ActiveRecord, or pg.
class ObserversTest < AnswerTest
  include Subprocess
  include ActiveSupport::Testing::Assertions
  include ActiveRecord::Assertions::QueryAssertions

  QUERY = "{ posts { title author { name } comments { body } } }"
  READS = 22

  # Parked reads, and plans.
  def schemas = { plain: Schemas.parked.first, parked: Schemas.parked.last, compiled: Schemas.pair.last }

  # Executes it by each schema, in a process of its own that has executed it before, as an application's.
  #
  # @param start [Proc, nil] loads who observes
  # @return [Hash{Symbol => Object}] what the block returns for each
  def in_each(start = nil)
    in_process do
      start&.call
      schemas.each_value { |schema| 2.times { schema.execute(QUERY) } }
      schemas.transform_values { |schema| yield(-> { schema.execute(QUERY) }) }
    end
  end

  def test_assert_queries_count
    2.times { schemas.each_value { |schema| schema.execute(QUERY) } }
    assert_queries_count(READS) { schemas[:plain].execute(QUERY) }
    assert_queries_count(READS) { schemas[:parked].execute(QUERY) }
    assert_queries_count(3) { schemas[:compiled].execute(QUERY) }
  end

  # {event => milliseconds}, in the header and as events say.
  def test_server_timing
    require "action_dispatch"
    seen = in_each do |execute|
      heard = Hash.new(0.0)
      app = lambda do |_|
        ActiveSupport::Notifications.subscribed(->(event) { heard[event.name] += event.duration }, /pipeloader|sql/, &execute)
        [200, {}, []]
      end
      told = ActionDispatch::ServerTiming.new(app).call({})[1].values.first.split(", ").to_h { |it| it.split(";dur=") }
      [heard.to_a.sort, told.transform_values(&:to_f).select { |event, _| heard.key?(event) }.sort]
    end
    assert_equal([%w[sql.active_record], *[%w[burst.pipeloader response.pipeloader sql.active_record]] * 2],
                 seen.values.map { |heard, _| heard.map(&:first) })
    seen.each_value do |heard, told|
      assert_equal heard.map(&:first), told.map(&:first)
      heard.zip(told) { |(_, one), (_, other)| assert_in_delta one, other, 0.1 + (one / 5) }
    end
  end

  # As without Pipeloader: it changes associations, so that what asks for them isn't compiled.
  def test_bullet
    start = lambda do
      require "bullet"
      Bullet.enable = true
    end
    seen = in_each(start) do |execute|
      Bullet.start_request
      execute.call
      Bullet.notification?
      Bullet.notification_collector.collection.map { |it| it.body[/Post => .*/] }.sort
    end
    assert_equal ["Post => [:author]", "Post => [:comments]"], seen[:plain]
    assert_equal [seen[:plain]] * 2, seen.values_at(:parked, :compiled)
  end

  # {first line => code} of the examples.
  DOCS = File.read(File.expand_path("../../docs/observability.md", __dir__)).scan(/^```ruby\n(.*?)^```$/m).flatten.to_h { [_1.lines.first, _1] }

  # @return [String] the example that begins so
  def example(beginning) = DOCS.find { |line, _| line.start_with?(beginning) }.last

  # It takes what one burst has brought for what was sent one after the other.
  # As in an application without Rails: other tests' gems leave a module of that name behind, which has nothing of it.
  def in_process
    super do
      Object.send(:remove_const, :Rails) if Object.const_defined?(:Rails, false)
      yield
    end
  end

  def test_prosopite
    seen = in_each(-> { start_prosopite }) { |execute| found_by_prosopite(&execute) }
    assert_equal [[9, 12], []], seen.values_at(:plain, :compiled)
    assert_equal 2, seen[:parked].size # one stack, that of the fiber which sends the burst, is another
    allowing = lambda do
      start_prosopite
      eval(example("Prosopite.")) # rubocop:disable Security/Eval
    end
    seen = in_each(allowing) { |execute| found_by_prosopite(&execute) }
    assert_equal [[9, 12], [], []], seen.values
  end

  def start_prosopite
    require "prosopite"
    Object.const_set(:Rails, Module.new { def self.backtrace_cleaner = ActiveSupport::BacktraceCleaner.new })
    Prosopite.custom_logger = Logger.new(IO::NULL)
    Prosopite.raise = true
    # Instead of pg_query's, which takes minutes to compile.
    Prosopite.singleton_class.prepend(Module.new { def fingerprint(query) = mysql_fingerprint(query) })
  end

  # @return [Array<Integer>] how many reads each of its reports is about
  def found_by_prosopite(&execute)
    Prosopite.scan(&execute)
    []
  rescue Prosopite::NPlusOneQueriesError => e
    e.message.split("N+1 queries detected").drop(1).map { |report| report.scan(/^  SELECT /).size }.sort
  end

  # Stands in for the gem prometheus-client.
  module Counting
    Counter = Struct.new(:sums) do
      def increment(by:, labels:) = sums[labels] += by
    end

    class << self
      def counters = @counters ||= {}
      def registry = self
      def counter(name, docstring:, labels:) = (counters[name] = Counter.new(Hash.new(0)) if docstring && labels)
    end
  end

  def test_examples_of_counters
    seen = in_process do
      Schemas.parked.last.execute(QUERY) # as an application's process has done before
      Object.const_set(:Prometheus, Module.new { const_set(:Client, Counting) })
      eval(example("registry = ")) # rubocop:disable Security/Eval
      Object.const_set(:Rails, Module.new { def self.logger = @logger ||= Logger.new(@lines = StringIO.new).tap { |it| it.define_singleton_method(:text) { @logdev.dev.string } } })
      eval(example("ActiveSupport")) # rubocop:disable Security/Eval
      counts = Schemas.parked.last.execute("query Posts #{QUERY}").context.namespace(:pipeloader)
      [counts.values_at(:statements, :bursts), Counting.counters.transform_values { |it| it.sums.to_a }, Rails.logger.text.scan(/burst (\d): \d+ statements, [\d.]+ ms/).flatten, Rails.logger.text]
    end
    counts, counters, logged, = seen
    label = { operation: "Posts" }
    assert_equal [[[label, counts[0]]], [[label, counts[1]]]], counters.values_at(:pipeloader_statements_total, :pipeloader_round_trips_total)
    assert_operator counters[:pipeloader_waited_seconds_total].dig(0, 1), :>, 0
    assert_equal %w[1 2], logged, seen.last
  end

  # As its Railtie subscribes, which needs Rails.
  def test_rack_mini_profiler
    start = lambda do
      require "rack-mini-profiler"
      ActiveSupport::Notifications.subscribe("sql.active_record") do |_, began, ended, _, payload|
        Rack::MiniProfiler.record_sql(payload[:sql], (ended - began) * 1000, Rack::MiniProfiler.binds_to_params(payload[:binds]), payload[:cached])
      end
    end
    assert_equal([READS, READS, 3], in_each(start) { |execute| sql_timings(&execute).size }.values)
  end

  # Where it patches pg, it tells statements that were sent, and not how long they took.
  def test_rack_mini_profiler_with_patches
    start = lambda do
      require "rack"
      Rack.const_set(:MINI_PROFILER_ENABLE_RAILS_PATCHES, true)
      require "rack-mini-profiler"
    end
    seen = in_each(start) do |execute|
      statements = WireCounter.events("burst.pipeloader") { @timings = sql_timings(&execute) }.sum { |burst| burst[:statements] }
      [@timings.size, statements]
    end
    timings, in_bursts = seen[:plain]
    assert_operator timings, :>=, READS # ActiveRecord 7.2.0 sends nine more
    assert_equal 0, in_bursts
    assert_equal(*seen[:parked])
    assert_equal(*seen[:compiled])
  end

  def sql_timings
    Rack::MiniProfiler.create_current
    yield
    Rack::MiniProfiler.current.current_timer.sql_timings
  end

  # OpenTelemetry with its own instrumentation of graphql-ruby, ActiveRecord and pg.
  def start_opentelemetry
    ENV["OTEL_TRACES_EXPORTER"] = "none"
    require "opentelemetry/sdk"
    %w[active_record graphql pg].each { |it| require "opentelemetry-instrumentation-#{it}" }
    @exporter = OpenTelemetry::SDK::Trace::Export::InMemorySpanExporter.new
    OpenTelemetry::SDK.configure do |config|
      config.logger = Logger.new(IO::NULL)
      config.add_span_processor(OpenTelemetry::SDK::Trace::Export::SimpleSpanProcessor.new(@exporter))
      config.use_all
    end
    eval(example("require")) # rubocop:disable Security/Eval
  end

  # @return [Array<Array>] name, parent's name, and attributes, of each span
  def spans(&block)
    @exporter.reset
    OpenTelemetry.tracer_provider.tracer("test").in_span("request", &block)
    names = @exporter.finished_spans.to_h { |span| [span.span_id, span.name] }
    @exporter.finished_spans.map { |span| [span.name, names[span.parent_span_id], span.attributes] }
  end

  def test_opentelemetry
    seen = in_each(-> { start_opentelemetry }) do |execute|
      found = nil
      bursts = WireCounter.events("burst.pipeloader") { found = spans { execute.call } }
      [found, bursts.map { |burst| { **burst.slice(:position, :statements, :rows), reads: burst[:reads].size }.transform_keys { |it| "pipeloader.#{it}" } }]
    end
    seen.except(:plain).each_value do |found, bursts|
      assert_equal(["request"], found.select { |_, parent,| parent.nil? }.map(&:first))
      told = found.select { |name,| name == "pipeloader burst" }
      assert_equal(bursts, told.map { |_, _, attributes| attributes.except("db.system.name") })
      assert_equal([Engine::NEXT ? "graphql.execute_query_lazy" : "graphql.execute_multiplex"], told.map { |it| it[1] }.uniq)
    end
    sent = seen.transform_values { |found, _| found.count { |name,| name.match?(/\A(SELECT|EXECUTE) /) } }
    assert_equal({ plain: READS, parked: 1, compiled: 1 }, sent) # the first read of each goes alone, and not by a burst
  end

  # Each read is heard of under the span that its resolver has opened; which is there no more when another field goes on.
  def test_spans_of_resolvers
    fields = 3
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      fields.times do |index|
        field :"f#{index}", Integer
        define_method(:"f#{index}") do
          ::OpenTelemetry.tracer_provider.tracer("test").in_span("f#{index}") { Post.where(id: index).count + Post.where(id: index).sum(:id) }
        end
      end
    end
    schemas = Schemas.make(query: query, mutation: nil)
    seen = in_process do
      start_opentelemetry
      schemas.map do |schema|
        heard = []
        hear = ->(*, payload) { heard << [OpenTelemetry::Trace.current_span.name, payload[:binds].first.value] if payload[:name] == "Post Count" }
        spans { ActiveSupport::Notifications.subscribed(hear, "sql.active_record") { schema.execute("{ f0 f1 f2 }") } }
        [heard.uniq.sort, OpenTelemetry::Context.current.equal?(OpenTelemetry::Context::ROOT)]
      end
    end
    assert_equal [[[["f0", 0], ["f1", 1], ["f2", 2]], true]] * 2, seen
  end
end

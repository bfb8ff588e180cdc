# frozen_string_literal: true

require_relative "../support/answers"
require "open3"

# `Pipeloader.enabled`: what is executed without Pipeloader is executed as inside `Pipeloader.disabled { }`.
class SwitchTest < AnswerTest
  QUERY = "{ posts { title author { name } comments { body } } }"

  def setup = take_first_alias

  def teardown
    Pipeloader.enabled = true
    ActiveSupport::LogSubscriber.logger = nil
    super
  end

  def piped = Schemas.parked.last

  def enabled(value)
    Pipeloader.enabled = value
    yield
  ensure
    Pipeloader.enabled = true
  end

  # @return [Integer] bursts of an execution, which answers the same
  def bursts(schema = piped, query = QUERY, **options)
    WireCounter.events("burst.pipeloader") { assert_equal Schemas.parked.first.execute(query).to_h, schema.execute(query, **options).to_h }.size
  end

  def test_on_and_off
    assert_equal true, Pipeloader.enabled
    assert_equal 2, bursts
    enabled(false) { assert_equal [false, 0], [Pipeloader.enabled, bursts] }
    assert_equal 2, bursts
  end

  # Outside of executions, too.
  def test_nobody
    ask = -> { piped.dataloader_class.with_dataloading { |loader| 2.times { |index| loader.append_job { ::Post.find_by(id: index + 1) } } } }
    several = -> { Pipeloader.multiplex([1, 2, 3]) { |id| ::Post.find_by(id: id) } }
    counts = [true, false, 0].map { |value| enabled(value) { [ask, several].map { |it| WireCounter.events("burst.pipeloader", &it).size } } }
    assert_equal [[1, 1], [0, 0], [0, 0]], counts
  end

  # {enabled => bursts}
  each_case({ no_arguments: [-> { false }, 0], nil_is_off: [-> {}, 0], anything_is_on: [-> { :yes }, 2], a_proc: [proc { false }, 0],
              an_optional_argument: [->(context = 1) { context != 1 }, 2], a_part_of_none: [0, 0], a_part_of_all: [1.0, 2],
              answers_a_part: [-> { 0 }, 0], answers_one: [-> { 1 }, 2],
              a_method: [Kernel.method(:Array), 2], an_object: [Class.new { def call(context) = context[:on] }.new, 0] }) do |value, expected|
    assert_equal(expected, enabled(value) { bursts })
  end

  def test_is_asked_with_the_context
    contexts = []
    enabled(->(context) { contexts << context.to_h.dup; context[:on] }) do
      assert_equal 2, bursts(context: { on: true })
      assert_equal 0, bursts(context: { on: false })
      assert_equal 0, bursts
    end
    assert_equal [{ on: true }, { on: false }, {}], contexts
  end

  # By Query#result, and once for a multiplex: by its first query.
  def test_each_way_to_execute
    asked = 0
    enabled(->(context) { asked += 1; context[:on] }) do
      [[true, 2], [false, 0]].each do |on, expected|
        counted = lambda do |&executing|
          assert_equal expected, WireCounter.events("burst.pipeloader", &executing).size
          assert_equal 1, asked
          asked = 0
        end
        counted.call { GraphQL::Query.new(piped, QUERY, context: { on: on }).result }
        counted.call { piped.multiplex([{ query: QUERY, context: { on: on } }, { query: QUERY, context: {} }]) }
        counted.call { piped.multiplex([GraphQL::Query.new(piped, QUERY, context: { on: on })]) }
      end
    end
  end

  def test_errors_of_invalid_queries
    enabled(-> { false }) { [nil, "{", "{ nothing }"].each { |query| assert_equal Schemas.parked.first.execute(query).to_h, piped.execute(query).to_h } }
    enabled(-> { false }) { assert_empty piped.multiplex([]) }
  end

  # Once, whatever its resolvers execute: all of it is executed in one way.
  def test_what_resolvers_execute_goes_along
    inner = piped
    [true, false].each do |on|
      asked = 0
      enabled(-> { (asked += 1).odd? == on }) do
        seen = []
        answer = Schemas.make(query: executing(inner, seen), mutation: nil).last.execute("{ a: it b: it }").to_h
        assert_equal({ "data" => { "a" => "posts", "b" => "posts" } }, answer)
        assert_equal [1, [on]], [asked, seen.uniq]
      end
    end
  end

  def executing(inner, seen)
    Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :it, String
      define_method(:it) do
        seen << !Pipeloader::ResolverFiber.current.nil?
        inner.execute(QUERY).to_h["data"].keys.join
      end
    end
  end

  def test_inside_disabled_nobody_is_asked
    enabled(-> { flunk }) { assert_equal 0, Pipeloader.disabled { bursts } }
    refute_predicate Pipeloader, :disabled?
  end

  # What it executes itself is without Pipeloader, and asks nobody.
  def test_what_the_callable_executes
    schema = piped
    asked = 0
    executing = lambda do
      asked += 1
      Post.count.positive? && schema.execute(QUERY).to_h.key?("data")
    end
    enabled(executing) { assert_equal 2, bursts }
    assert_equal 1, asked
  end

  def test_schemas_without_pipeloader
    enabled(-> { flunk }) { assert Schemas.parked.first.execute(QUERY).to_h.key?("data") }
  end

  # Each is asked for itself, and answers in its turn.
  def test_many_listeners
    asked = []
    plain = Schemas.parked.first.execute(QUERY).to_h
    values = (1..6).to_a
    schema = piped
    enabled(->(context) { asked << context[:id]; context[:id].even? }) do
      trips = WireCounter.events("burst.pipeloader") do
        answers = Pipeloader.multiplex(values) { |id| schema.execute(QUERY, context: { id: id }).to_h }
        assert_equal [plain], answers.uniq
      end
      assert_equal [values, true], [asked.sort, trips.any?]
    end
    enabled(false) { assert_equal [nil, nil], Pipeloader.multiplex([1, 2]) { Pipeloader::ResolverFiber.current } }
    enabled(false) { assert_empty(WireCounter.events("burst.pipeloader") { Pipeloader.multiplex(values) { schema.execute(QUERY) } }) }
  end

  # Its reads would go without its settings.
  def test_a_schema_with_settings
    schema = Schemas.make(pipeloader: { settings: ->(_) { {} } }).last
    expected = assert_raises(Pipeloader::SettingsError) { Pipeloader.disabled { schema.execute(QUERY) } }
    [false, -> { false }].each do |value|
      enabled(value) { assert_equal expected.message, assert_raises(Pipeloader::SettingsError) { schema.execute(QUERY) }.message }
    end
    assert_match(/leave `Pipeloader.enabled` true for it/, expected.message)
    enabled(-> { true }) { assert_equal Schemas.parked.first.execute(QUERY).to_h, schema.execute(QUERY).to_h }
  end

  # Whoever asks for it wants to know what Pipeloader would do, unless it is off altogether.
  def test_explanations
    reasons = [0.0, -> { false }, false].map { |value| enabled(value) { Pipeloader.explain(piped, QUERY).to_s } }
    assert_equal [true, false, true], (reasons.map { |text| text.include?("Pipeloader is disabled") })
  end

  # Each of a process's threads is asked for itself.
  def test_threads
    schema = piped
    seen = enabled(->(context) { context[:on] }) do
      Array.new(6) { |i| Thread.new { schema.execute(QUERY, context: { on: i.even? }).context.namespace(:pipeloader).key?(:reads) } }.map(&:value)
    end
    assert_equal [true, false] * 3, seen
  end

  # What has begun goes on as it began.
  def test_switched_in_the_middle
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :off, Integer
      field :a, Integer
      field :b, Integer
      define_method(:off) { Post.count.tap { Pipeloader.enabled = false } }
      define_method(:a) { User.count }
      define_method(:b) { Comment.count }
    end
    plain, schema = Schemas.make(query: query, mutation: nil, pipeloader: { compile: false })
    expected = plain.execute("{ off a b }").to_h
    Pipeloader.enabled = true
    assert_equal(1, WireCounter.events("burst.pipeloader") { assert_equal expected, schema.execute("{ off a b }").to_h }.size)
    assert_equal(0, WireCounter.events("burst.pipeloader") { assert_equal expected, schema.execute("{ off a b }").to_h }.size)
  end

  def test_mutations
    restore
    mutation = "mutation { like(id: 1) { author { name } likes } }"
    answers = [true, false, -> { false }].map { |value| restoring { enabled(value) { Schemas.pair.last.execute(mutation).to_h } } }
    assert_equal [restoring { Schemas.pair.first.execute(mutation).to_h }], answers.uniq
  end

  def test_a_part_by_chance
    counts = enabled(0.5) { Array.new(200) { piped.execute("{ posts { title } }").context.namespace(:pipeloader).size } }
    assert_includes 40..160, counts.count(0)
    srand(3)
    expected = rand
    srand(3)
    enabled(0.5) { piped.execute("{ posts { title } }") }
    assert_equal expected, rand # the application's own sequence
  end

  # -- a callable that fails

  def logged
    ActiveSupport::LogSubscriber.logger = Logger.new(log = StringIO.new)
    yield
    log.string.lines.grep(/enabled/)
  end

  def test_what_fails_is_off_and_logged_once
    lines = logged do
      enabled(-> { raise KeyError, "no store" }) { 3.times { assert_equal 0, bursts } }
    end
    assert_equal 1, lines.size
    assert_match(/WARN.*`enabled` \(#{Regexp.escape(__FILE__)}:\d+\) has failed, .* off .*: KeyError: no store \(.*switch_test\.rb:\d+/, lines.first)
  end

  def test_each_class_of_error_is_logged
    errors = [KeyError, KeyError, NotImplementedError, GraphQL::ExecutionError, Timeout::Error]
    lines = logged { enabled(-> { raise errors.shift }) { 5.times { assert_equal 0, bursts } } }
    assert_equal 4, lines.size
    lines = logged { enabled(-> { raise KeyError }) { bursts } } # another one
    assert_equal 1, lines.size
  end

  def test_a_part_that_is_none
    lines = logged { enabled(-> { 25 }) { assert_equal 0, bursts } }
    assert_match(/ArgumentError: 25 is no part from 0 to 1/, lines.first)
  end

  def test_without_a_logger
    assert_output(nil, /`enabled` .* RuntimeError: no/) { enabled(eval("-> { raise %(no) }", binding, "flags.rb")) { piped.execute("{ __typename }") } }
  end

  # As it ends the response without Pipeloader.
  def test_what_ends_more_than_the_response
    enabled(-> { throw :out, 1 }) { assert_equal(1, catch(:out) { piped.execute(QUERY) }) }
    enabled(-> { raise Interrupt }) { assert_raises(Interrupt) { piped.execute(QUERY) } }
    refute_predicate Pipeloader, :disabled?
    assert_equal 2, bursts
  end

  each_case({ nil: [nil], a_word: ["off"], a_symbol: [:on], less: [-0.1], more: [1.5], nan: [Float::NAN], complex: [Complex(0, 1)], two_arguments: [->(a, b) { a && b }],
              a_keyword: [->(context:) { context }] }, "refuses") do |value|
    error = assert_raises(ArgumentError) { Pipeloader.enabled = value }
    assert_match(/enabled must be true, false, .*; got /, error.message)
    assert_equal true, Pipeloader.enabled
  end

  # -- what it costs

  def test_on_costs_nothing
    queries = [{}]
    counts = Array.new(5) do
      before = GC.stat(:total_allocated_objects)
      100.times { Pipeloader::Switch.around(queries) { nil } }
      GC.stat(:total_allocated_objects) - before
    end
    assert_operator counts.min, :<, 3
  end

  # -- the environment

  def start(word, code)
    run = [RbConfig.ruby, "-rbundler/setup", "-I", File.expand_path("../../lib", __dir__), "-e", "require 'pipeloader'; #{code}"]
    output, errors, status = Open3.capture3({ "PIPELOADER" => word }, *run)
    assert_predicate status, :success?, errors
    [output, errors]
  end

  def test_environment
    code = "Pipeloader.enabled = -> { true }; print Pipeloader.enabled == false"
    %w[off FALSE].each { |word| assert_equal ["true", ""], start(word, code) }
    [nil, "on"].each { |word| assert_equal ["false", ""], start(word, code) }
    assert_equal ["true", "PIPELOADER=of is neither on nor off: Pipeloader is on\n"], start("of", "print Pipeloader.enabled")
  end
end

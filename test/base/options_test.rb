# frozen_string_literal: true

require_relative "../support/answers"
require "open3"

# What `use Pipeloader` takes, over what the application has set for all schemas, before or after.
class OptionsTest < AnswerTest
  # As applications call it: the tests' own defaults (UnlessTold) are no arguments here.
  def schema(parent = GraphQL::Schema, **options) = Class.new(parent) { Pipeloader.method(:use).super_method.call(self, **options) }

  def teardown
    Pipeloader.defaults = {}
    Pipeloader.field_exact = @field_exact unless @field_exact.nil?
    super
  end

  def setup = @field_exact = Pipeloader.field_exact

  BUILT_IN = { fiber_limit: nil, coalesce: true, compile: true, plan_bytes: 33_554_432, forecast: true, trips: :auto, rest: true, lanes: 1,
               settings: nil, snapshot: false, breaker: true, extensions: nil }.freeze

  def test_built_in
    assert_equal [BUILT_IN, BUILT_IN], [Pipeloader.defaults, schema.pipeloader_options]
  end

  def test_defaults_before_and_after_the_schema
    before = schema(trips: :one)
    child = Class.new(before)
    assert_equal [:one, true], before.pipeloader_options.values_at(:trips, :compile)
    Pipeloader.defaults = { trips: :depth, compile: false }
    after = schema
    assert_equal [[:one, false], [:one, false], [:depth, false]], [before, child, after].map { |it| it.pipeloader_options.values_at(:trips, :compile) }
    assert_equal [false, false, false], [before, child, after].map(&:pipeloader_compiles?)
    assert_equal [:one, :one, :depth], [before, child, after].map { |it| it.dataloader_class.new.pipeloader_trips }
    Pipeloader.defaults = {}
    assert_equal [:one, :one, :auto], [before, child, after].map { |it| it.pipeloader_options[:trips] }
  end

  # A schema says so itself, even what is built in; its heir that says anything says all.
  def test_what_a_schema_says_wins
    Pipeloader.defaults = { trips: :depth, forecast: false, lanes: 3 }
    parent = schema(trips: :auto, lanes: 1)
    assert_equal [:auto, false, 1], parent.pipeloader_options.values_at(:trips, :forecast, :lanes)
    assert_equal [:depth, true, 3], schema(parent, forecast: true).pipeloader_options.values_at(:trips, :forecast, :lanes)
  end

  def test_settings_and_snapshot_keep_operations_from_resting
    before = schema
    assert before.pipeloader_options[:rest]
    Pipeloader.defaults = { settings: ->(_) { {} } }
    refute before.pipeloader_options[:rest]
    assert schema(settings: nil).pipeloader_options[:rest]
    Pipeloader.defaults = { snapshot: true }
    refute before.pipeloader_options[:rest]
  end

  # What they need is put onto ActiveRecord when they are set.
  def test_settings_for_schemas_that_are_there
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :it, String
      def it = Post.connection.select_value("SELECT current_setting('app.it', true)").to_s
    end
    plain, piped = Schemas.make(query: query, mutation: nil)
    Pipeloader.defaults = { settings: ->(context) { { "app.it" => context[:it] } } }
    assert_equal({ "data" => { "it" => "this" } }, piped.execute("{ it }", context: { it: "this" }).to_h)
    Pipeloader.defaults = {}
    assert_equal plain.execute("{ it }").to_h, piped.execute("{ it }").to_h
  end

  def test_the_same_answers
    [{}, { compile: false, coalesce: false, forecast: false }, { trips: :one }, { snapshot: true }].each do |defaults|
      Pipeloader.defaults = defaults
      2.times { assert_same_answer("{ posts { title author { name } comments { body } } }") }
    end
  end

  def test_field_exact
    own = schema(field_exact: false)
    Pipeloader.defaults = { field_exact: true }
    assert_equal [true, true, false], [Pipeloader.field_exact, schema.pipeloader_field_exact?, own.pipeloader_field_exact?]
    refute Pipeloader.defaults.key?(:field_exact)
  end

  # Nothing can be kept by it.
  def test_a_frozen_schema
    frozen = schema(trips: :one)
    frozen.freeze
    assert_equal [:one, true], frozen.pipeloader_options.values_at(:trips, :compile)
    Pipeloader.defaults = { compile: false }
    2.times { assert_equal [:one, false], frozen.pipeloader_options.values_at(:trips, :compile) }
  end

  REFUSED = {
    fiber_limit: [{ fiber_limit: 3 }, "fiber_limit must be nil or an Integer >= 4, got 3"],
    coalesce: [{ coalesce: nil }, "coalesce must be true or false, got nil"],
    compile: [{ compile: "no" }, 'compile must be true or false, got "no"'],
    plan_bytes: [{ plan_bytes: 1.5 }, "plan_bytes must be an Integer >= 0, got 1.5"],
    trips: [{ trips: :two }, "trips must be one of [:auto, :depth, :one], got :two"],
    lanes: [{ lanes: 0 }, 'lanes must be an Integer >= 1, or { most: 4, declared: [/\bpg_sleep\(/] }, got 0'],
    settings: [{ settings: {} }, 'settings must be nil or callable: ->(context) { { "app.tenant_id" => context[:tenant].id } }, got Hash'],
    field_exact: [{ field_exact: :yes }, "field_exact must be true, false or nil, got :yes"],
    unknown: [{ trip: :one, coalesce: true }, "trip: no such option. There are breaker, coalesce, compile, extensions, fiber_limit, field_exact, " \
                                              "forecast, lanes, plan_bytes, rest, settings, snapshot, trips"]
  }.freeze

  each_case(REFUSED, "refuses") do |options, message|
    [-> { schema(**options) }, -> { Pipeloader.defaults = options }].each do |given|
      assert_equal message, assert_raises(ArgumentError, &given).message
    end
    assert_equal BUILT_IN, Pipeloader.defaults
  end

  # -- what the Railtie gives

  # The generator's initializer shows all settings, and what holds without them.
  def test_initializer
    text = File.read(File.expand_path("../../lib/generators/pipeloader/templates/initializer.rb", __dir__))
    shown = text.scan(/^  # config\.pipeloader\.(\w+) = (.*)$/).to_h { |name, value| [name.to_sym, value.gsub(/(?<=\d)_/, "")] }
    held = { enabled: true, log: :reads, field_exact: false, proof: nil, collections: false, revision: nil, **BUILT_IN }
    assert_equal held.transform_values(&:inspect).sort, shown.sort
  end

  def test_configure
    Pipeloader.configure(trips: :depth, enabled: false, log: :summary)
    assert_equal [:depth, false, :summary], [Pipeloader.defaults[:trips], Pipeloader.enabled, Pipeloader.log]
    Pipeloader.configure
    assert_equal [:depth, false, :summary], [Pipeloader.defaults[:trips], Pipeloader.enabled, Pipeloader.log]
    Pipeloader.configure(enabled: -> { true }, proof: { sample: 0.5 }, breaker: false)
    assert_equal [:auto, false, { sample: 0.5 }], [Pipeloader.defaults[:trips], Pipeloader.defaults[:breaker], Pipeloader.proof]
    Pipeloader.configure(proof: nil)
    assert_nil Pipeloader.proof
  ensure
    Pipeloader.proof = nil
    Pipeloader.enabled = true
    Pipeloader.log = :reads
  end

  each_case({ name: [{ trip: :one }, /\Atrip: no such option\. There are breaker, coalesce, collections, compile, enabled, .*, log, .*, proof, /], trips: [{ trips: 1 }, /\Atrips must be/],
              breaker: [{ breaker: 1 }, /\Abreaker must be true or false/], proof: [{ proof: 1 }, /\Aproof must be nil, or/],
              log: [{ log: :all }, /\Alog must be one of \[:summary, :bursts, :reads\], got :all/], enabled: [{ enabled: nil }, /\Aenabled must be/] }, "configure_refuses") do |given, message|
    assert_match message, assert_raises(ArgumentError) { Pipeloader.configure(**given) }.message
  end
end

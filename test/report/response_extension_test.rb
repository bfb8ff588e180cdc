# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/rails_constant"
require_relative "../support/fiber_scheduler"

# `extensions.pipeloader`, when a header asks for it.
class ResponseExtensionTest < PipeloaderTest
  include RailsConstant

  QUERY = "query Posts { posts { title author { name } authorName } }"

  def schema(**options, &body) = Schemas.make(mutation: nil, pipeloader: { extensions: true, rest: false, **options }, &body).last

  # Executes as a controller behind the middleware.
  #
  # @return [Hash]
  def request(schema, query = QUERY, header: "1", **options)
    app = ->(_env) { schema.execute(query, **options).to_h }
    Pipeloader::ExtensionHeader.new(app).call(header ? { "HTTP_X_PIPELOADER" => header } : {})
  end

  def figures(...) = request(...)["extensions"]["pipeloader"]

  def test_figures
    schema = schema()
    schema.execute(QUERY) # whatever forecasts learn
    answer = nil
    bursts = WireCounter.events("burst.pipeloader") { answer = request(schema) }
    told = answer["extensions"]["pipeloader"]
    expected = { "round_trips" => bursts.size, "statements" => bursts.sum { |it| it[:statements] }, "rows" => bursts.sum { |it| it[:rows] },
                 "reads" => bursts.sum { |it| it[:reads].size } }
    assert_equal expected, told.slice(*expected.keys)
    assert_equal %w[round_trips statements rows reads milliseconds levels], told.keys
    assert_equal bursts.map { |it| it[:position] }.uniq.size, told["levels"].size
    assert_equal expected.slice("rows", "reads"), %w[rows reads].to_h { |it| [it, told["levels"].sum { |level| level[it] }] }
    assert_in_delta told["milliseconds"], told["levels"].sum { |it| it["milliseconds"] }, 0.01
    assert_operator told["milliseconds"], :>, 0
    assert_operator expected["round_trips"], :>, 0
  end

  # But for the figures it is the plain answer; without them, to the byte.
  def test_same_answer
    plain, piped = Schemas.make(mutation: nil, pipeloader: { extensions: true })
    expected = JSON.generate(plain.execute(QUERY).to_h)
    [nil, "", "0", "yes"].each { |header| assert_equal expected, JSON.generate(request(piped, header: header)) }
    assert_equal expected, JSON.generate(piped.execute(QUERY).to_h)
    assert_equal expected, JSON.generate(request(piped).except("extensions"))
    assert_equal "{}", JSON.generate(request(Schemas.make(mutation: nil, pipeloader: {}).last)["extensions"].to_h)
  end

  def test_option
    assert_nil request(schema(extensions: false))["extensions"]
    assert_nil request(Schemas.pair.last)["extensions"]
    Pipeloader.defaults = { extensions: true }
    assert request(Class.new(Schemas.pair.first) { use Pipeloader })["extensions"]
    assert_raises(ArgumentError) { schema(extensions: "yes") }
  ensure
    Pipeloader.defaults = {}
  end

  def test_where_one_develops
    schema = schema(extensions: nil)
    seen = %w[development test production].map { |name| with_rails(name) { request(schema).key?("extensions") } }
    assert_equal [true, false, false, false], [*seen, request(schema).key?("extensions")]
    refute with_rails("development") { request(schema(extensions: false)).key?("extensions") }
  end

  def root(&body)
    Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :count, Integer
      define_method(:count, &body)
    end
  end

  def schema_of(&body) = Schemas.make(query: root(&body), mutation: nil, pipeloader: { extensions: true, rest: false }).last

  # Beside what the application says there.
  def test_extensions_that_are_there
    schema = schema_of do
      context.response_extensions["cost"] = 3
      Post.count
    end
    assert_equal %w[cost pipeloader], request(schema, "{ count }")["extensions"].keys
    assert_equal({ "cost" => 3 }, schema.execute("{ count }").to_h["extensions"])
  rescue NoMethodError
    skip "graphql #{GraphQL::VERSION} has no response_extensions"
  end

  def test_errors
    schema = schema_of { raise GraphQL::ExecutionError, "no #{Post.count}" }
    answer = request(schema, "{ count }")
    assert_equal [1, 1], [answer["errors"].size, answer["extensions"]["pipeloader"]["round_trips"]]
    assert_equal([0, 0], ["{ nothing }", "{ "].map { |text| figures(schema, text)["round_trips"].to_i })
    failing = schema_of { raise NotImplementedError }
    assert_raises(NotImplementedError) { request(failing, "{ count }") }
    assert_nil failing.execute("{ __typename }").to_h["extensions"]
  end

  def test_nothing_is_read
    assert_equal({ "round_trips" => 0, "statements" => 0, "rows" => 0, "reads" => 0, "milliseconds" => 0, "levels" => [] },
                 figures(schema_of { 1 }, "{ count }"))
  end

  def test_without_pipeloader
    schema = schema()
    assert_equal({ "enabled" => false }, Pipeloader.disabled { figures(schema) })
  end

  def test_multiplex
    schema = schema()
    app = ->(_env) { schema.multiplex([{ query: "{ posts { title } }" }, { query: "{ users { name } }" }]).map(&:to_h) }
    one, other = Pipeloader::ExtensionHeader.new(app).call("HTTP_X_PIPELOADER" => "1")
    assert_equal one["extensions"], other["extensions"]
    assert_equal 2, one["extensions"]["pipeloader"]["reads"]
  end

  # Its answer is what the application has asked for, and nothing else.
  def test_an_execution_within_another
    inner = schema_of { Post.count }
    found = nil
    outer = schema_of { (found = inner.execute("{ count }").to_h) && User.count }
    assert_equal 2, figures(outer, "{ count }")["reads"]
    assert_equal({ "data" => { "count" => Post.count } }, found)
  end

  # Others hear nothing of it.
  def test_another_thread
    schema = schema()
    found = nil
    app = lambda do |_env|
      Thread.new { ActiveRecord::Base.connection_pool.with_connection { found = schema.execute(QUERY).to_h } }.join
      schema.execute("{ users { name } }").to_h
    end
    assert_equal 1, Pipeloader::ExtensionHeader.new(app).call("HTTP_X_PIPELOADER" => "1")["extensions"]["pipeloader"]["reads"]
    assert_nil found["extensions"]
  end

  # Under a fiber scheduler other requests go on in the same thread.
  def test_another_request_of_a_fiber_scheduler
    schema = schema()
    expected = figures(schema).slice("round_trips", "reads", "rows")
    found = []
    isolate_by(:fiber)
    within = ->(&block) { Fiber.schedule { ActiveRecord::Base.connection_pool.with_connection(&block) } }
    FiberScheduler.run do
      within.call { found << figures(schema) }
      3.times { within.call { request(schema, "{ posts { title author { posts { title } } } }", header: nil) } }
    end
    assert_equal [expected], (found.map { |it| it.slice(*expected.keys) })
    assert_equal expected["reads"], found.first["levels"].sum { |it| it["reads"] }
  end

  def test_nobody_listens_afterwards
    before = Pipeloader::Burst.watched?
    schema = schema()
    request(schema)
    assert_raises(RuntimeError) { request(schema_of { raise "broken" }, "{ count }") }
    assert_equal before, Pipeloader::Burst.watched?
    assert_nil schema.execute(QUERY).to_h["extensions"]
  end

  # What is executed once more, to compare it, doesn't differ by it.
  def test_proof
    differences = []
    Pipeloader.proof = { sample: 1.0, on_difference: ->(it) { differences << it } }
    assert figures(schema(breaker: true))["round_trips"]
    assert_empty differences
  ensure
    Pipeloader.proof = nil
  end
end

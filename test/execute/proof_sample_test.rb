# frozen_string_literal: true

require_relative "../support/faulty_answers"

# `Pipeloader.proof`: of some executions the plain answer is computed, too; where Pipeloader's differs, somebody is told, and the
# breaker opens.
class ProofSampleTest < FaultyAnswerTest
  ROOT = Class.new(ROOT) do
    graphql_name "Query"
    field :moment, String
    field :fails, String
    field :piped, String

    def moment = (::Post.count && context[:clock].push(1).size).to_s
    def fails = raise(ArgumentError, "no")
    def piped = ::Pipeloader::ResolverFiber.current.nil?.to_s
  end

  def setup
    super
    @differences = []
    prove
  end

  def prove(**options) = Pipeloader.proof = { sample: 1.0, on_difference: ->(difference) { @differences << difference }, **options }

  # Yields while plans write other titles.
  def wrong_titles(&) = Faults.within(:plan, ->(built) { built.each { |it| it["title"] = "wrong" if it.is_a?(Hash) && it.key?("title") } }, &)

  # Yields while others' rows come.
  def wrong_rows(&) = Faults.within(:delivery, ->(result) { ActiveRecord::Result.new(result.columns, result.rows.reverse, result.column_types) }, &)

  # @return [Array<Boolean>] of each execution of the block's query, whether Pipeloader did it
  def kinds(&block) = WireCounter.events("sql.active_record", &block).reject { |it| it[:name] == "SCHEMA" }.map { |it| it.key?(:pipeloader) }

  def test_what_is_alike
    schema = schema()
    [QUERY, "{ names asked }", "{ posts { fussy } failingSql }", "{ post(id: 99) { title } }", "{ nothing }", "{", nil, "query A { names } query B { asked }"].each do |query|
      assert_equal JSON.generate(plain.execute(query).to_h), JSON.generate(schema.execute(query).to_h)
    end
    assert_equal [[], [], []], [@differences, warnings, Pipeloader.breaker.open]
  end

  def test_both_are_asked
    kinds = kinds { schema(compile: false).execute(QUERY) }
    assert_equal [true, false], kinds.uniq
    Pipeloader.proof = nil
    assert_equal [true], kinds { schema(compile: false).execute(QUERY) }.uniq
  end

  def test_a_difference
    schema = schema { def self.name = "WrongSchema" }
    answer = wrong_titles { schema.execute(QUERY) }
    assert_equal "wrong", answer.to_h.dig("data", "posts", 0, "title")
    difference = @differences.first
    assert_equal [1, schema, "Posts", QUERY, ["data", "posts", 0, "title"], nil, nil],
                 [@differences.size, *difference.to_h.values_at(:schema, :operation_name, :document, :path, :plain, :piped)]
    assert_equal "WrongSchema Posts differs in one snapshot from what graphql-ruby answers at data.posts.0.title: #{QUERY}", difference.to_s
    assert_operator difference.plain_sql.size, :>, difference.piped_sql.size
    [difference.plain_sql, difference.piped_sql].each { |sql| assert_match(/SELECT .* FROM "posts"/, sql.first) }
    assert_equal ["differs in one snapshot from what graphql-ruby answers at data.posts.0.title"], Pipeloader.breaker.open.map(&:reason)
    wrong_titles { assert_equal JSON.generate(plain.execute(QUERY).to_h), JSON.generate(schema.execute(QUERY).to_h) }
    assert_equal [1, 1], [@differences.size, warnings.size]
  end

  def test_values
    prove(values: true)
    wrong_titles { schema.execute(QUERY) }
    assert_equal [Post.order(:id).first.title, "wrong"], @differences.first.to_h.values_at(:plain, :piped)
  end

  def test_wrong_rows_of_resolvers
    schema = schema(compile: false)
    wrong_rows { schema.execute("{ users { name } posts { id author { name } } }") }
    assert_equal [["data", "users", 0, "name"]], @differences.map(&:path)
  end

  # Rows in the query cache are what Pipeloader has put there.
  def test_the_query_cache
    schema = schema(compile: false)
    ActiveRecord::Base.cache { wrong_rows { schema.execute("{ users { name } posts { title } }") } }
    assert_equal 1, @differences.size
  end

  def test_each_way_to_execute
    ways = { execute: ->(schema) { schema.execute(QUERY) }, result: ->(schema) { GraphQL::Query.new(schema, QUERY).result },
             document: ->(schema) { schema.execute(document: GraphQL.parse(QUERY)) },
             multiplex: ->(schema) { schema.multiplex([{ query: "query Other { names }" }, { query: QUERY }]).last },
             queries: ->(schema) { schema.multiplex([GraphQL::Query.new(schema, QUERY)]).first } }
    ways.each do |way, executing|
      schema = schema()
      assert_equal plain.execute(QUERY).to_h, executing.call(schema).to_h
      assert_empty @differences
      assert_equal "wrong", wrong_titles { executing.call(schema) }.to_h.dig("data", "posts", 0, "title"), way
      assert_equal ["Posts"], @differences.map(&:operation_name), way
      assert_equal ["Posts"], Pipeloader.breaker.open.map(&:operation), way
      Pipeloader.breaker.reset
      @differences.clear
    end
  end

  # -- what isn't proved

  def test_mutations_and_multiplexes_with_one
    calls = []
    schema = schema()
    schema.execute("mutation { count }", context: { calls: calls })
    assert_equal 1, calls.size
    schema.multiplex([{ query: QUERY }, { query: "mutation { count }", context: { calls: calls } }])
    assert_equal 2, calls.size
    root = query_type(ROOT) { define_method(:piped) { ::Post.count.to_s.tap { schema.execute("mutation { count }", context: { calls: calls }) } } }
    Schemas.make(query: root, mutation: nil).last.execute("{ piped }")
    assert_equal 3, calls.size
  end

  def test_queries_that_write
    restoring do
      before = Comment.count
      schema.execute("{ writes }")
      assert_equal before + 1, Comment.count
    end
    assert_empty @differences
  end

  # What failed in a proof would end it.
  def test_the_callers_transaction
    asked = 0
    failing = query_type(ROOT) do
      define_method(:asked) { (asked += 1).tap { |it| ::Post.where("1 / ? = 1", it > 1 ? 0 : 1).count } }
    end
    schema = Schemas.make(query: failing, mutation: nil, pipeloader: { breaker: true }).last
    count = Post.transaction { Post.count if schema.execute("{ asked }") }
    assert_equal [1, Post.count, []], [asked, count, @differences]
    assert_equal [true, false], kinds { Post.transaction(joinable: false) { schema(compile: false).execute(QUERY) } }.drop_while(&:!).uniq
  end

  # Others have written meanwhile: it differs each time.
  def test_what_changes
    clock = []
    schema.execute("{ moment }", context: { clock: clock })
    assert_equal [5, []], [clock.size, @differences] # once, and to prove it; then thrice
  end

  def test_what_has_changed_once
    clock = []
    changing = Class.new(ROOT) do
      graphql_name "Query"
      define_method(:moment) { (clock.push(::Post.count).size > 1).to_s }
    end
    Schemas.make(query: changing, mutation: nil).last.execute("{ moment }")
    assert_equal [4, []], [clock.size, @differences] # the third plain one is as good as Pipeloader's
  end

  # settings, snapshots, a dataloader of the application's, what is without Pipeloader
  def test_what_cant_be_proved
    asked = 0
    counting = Class.new(ROOT) do
      graphql_name "Query"
      define_method(:asked) { ::Post.count.tap { asked += 1 } }
    end
    execute = ->(schema, **context) { schema.execute("{ asked }", context: context) }
    [{ settings: ->(_) { { "app.it" => "1" } } }, { snapshot: true }].each do |options|
      execute.call(Schemas.make(query: counting, mutation: nil, pipeloader: options).last)
    end
    schema = Schemas.make(query: counting, mutation: nil).last
    execute.call(schema, dataloader: schema.dataloader_class.new)
    Pipeloader.disabled { execute.call(schema) }
    assert_equal [4, []], [asked, @differences]
    execute.call(schema)
    assert_equal 6, asked
    Pipeloader.multiplex([1, 2]) { execute.call(schema) }
    assert_equal 8, asked
  end

  # Each execution has a context as it was given; the application's Hash is its own execution's.
  def test_context
    context = { kept: 1 }
    assert_equal({ "data" => { "asked" => 1 } }, schema.execute("{ asked names }", context: context).to_h.transform_values { |it| it.slice("asked") })
    assert_equal [[1, 1], []], [context.values_at(:kept, :asked), @differences]
    query = GraphQL::Query.new(schema, "{ asked names }", context: { asked: 2 })
    assert_equal [3, 3], [query.result.to_h.dig("data", "asked"), query.context[:asked]]
    assert_empty @differences
  end

  # Without Pipeloader it takes longer than it may. That is what Pipeloader is for.
  def test_what_takes_too_long_without_it
    slow = query_type(ROOT) { def piped = ::Post.count.then { sleep(0.31) if ::Pipeloader::ResolverFiber.current.nil? } }
    schema = Schemas.make(query: slow, mutation: nil, pipeloader: { breaker: true }) { use(GraphQL::Schema::Timeout, max_seconds: 0.3) }.last
    answer = schema.execute("{ a: piped b: piped c: piped }").to_h
    assert_equal [false, [], []], [answer.key?("errors"), @differences, Pipeloader.breaker.open]
  end

  # -- what fails

  def test_an_exception_of_the_applications
    assert_raises(ArgumentError) { schema.execute("{ fails }") }
    assert_equal [[], []], [@differences, warnings]
  end

  # Of the plain execution alone.
  def test_an_exception_without_pipeloader
    failing = Class.new(ROOT) do
      graphql_name "Query"
      def piped = ::Post.count.to_s.tap { raise ArgumentError, "plain" if ::Pipeloader::ResolverFiber.current.nil? }
    end
    prove(values: true)
    schema = Schemas.make(query: failing, mutation: nil, pipeloader: { breaker: true }).last
    answer = schema.execute("{ piped }")
    assert_equal Post.count.to_s, answer.to_h.dig("data", "piped")
    assert_equal [[], ArgumentError], [@differences.first.path, @differences.first.plain.class]
    assert_match(/in whether it raises/, Pipeloader.breaker.open.first.reason)
  end

  # By an error that nobody rescues as a rule.
  def test_a_proof_fails
    failing = query_type(ROOT) { def piped = ::Post.count.to_s.tap { raise NotImplementedError, "plain" if ::Pipeloader::ResolverFiber.current.nil? } }
    answer = Schemas.make(query: failing, mutation: nil, pipeloader: { breaker: true }).last.execute("{ piped }")
    assert_equal Post.count.to_s, answer.to_h.dig("data", "piped")
    assert_match(/a proof has failed: NotImplementedError: plain/, warnings.last)
  end

  def test_who_hears_of_it_fails
    prove(on_difference: ->(_) { raise NoMethodError, "mine" })
    assert_equal "wrong", wrong_titles { schema.execute(QUERY) }.to_h.dig("data", "posts", 0, "title")
    assert_match(/`on_difference` has failed: NoMethodError: mine/, warnings.last)
    assert_equal 1, Pipeloader.breaker.open.size
  end

  # A client of its own has timed out, which is no Timeout around the response.
  def test_who_hears_of_it_times_out
    prove(on_difference: ->(_) { raise Class.new(Timeout::Error), "no answer" })
    assert_equal "wrong", wrong_titles { schema.execute(QUERY) }.to_h.dig("data", "posts", 0, "title")
    assert_match(/`on_difference` has failed: .*no answer/, warnings.last)
  end

  def test_time_is_up_meanwhile
    prove(on_difference: ->(_) { raise Timeout::Error, "up" })
    assert_raises(Timeout::Error) { wrong_titles { schema.execute(QUERY) } }
  end

  def test_by_default_it_is_logged
    prove(on_difference: nil)
    wrong_titles { schema(breaker: false).execute(QUERY) }
    assert_match(/\APipeloader: .* differs in one snapshot from what graphql-ruby answers at data\.posts\.0\.title: query Posts/, warnings.first)
    assert_equal [1, []], [warnings.size, Pipeloader.breaker.open]
  end

  # -- how many

  def test_parts
    asked = []
    counting = Class.new(ROOT) do
      graphql_name "Query"
      define_method(:asked) { ::Post.count.tap { |it| asked << it } }
    end
    schema = Schemas.make(query: counting, mutation: nil).last
    counts = [0, 0.5, 1].map do |part|
      Pipeloader.proof = { sample: part }
      asked.clear
      40.times { schema.execute("{ asked }") }
      asked.size
    end
    assert_equal [40, 80], [counts.first, counts.last]
    assert_includes 42..78, counts[1]
    Pipeloader.proof = {}
    assert_nil Pipeloader::ProofSample.chosen
  end

  each_case({ no_hash: 0.1, unknown: { part: 1 }, too_much: { sample: 2 }, no_number: { sample: "1" }, no_callable: { sample: 1, on_difference: :log },
              values: { sample: 1, values: "yes" } }.transform_values { |it| [it] }, "refuses") do |given|
    message = assert_raises(ArgumentError) { Pipeloader.proof = given }.message
    assert_match(/\Aproof must be nil, or \{ sample: .*; got #{Regexp.escape(given.inspect)}/, message)
    assert_equal 1.0, Pipeloader.proof[:sample]
  end

  # -- where answers differ

  PATHS = {
    alike: [{ "a" => [1, { "b" => nil }] }, { "a" => [1, { "b" => nil }] }, nil],
    a_value: [{ "a" => [1, { "b" => nil }] }, { "a" => [1, { "b" => 0 }] }, ["a", 1, "b"]],
    the_first: [{ "a" => 1, "b" => 1 }, { "a" => 2, "b" => 2 }, ["a"]],
    a_kind: [{ "a" => 1 }, { "a" => 1.0 }, ["a"]],
    a_list: [{ "a" => [1, 2] }, { "a" => [1] }, ["a", 1]],
    a_longer_list: [{ "a" => [] }, { "a" => [nil] }, ["a", 0]],
    a_key: [{ "a" => 1, "b" => 1 }, { "a" => 1 }, ["b"]],
    another_key: [{ "a" => 1 }, { "a" => 1, "c" => 1 }, ["c"]],
    an_order: [{ "a" => 1, "b" => 1 }, { "b" => 1, "a" => 1 }, ["a"]],
    a_shape: [{ "a" => [] }, { "a" => {} }, ["a"]],
    all: [{}, [], []]
  }.freeze

  each_case(PATHS, "path_of") do |plain, piped, path|
    path.nil? ? assert_nil(Pipeloader::Difference.path(plain, piped)) : assert_equal(path, Pipeloader::Difference.path(plain, piped))
  end

  def test_threads
    schema = schema()
    answers = wrong_titles { Array.new(4) { Thread.new { Array.new(3) { schema.execute(QUERY).to_h } } }.flat_map(&:value) }
    assert_equal 12, answers.size
    assert_equal plain.execute(QUERY).to_h, answers.last
    assert_includes 1..4, @differences.size
    assert_equal 1, Pipeloader.breaker.open.size
  end
end

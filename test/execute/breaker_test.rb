# frozen_string_literal: true

require_relative "../support/faulty_answers"
require "open3"

# A bug in Pipeloader is a line in the log: what it keeps from being answered, graphql-ruby answers by itself, and from then on all of
# that operation.
class BreakerTest < FaultyAnswerTest
  ROOT = Class.new(ROOT) do
    graphql_name "Query"
    field :updates, Integer
    field :locks, String
    field :begins, String
    field :blank, Integer
    field :mine, String
    field :inner, String

    def updates = ::Comment.where(body: "none").update_all(score: 1)
    def locks = ::Post.connection.select_value("SELECT pg_try_advisory_xact_lock(1)").to_s
    def begins = ::Post.transaction { ::Post.first.title }
    def blank = ::Post.transaction { asked }
    def mine = raise(NoMethodError, "mine")
    def inner = context.schema.execute(QUERY).to_h.dig("data", "posts").size.to_s
  end

  def breaker = Pipeloader.breaker

  # The answer is graphql-ruby's, where Pipeloader has a bug at +point+; and is it again, where it has none.
  def assert_falls_back(schema, query, point = :read, **options)
    expected = JSON.generate(plain.execute(query, **copy(options)).to_h)
    answer = Faults.raising(point) { schema.execute(query, **copy(options)).to_h }
    assert_equal expected, JSON.generate(answer)
    assert_operator Faults.count, :>, 0
    assert_empty bursts { assert_equal expected, JSON.generate(schema.execute(query, **copy(options)).to_h) }
    assert_equal 1, breaker.open.size
    assert_equal 1, warnings.size
  end

  each_case({ a_read: [:read, "{ a: names b: names }", false], a_burst: [:burst, "{ names posts { title author { name } } }", true],
              the_beginning: [:run, QUERY, true], the_end: [:over, QUERY, true], a_delivery: [:delivery, "{ a: names b: names }", true],
              a_plan: [:plan, QUERY, true] }, "a_bug_in") do |point, query, compile|
    assert_falls_back(schema(compile: compile), query, point)
  end

  # Its errors are answers, too; where the application handles all errors, it isn't asked about ours.
  def test_where_the_application_handles_all_errors
    asked = []
    handling = ->(*) { rescue_from(StandardError) { |error| asked << error.class; raise GraphQL::ExecutionError, "handled" } }
    plain, piped = make { class_exec(&handling) }
    @plain = plain
    assert_falls_back(piped, "{ names mine }")
    assert_equal [NoMethodError] * 3, asked # of `mine`
  end

  # -- what is never executed twice

  def test_a_mutation
    calls = []
    schema = schema()
    assert_raises(NoMethodError) { Faults.raising(:over, wrong: -> { calls.any? }) { schema.execute("mutation Count { count }", context: { calls: calls }) } }
    assert_equal [1, ["Count"]], [calls.size, breaker.open.map(&:operation)]
    restoring do
      before = Comment.count
      wrong = -> { Comment.count > before }
      assert_raises(NoMethodError) { Faults.raising(:over, wrong: wrong) { schema.execute('mutation { addComment(postId: 1, body: "one") { body } }') } }
      assert_equal before + 1, Comment.count
    end
    assert_equal 2, breaker.open.size
    assert_equal({ "data" => { "count" => 2 } }, schema.execute("mutation Count { count }", context: { calls: calls }).to_h)
  end

  # Whatever may write, lock or begin a transaction: each is seen once.
  each_case({ writes: /INSERT/, updates: /UPDATE/, locks: /pg_try_advisory/, begins: /BEGIN/ }.to_h { |name, sql| [name, [name, sql]] }, "a_query_that") do |field, sql|
    schema = schema(compile: false)
    restoring do
      sent = WireCounter.events("sql.active_record") do
        error = assert_raises(NoMethodError) { Faults.raising(:over) { schema.execute("{ #{field} }") } }
        assert_match(/something_of_pipeloaders/, error.message)
      end
      assert_equal 1, sent.count { |payload| payload[:sql].match?(sql) }
    end
    assert_equal [[true], 1], [breaker.open.map(&:plain), warnings.size]
  end

  # A mutation that writes nothing to a database, executed by a resolver: of a schema with Pipeloader, and of one without it.
  def test_a_query_with_a_mutation_inside
    make.product(%i[execute new]).each do |inner, way|
      calls = []
      root = query_type(ROOT) do
        define_method(:inner) do
          given = ["mutation { count }", { context: { calls: calls } }]
          (way == :new ? GraphQL::Query.new(inner, given[0], **given[1]).result : inner.execute(given[0], **given[1])).to_h.to_s
        end
      end
      outer = Schemas.make(query: root, mutation: nil, pipeloader: { breaker: true }).last
      assert_raises(NoMethodError) { Faults.raising(:over, wrong: -> { calls.any? }) { outer.execute("{ inner }") } }
      assert_equal 1, calls.size
    end
  end

  # A callback may wait for its end.
  def test_a_query_with_a_transaction_in_which_nothing_is_done
    assert_raises(NoMethodError) { Faults.raising(:over) { schema.execute("{ blank }") } }
    assert_equal 1, breaker.open.size
  end

  # One fiber looks at a table while others wait to do so, or write, under a fiber scheduler.
  def test_who_looks_meanwhile
    attempt = Pipeloader::Attempt.new { false }
    attempt.around do
      looking = Array.new(2) do
        Fiber.new { Pipeloader::Attempt.looking { Fiber.yield; attempt.written } }.tap(&:resume)
      end
      looking.each(&:resume)
      refute attempt.written?
      Fiber.new { Pipeloader::Attempt.looking { Fiber.yield } }.resume
      attempt.written
      assert attempt.written?
    end
  end

  SQLITE = <<~RUBY
    require "active_record"
    require "pipeloader"
    require #{File.expand_path("../support/faults", __dir__).inspect}
    ActiveRecord::Base.establish_connection(adapter: "sqlite3", database: ":memory:")
    ActiveRecord::Schema.verbose = false
    ActiveRecord::Schema.define { create_table(:authors) { |t| t.integer :likes, default: 0 } }
    class Author < ActiveRecord::Base; end
    Author.create!
    class Query < GraphQL::Schema::Object
      field :reads, Integer
      field :updates, Integer
      field :begins, Integer
      def reads = Author.sum(:likes)
      def updates = Author.update_all("likes = likes + 1")
      def begins = Author.transaction { Author.count }
    end
    App = Class.new(GraphQL::Schema) { query(Query); use Pipeloader }
    ActiveSupport::LogSubscriber.logger = Logger.new(nil)
    outcomes = %w[reads updates begins].map do |field|
      Faults.raising(:over) { App.execute("{ \#{field} }").to_h }
    rescue NoMethodError
      "raised"
    end
    print [*outcomes, Author.sum(:likes)].to_json
  RUBY

  def test_sqlite
    output, errors, = Open3.capture3(RbConfig.ruby, "-W", "-I", File.expand_path("../../lib", __dir__), "-e", SQLITE)
    assert_equal [{ "data" => { "reads" => 0 } }, "raised", "raised", 1], (JSON.parse(output) unless output.empty?), errors
  end

  # The application's own handler gets the error where the query isn't executed again.
  def test_a_write_before_the_bug_and_who_handles_errors
    schema = schema(compile: false) { rescue_from(NoMethodError) { |error| raise GraphQL::ExecutionError, "handled #{error.class}" } }
    query = "query Mixed { updates a: names b: names }"
    answer = Faults.raising(:burst) { schema.execute(query).to_h }
    assert_match(/handled NoMethodError/, answer["errors"].to_s)
    assert_equal 0, answer.dig("data", "updates")
    assert_empty bursts { schema.execute(query) }
    assert_equal %w[Mixed], breaker.open.map(&:operation)
  end

  def test_a_subscription
    subscription = type(Schemas::Base, "Subscription") { field :posts, [Schemas::Post] }
    subscription.class_eval { def posts = ::Post.order(:id).tap { ::Post.count } }
    schema = schema do
      use(Class.new(GraphQL::Subscriptions) { def write_subscription(*) = nil })
      subscription(subscription)
    end
    error = assert_raises(NoMethodError) { Faults.raising(:run) { schema.execute("subscription { posts { title } }") } }
    assert_match(/something_of_pipeloaders/, error.message)
    assert_equal 1, breaker.open.size
  end

  # -- whose error it is

  def test_errors_of_resolvers
    plain, piped = make
    error = assert_raises(NoMethodError) { piped.execute("{ mine }") }
    assert_equal assert_raises(NoMethodError) { plain.execute("{ mine }") }.message, error.message
    assert_empty breaker.open
  end

  def test_errors_that_are_no_bugs
    errors = [ActiveRecord::StatementInvalid.new("no"), Pipeloader::SnapshotError.new("no"), Timeout::Error.new("no"), RuntimeError.new("no"),
              Interrupt.new("no")]
    errors.each do |error|
      assert_same error, assert_raises(error.class) { Faults.raising(:run, error) { schema.execute(QUERY) } }
    end
    assert_empty breaker.open
  end

  def test_an_impossible_state
    error = RuntimeError.new("what: this is a bug in Pipeloader").tap { |it| it.set_backtrace(["#{File.expand_path("../../lib/pipeloader", __dir__)}/x.rb:1"]) }
    schema = schema()
    assert Faults.raising(:run, error) { schema.execute(QUERY) }.to_h.key?("data")
    assert_match(/this is a bug in Pipeloader/, breaker.open.first.reason)
  end

  # In one that has failed a second execution would read nothing. What fails is undone before.
  def test_a_transaction_of_the_callers
    schema = schema(compile: false)
    ["{ names }", "{ names failingSql }"].each do |query|
      expected = rolled_back { plain.execute(query).to_h }
      assert_equal expected, rolled_back { Faults.raising(:over) { schema.execute(query) }.to_h }
    end
    assert_equal 1, breaker.open.size
  end

  # What Ruby's own methods raise is of the resolver that has called them, though by a line of ours.
  def test_errors_of_rubys_methods
    asked = []
    calls = { locks: -> { Mutex.new.tap(&:lock).lock }, monitor: -> { Monitor.new.exit }, queue: -> { Queue.new.pop(true) },
              mask: -> { Thread.handle_interrupt(StandardError => :what) { 1 } }, raise: -> { Thread.current.raise(TypeError, "mine") },
              sleep: -> { sleep(-1) }, system: -> { system("a\0b") }, spawn: -> { `a\0b` } }
    root = query_type(ROOT) do
      calls.each_key { |name| field(name, Integer) }
      calls.each { |name, call| define_method(name) { asked << name; call.call } }
    end
    plain, piped = Schemas.make(query: root, mutation: nil, pipeloader: { breaker: true }) { rescue_from(StandardError) { |error| raise GraphQL::ExecutionError, error.message } }
    calls.each_key { |name| assert_equal plain.execute("{ #{name} }").to_h, piped.execute("{ #{name} }").to_h }
    assert_equal [calls.keys.flat_map { |name| [name] * 2 }, []], [asked, breaker.open]
  end

  # A field's method may be written in C.
  def test_errors_of_a_method_without_code
    range = Class.new(Schemas::Base) { graphql_name "Range"; field :minmax, [Integer]; field :opaque, Integer; def opaque = Post.count + object.begin }
    root = query_type(ROOT) { field(:ranges, [range]); define_method(:ranges) { [(1..2), (3..)] } }
    plain, piped = Schemas.make(query: root, mutation: nil, pipeloader: { breaker: true }) { rescue_from(StandardError) { |error| raise GraphQL::ExecutionError, error.message } }
    2.times { assert_equal plain.execute("{ ranges { minmax opaque } }").to_h, piped.execute("{ ranges { minmax opaque } }").to_h }
    assert_empty breaker.open
  end

  def test_an_error_without_a_message
    skip "Execution::Next reads it itself" if Engine::NEXT

    error = Class.new(RuntimeError) { def message = nil }.new
    root = query_type(ROOT) { define_method(:mine) { raise error } }
    assert_same error, assert_raises(RuntimeError) { Schemas.make(query: root, mutation: nil, pipeloader: { breaker: true }).last.execute("{ mine }") }
    assert_empty breaker.open
  end

  # Without it that fails, too.
  def test_the_second_execution_fails
    plain, piped = make
    error = assert_raises(NoMethodError) { Faults.raising(:burst) { piped.execute("{ a: names b: names mine }") } }
    assert_equal assert_raises(NoMethodError) { plain.execute("{ a: names b: names mine }") }.message, error.message
    assert_equal 1, breaker.open.size
  end

  # -- what is executed again

  # The application's own Hash, as it was.
  def test_context
    context = { kept: 1, list: [] }
    answer = Faults.raising(:over) { schema.execute("{ asked }", context: context) }
    assert_equal({ "data" => { "asked" => 1 } }, answer.to_h)
    assert_equal [1, 1], context.values_at(:asked, :kept)
    frozen = { kept: 1 }.freeze
    return if Engine::NEXT # which writes to it

    assert Faults.raising(:over) { schema.execute("{ names }", context: frozen) }.to_h.key?("data")
  end

  def test_variables_and_operation_names
    document = "query A($id: ID!) { post(id: $id) { title } } query B { users { name } }"
    schema = schema()
    %w[A B].each do |name|
      given = { operation_name: name, variables: { "id" => "1" } }
      expected = plain.execute(document, **given).to_h
      assert_equal expected, Faults.raising(:over) { schema.execute(document, **given) }.to_h
      assert_equal name, breaker.open.last.operation
      assert_equal 1, (bursts { schema.execute(document, operation_name: "B") }.size if name == "A") || 1
    end
    assert_empty bursts { %w[A B].each { |name| schema.execute(document, operation_name: name, variables: { "id" => "1" }) } }
  end

  # With its name and without it; by another schema it isn't the same.
  def test_which_operation_it_is
    schema = schema()
    Faults.raising(:over) { schema.execute(QUERY) }
    assert_empty bursts { schema.execute(QUERY, operation_name: "Posts") }
    assert_empty bursts { GraphQL::Query.new(schema, QUERY).result }
    assert_operator bursts { schema.execute("#{QUERY} ") }.size, :>, 0
    assert_operator bursts { schema().execute(QUERY) }.size, :>, 0
    document = GraphQL.parse(QUERY)
    Faults.raising(:over) { schema.execute(document: document) }
    assert_empty bursts { schema.execute(document: GraphQL.parse(QUERY)) }
    assert_equal 2, breaker.open.size
  end

  # Each is the query that the application holds.
  def test_query_objects
    schema = schema()
    [QUERY, "{ names nothing }", "query Failing { failingSql names }"].each do |text|
      expected = plain.execute(text).to_h
      query = GraphQL::Query.new(schema, text, context: { own: 1 })
      assert_equal expected, Faults.raising(:over) { query.result }.to_h, text
      assert_equal [expected, query, 1], [query.result.to_h, query.result.query, query.context[:own]]
      breaker.reset
      query = GraphQL::Query.new(schema, document: GraphQL.parse(text))
      assert_equal [[query, expected]], Faults.raising(:over) { schema.multiplex([query]) }.map { |it| [it.query, it.to_h] }
      breaker.reset
    end
  end

  def test_a_multiplex
    queries = [{ query: QUERY }, { query: "query Asked { asked names }", context: {} }]
    schema = schema()
    expected = plain.multiplex(queries.map { |it| copy(it) }).map(&:to_h)
    assert_equal expected, Faults.raising(:over) { schema.multiplex(queries.map { |it| copy(it) }) }.map(&:to_h)
    assert_equal %w[Posts Asked], breaker.open.map(&:operation)
    assert_empty bursts { schema.execute(QUERY) }
    breaker.reset
    with_write = [*queries, { query: "mutation { count }", context: { calls: [] } }]
    calls = with_write.last[:context][:calls]
    assert_raises(NoMethodError) { Faults.raising(:over, wrong: -> { calls.any? }) { schema.multiplex(with_write) } }
    assert_equal 1, calls.size
  end

  # A field of one of them says which: the others go on with Pipeloader.
  def test_a_multiplex_of_which_one_fails
    schema = schema(compile: false)
    queries = [{ query: "query One { asked }" }, { query: "query Two { a: names b: names }" }]
    expected = plain.multiplex(queries).map(&:to_h)
    assert_equal expected, Faults.raising(:burst) { schema.multiplex(queries) }.map(&:to_h)
    assert_equal %w[Two], breaker.open.map(&:operation)
  end

  # By a query inside another; the outermost is executed again.
  def test_inner_queries
    schema = schema()
    assert_equal plain.execute("query Outer { inner }").to_h, Faults.raising(:plan) { schema.execute("query Outer { inner }") }.to_h
    assert_equal "Outer", breaker.open.last.operation
    breaker.reset
    Faults.raising(:over) { schema.execute(QUERY) }
    assert_empty bursts { schema.execute("query Outer { inner }") }
    assert_operator bursts { schema.execute("query Outer { inner names }") }.size, :>, 0
  end

  def test_many_listeners
    schema = schema()
    expected = plain.execute(QUERY).to_h
    answers = Faults.raising(:plan) { Pipeloader.multiplex([1, 2, 3]) { schema.execute(QUERY).to_h } }
    assert_equal [expected] * 3, answers
    assert_equal [expected] * 3, Pipeloader.multiplex([1, 2, 3]) { schema.execute(QUERY).to_h }
    assert_equal 1, breaker.open.size
  end

  # Errors are in the order that they have without Pipeloader.
  def test_the_order_of_errors
    query = "{ posts { fussy comments { body } author { posts { fussy } } } }"
    assert_falls_back(schema, query, :over)
  end

  # -- settings, snapshots, and who wants none of it

  # Their reads would go without them. It is told of all the same.
  each_case({ settings: [{ settings: ->(_) { { "app.it" => "1" } } }], snapshot: [{ snapshot: true }] }, "a_schema_with") do |options|
    schema = schema(**options)
    assert_raises(NoMethodError) { Faults.raising(:plan) { schema.execute(QUERY) } }
    assert_equal [[false], 1], [breaker.open.map(&:plain), warnings.size]
    assert_operator bursts { assert_equal plain.execute(QUERY).to_h, schema.execute(QUERY).to_h }.size, :>, 0
  end

  def test_switched_off
    schema = schema(breaker: false)
    assert_raises(NoMethodError) { Faults.raising(:over) { schema.execute(QUERY) } }
    assert_empty breaker.open
    handling = schema(breaker: false) { rescue_from(NoMethodError) { raise GraphQL::ExecutionError, "handled" } }
    assert_match(/handled/, Faults.raising(:burst) { handling.execute("{ a: names b: names }").to_h.to_s })
  end

  def test_a_dataloader_of_the_applications
    schema = schema()
    assert_raises(NoMethodError) { Faults.raising(:over) { schema.execute(QUERY, context: { dataloader: schema.dataloader_class.new }) } }
    assert_equal plain.execute(QUERY).to_h, schema.execute(QUERY, context: { dataloader: schema.dataloader_class.new }).to_h
    breaker.reset
    loader = schema.dataloader_class.new
    assert_raises(NoMethodError) { Faults.raising(:over) { schema.multiplex([{ query: QUERY }], context: { dataloader: loader }) } }
  end

  # -- the list

  def test_what_it_says
    schema = schema { def self.name = "BrokenSchema" }
    Faults.raising(:over) { schema.execute(QUERY) }
    opened = breaker.open.first
    assert_equal ["BrokenSchema", "Posts", QUERY, true], [*opened.to_h.values_at(:schema, :operation, :document, :plain)]
    assert_match(%r{\ANoMethodError: undefined method `something_of_pipeloaders' for nil(?::NilClass)? \(.*/lib/pipeloader/fibers/response\.rb:\d+}, opened.reason)
    assert_in_delta Time.now, opened.at, 60
    assert_match(/\APipeloader: BrokenSchema Posts: NoMethodError: .* without Pipeloader from now on, in this process: query Posts \{/, warnings.first)
    assert_nil breaker.reset
    assert_empty breaker.open
    assert_operator bursts { schema.execute(QUERY) }.size, :>, 0
  end

  def test_bounded
    most = Pipeloader::Breaker::LIMIT
    (most + 5).times { |index| breaker.open!(plain, { query: "query Q#{index} { names }#{" " * 9_000}" }, "why") }
    assert_equal most, breaker.open.size
    assert_equal [false, true], [4, 5].map { |index| breaker.stops?(plain, [{ query: "query Q#{index} { names }#{" " * 9_000}" }]) }
    assert_equal "Q#{most + 4}", breaker.open.last.operation
    assert_operator breaker.open.map { |it| it.document.size }.max, :<=, 2_000
    assert breaker.stops?(plain, [{ query: "query Q#{most + 4} { names }#{" " * 9_000}" }])
  end

  def test_what_is_no_operation
    [nil, "{", ""].each { |text| breaker.open!(plain, { query: text }, "why") }
    assert_empty breaker.open
    breaker.open!(plain, { query: QUERY }, "why")
    [nil, "{"].each { |text| assert_equal plain.execute(text).to_h, schema.execute(text).to_h }
    assert_empty schema.multiplex([])
  end

  # Each answer is right, and it is told of once.
  def test_threads
    schema = schema()
    expected = plain.execute(QUERY).to_h
    answers = Faults.raising(:plan) { Array.new(4) { Thread.new { Array.new(5) { schema.execute(QUERY).to_h } } }.flat_map(&:value) }
    assert_equal [[expected], 20, 1, 1], [answers.uniq, answers.size, breaker.open.size, warnings.size]
  end

  def test_partials
    skip "this graphql has no partials" unless GraphQL::Query.method_defined?(:run_partials)

    schema = schema()
    answer = lambda do |it|
      query = GraphQL::Query.new(it, QUERY)
      query.run_partials([{ path: ["posts", 0], object: ::Post.order(:id).first }]).map(&:to_h)
    end
    expected = answer.call(plain)
    breaker.open!(schema, { query: QUERY }, "why")
    assert_empty bursts { assert_equal expected, answer.call(schema) }
  end
end

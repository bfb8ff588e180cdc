# frozen_string_literal: true

require_relative "../support/plans"

# An operation is executed without Pipeloader now and then, and goes on in the way that is faster. Answers are the same. A resolver
# here sleeps longer than a read takes, with Pipeloader or without it.
class TrialTest < PlanTest
  FIRST = 16 # executions before the first trial, behind the one that makes it known
  ROUNDS = 8

  class Bodies < GraphQL::Dataloader::Source
    def fetch(ids)
      bodies = Comment.where(id: ids).pluck(:id, :body).to_h
      ids.map { |id| bodies[id] }
    end
  end

  QUERY = type("Query") do
    field :slow, String do
      argument :with, GraphQL::Types::Boolean, required: false
    end
    field :names, [String]
    field :title, String
    field :body, String
    field :nested, String

    def slow(with: true)
      Post.order(:id).first.title.tap { sleep(0.005) if TrialTest.gathers? == with }
    end

    def names = Post.order(:id).limit(9).map { |post| post.author&.name.to_s }
    def title = context[:title] ? context[:title].call : Post.order(:id).first.title
    def body = dataloader.with(Bodies).load(Comment.minimum(:id))
    def nested = context.schema.execute("{ slow }").to_h.dig("data", "slow")
  end

  def self.gathers? = !Pipeloader::ResolverFiber.current.nil?

  def make(pipeloader: {}, **options, &block) = super(pipeloader: { rest: true, **pipeloader }, **options, &block)

  def schema(**options, &block) = make(query: QUERY, pipeloader: options, &block).last

  # @return [Array<Boolean>] of each execution whether it was without Pipeloader
  def executions(schema, document, times, **options)
    Array.new(times) do
      result = schema.execute(document, **options)
      yield result.to_h if block_given?
      rested?(result)
    end
  end

  def rested?(result) = result.query.context.namespace(:pipeloader)[:rests] || false

  def trials(schema, text) = schema.pipeloader_operations[text][:trials]

  def test_what_is_faster_without_goes_on_without
    schema = schema()
    answers = []
    rests = executions(schema, "{ slow }", 90) { |answer| answers << answer }
    assert_equal [{ "data" => { "slow" => Post.order(:id).first.title } }], answers.uniq
    assert_equal [[false], [true]], [rests.first(FIRST + 1).uniq, rests.last(20).uniq]
  end

  # Three of each kind tell, if all of one are slower than all of the other; else it takes eight.
  def test_how_many_executions_tell
    { [1.0, 2.0] => 3, [2.0, 1.0] => 3 }.each { |(without, with), each| assert_equal [each, without < with], tried([without], [with]) }
    assert_equal [8, true], tried([1.0, 1.0, 3.0], [2.0])
    assert_equal [8, false], tried([2.0], [1.0, 1.0, 3.0])
  end

  # @param without [Array<Float>] seconds, again and again
  # @return [Array(Integer, Boolean)] after how many executions of each kind it is decided, and whether it rests
  def tried(without, with)
    trial = Pipeloader::Trial.new
    16.times { trial.note(false, 1.0, 0) }
    count = 0
    outcomes = WireCounter.events("trial.pipeloader") do
      100.times do
        trial.note(false, with[count % with.size], 0)
        trial.note(true, without[count % without.size], 0)
        count += 1
        break if trial.rests? || trial.instance_variable_get(:@seconds).nil?
      end
    end
    assert_equal 1, outcomes.size
    [count, trial.rests?]
  end

  def test_what_is_slower_without_goes_on_with_it
    rests = executions(schema, "{ slow(with: false) }", 100)
    assert_includes 3..(ROUNDS * 2), rests.count(true)
    assert_equal [false], rests.last(20).uniq
  end

  def test_what_saves_many_round_trips_is_never_tried
    assert_empty executions(schema, "{ slow #{Array.new(10) { |i| "a#{i}: slow" }.join(" ")} }", 45) & [true]
  end

  # Plans read for all objects of a list by one statement.
  def test_what_plans_save_counts
    comment = type("Comment") { field :body, String }
    post = type("Post") { field :comments, [comment] }
    schema = make(query: type("Query") do
      field :posts, [post]
      field :slow, String
      def posts = Post.order(:id).limit(9)
      def slow = sleep(TrialTest.gathers? ? 0.005 : 0).to_s
    end).last
    assert_empty executions(schema, "{ slow posts { comments { body } } }", 45) & [true]
  end

  def test_switched_off
    assert_empty executions(schema(rest: false), "{ slow }", 45) & [true]
    child = Class.new(schema(rest: false))
    assert_empty executions(child, "{ slow }", 45) & [true]
  end

  def test_who_brings_a_dataloader_gets_it
    schema = schema()
    45.times do
      loader = schema.dataloader_class.new
      assert_same loader, schema.execute("{ slow }", context: { dataloader: loader }).query.context.dataloader
    end
    executions(schema, "{ slow }", 90)
    refute rested?(schema.execute("{ slow }", context: { dataloader: schema.dataloader_class.new }))
  end

  def test_several_queries_and_what_is_inside_another_response
    schema = schema()
    executions(schema, "{ slow }", 90)
    assert rested?(schema.execute("{ slow }"))
    schema.multiplex([{ query: "{ slow }" }, { query: "{ slow }" }]).each { |result| refute rested?(result) }
    assert rested?(schema.multiplex([{ query: "{ slow }" }]).first)
    inner = nil
    schema.execute("{ title }", context: { title: -> { (inner = schema.execute("{ slow }")).to_h.dig("data", "slow") } })
    refute rested?(inner)
    Pipeloader.disabled { refute rested?(schema.execute("{ slow }")) }
  end

  def test_documents
    schema = schema()
    document = GraphQL.parse("{ slow }")
    rests = Array.new(90) { rested?(schema.execute(document: document)) }
    assert_equal [true], rests.last(20).uniq
    assert_empty Array.new(45) { rested?(schema.execute(document: GraphQL.parse("{ slow }"))) } & [true]
  end

  def test_each_operation_of_a_document_has_its_own
    schema = schema()
    text = "query A { slow } query B { slow(with: false) }"
    assert_equal true, executions(schema, text, 90, operation_name: "A").last
    assert_equal false, executions(schema, text, 90, operation_name: "B").last
    executions(schema, text, 5, operation_name: "nobody's")
    assert_equal %w[A B], trials(schema, text).keys.map(&:last)
  end

  def test_a_text_that_is_executed_without_plans_is_used_all_the_same
    schema = schema(plan_bytes: 200_000)
    assert_equal true, executions(schema, "{ slow }", 90).last
    50.times do |i|
      2.times { schema.execute("{ a#{i}: title }") }
      assert_equal [true], executions(schema, "{ slow }", 1)
    end
    assert_nil schema.pipeloader_operations["{ a0: title }"]
  end

  # Without a dataloader of the schema's own, Pipeloader is what sources work by: then there is no other way.
  def test_sources
    schema = schema { Engine.depth_first(self) }
    assert_empty executions(schema, "{ slow body }", 60) { |answer| assert_equal Comment.order(:id).first.body, answer.dig("data", "body") } & [true]
    assert_empty executions(schema, "{ slow }", 60) & [true]
  end

  def test_a_source_that_nobody_has_asked_before
    schema = schema { Engine.depth_first(self) }
    text = "query ($with: Boolean!) { slow body @include(if: $with) }"
    assert_equal true, executions(schema, text, 90, variables: { "with" => false }).last
    body = nil
    assert_equal [true, false, false], executions(schema, text, 3, variables: { "with" => true }) { |answer| body = answer.dig("data", "body") }
    assert_equal Comment.order(:id).first.body, body
  end

  # What a source is asked by, where it's asked at once.
  def test_sources_of_a_loader_without_a_queue
    fetched = []
    source = Class.new(GraphQL::Dataloader::Source) do
      define_method(:fetch) { |keys| keys.tap { fetched.concat(keys) } }
      define_method(:clear_cache) { super().tap { fetched << :cleared } }
    end
    sourced = 0
    loader = Pipeloader::PlainLoader.new { sourced += 1 }
    assert_equal [1, [2, 3]], [loader.with(source).load(1), loader.with(source).load_all([2, 3])]
    assert_equal [1, 2, 3], fetched
    request = loader.with(source).request(4)
    loader.yield
    assert_equal [1, 2, 3], fetched
    loader.run
    assert_equal [[1, 2, 3, 4], 4], [fetched, request.load]
    loader.clear_cache
    assert_equal [:cleared, 1], [fetched.last, loader.with(source).load(1)]
    assert_equal 4, sourced
  end

  def test_a_dataloader_of_the_schemas_own
    schema = schema { use GraphQL::Dataloader }
    executions(schema, "{ slow }", 90)
    result = schema.execute("{ slow }")
    assert rested?(result)
    assert_instance_of GraphQL::Dataloader, result.query.context.dataloader
  end

  def test_what_raises_tells_nothing
    schema = make(query: QUERY).last
    failing = -> { raise Interrupt }
    text = "{ slow title }"
    executions(schema, text, 2)
    40.times { assert_raises(Interrupt) { schema.execute(text, context: { title: failing }) } }
    assert_equal [false] * (FIRST - 1), executions(schema, text, FIRST - 1)
    assert_equal true, executions(schema, text, 40).last
  end

  # What fails without Pipeloader may not fail with it.
  def test_what_raises_while_it_rests
    schema = schema()
    executions(schema, "{ slow title }", 90)
    assert_equal 1, raised(schema)
    schema = make(query: QUERY).last
    executions(schema, "{ slow title }", 20)
    assert_operator raised(schema), :<=, 1
  end

  # @return [Integer] in how many of 60 executions something raises that raises without Pipeloader
  def raised(schema)
    Array.new(60) do
      schema.execute("{ slow title }", context: { title: -> { TrialTest.gathers? ? "title" : raise(Interrupt) } })
      false
    rescue Interrupt
      true
    end.count(true)
  end

  # It was learned on one record, and there are nine.
  def test_what_reads_more_than_it_did
    query = type("Query") do
      field :names, [String] do
        argument :first, Integer
      end
      def names(first:) = Post.order(:id).limit(first).map { |post| post.author&.name.to_s }.tap { sleep(0.005) if TrialTest.gathers? }
    end
    schema = make(query: query).last
    text = "query ($first: Int!) { names(first: $first) }"
    assert_equal true, executions(schema, text, 90, variables: { "first" => 1 }).last
    assert_equal [true, false, false], executions(schema, text, 3, variables: { "first" => 12 })
    assert_empty executions(schema, text, 60, variables: { "first" => 1 }) & [true]
  end

  # By chance, as callers may take turns themselves.
  def test_turns
    trial = Pipeloader::Trial.new
    17.times { trial.note(false, 1.0, 0) }
    turns = []
    while trial.instance_variable_get(:@seconds)
      turns << trial.send(:rest_now?, schema)
      trial.note(turns.last, 1.0, 0)
    end
    assert_includes ROUNDS..60, turns.count(true)
    refute_equal [true, false].cycle.take(turns.size), turns
    refute_equal [false, true].cycle.take(turns.size), turns
  end

  def test_schemas_with_code_of_their_own
    child = Class.new(schema) { def self.dataloader_class = GraphQL::Dataloader }
    assert_empty executions(child, "{ slow }", 60) & [true]
    hashes = Class.new(schema)
    hashes.define_singleton_method(:multiplex) { |queries, **options| super(queries, **options).map(&:to_h) }
    assert_equal "data", Array.new(40) { hashes.multiplex([{ query: "{ slow }" }]) }.last.first.keys.first
  end

  def test_a_document_of_two_schemas
    document = GraphQL.parse("{ slow }")
    first, second = schema, schema
    90.times { first.execute(document: document) }
    assert rested?(first.execute(document: document))
    refute rested?(second.execute(document: document))
  end

  def test_threads
    schema = schema()
    answers = Array.new(4) { Thread.new { Array.new(30) { schema.execute("{ slow }").to_h } } }.flat_map(&:value)
    assert_equal 1, answers.uniq.size
    # The first trial may be misled: it measures threads that wait for one another. The second one isn't.
    assert_equal [true], executions(schema, "{ slow }", 160).last(20).uniq
  end

  def test_mutations
    mutation = type("Mutation") do
      field :rename, String
      def rename
        sleep(0.005) if TrialTest.gathers?
        Post.order(:id).first.tap { |post| post.update!(title: "#{post.title}.") }.title
      end
    end
    schema = make(query: QUERY, mutation: mutation).last
    Post.transaction do
      before = Post.order(:id).first.title
      titles = []
      rests = executions(schema, "mutation { rename }", 60) { |answer| titles << answer.dig("data", "rename") }
      assert_equal Array.new(60) { |i| before + ("." * (i + 1)) }, titles
      assert_equal true, rests.last
      raise ActiveRecord::Rollback
    end
  end

  # -- when it is looked at again ----------------------------------------------------------------------------------------

  # @return [Array<Integer>] how many executions there are between the trials of an operation
  def pauses(trial, trials)
    Array.new(trials) do |number|
      count = 0
      until trial.instance_variable_get(:@seconds)
        trial.note(trial.rests?, 1.0, 0)
        count += 1
      end
      without, with = yield number
      2.times { |turn| ROUNDS.times { trial.note(turn.zero?, turn.zero? ? without : with, 0) if trial.instance_variable_get(:@seconds) } }
      count
    end
  end

  def test_pauses
    assert_equal [17, 129, 257, 513], pauses(Pipeloader::Trial.new, 4) { [2.0, 1.0] }
    assert_equal [17, 129, 129, 257], pauses(Pipeloader::Trial.new, 4) { |number| number.zero? ? [2.0, 1.0] : [1.0, 2.0] }
    assert_equal 8_193, pauses(Pipeloader::Trial.new, 9) { [1.0, 2.0] }.last
  end

  def test_three_that_are_slower_than_all_others_are_enough
    trial = Pipeloader::Trial.new
    17.times { trial.note(false, 1.0, 0) }
    2.times { trial.note(false, 1.0, 0) }
    2.times { trial.note(true, 1.1, 0) }
    assert trial.instance_variable_get(:@seconds)
    trial.note(true, 1.1, 0)
    assert_nil trial.instance_variable_get(:@seconds)
    refute_predicate trial, :rests?
  end

  def test_what_begins_to_save_goes_on_with_it
    trial = Pipeloader::Trial.new
    pauses(trial, 1) { [1.0, 2.0] }
    assert_predicate trial, :rests?
    trial.note(false, 1.0, 7)
    refute_predicate trial, :rests?
    trial = Pipeloader::Trial.new
    17.times { trial.note(false, 1.0, 6) }
    trial.note(false, 1.0, 7)
    assert_nil trial.instance_variable_get(:@seconds)
  end

  def test_a_hundredth_is_no_difference
    trial = Pipeloader::Trial.new
    pauses(trial, 1) { [0.99, 1.0] }
    refute_predicate trial, :rests?
  end

  # -- who is told -------------------------------------------------------------------------------------------------------

  def test_events_and_log_lines
    schema = schema()
    log = StringIO.new
    events = WireCounter.events("trial.pipeloader") do
      with_log(log) do
        executions(schema, "query Fast { slow }", 60)
        executions(schema, "{ slow(with: false) }", 60)
      end
    end
    assert_equal [true, false], events.map { |it| it[:rests] }
    assert_operator events.first[:seconds_with] - events.first[:seconds_without], :>, 0.002
    assert_match(/Trial.*  Fast goes on without Pipeloader: \d+\.\dms, with it \d+\.\dms/, log.string)
    assert_match(/Trial.*  a query without a name goes on with Pipeloader: \d+\.\dms, without it \d+\.\dms/, log.string)
  end

  def with_log(log)
    outer, ActiveSupport::LogSubscriber.logger = ActiveSupport::LogSubscriber.logger, ActiveSupport::Logger.new(log)
    yield
  ensure
    ActiveSupport::LogSubscriber.logger = outer
  end

  def test_explain
    schema = schema()
    executions(schema, "{ slow }", 90)
    explanation = Pipeloader.explain(schema, "{ slow }")
    assert_match(/burst 1: .*posts/, explanation.to_s)
    assert_match(/^executed without Pipeloader for now: that is faster$/, explanation.to_s)
    assert_equal true, explanation.to_h[:rests]
    assert_equal false, Pipeloader.explain(schema, "{ title }").to_h[:rests]
    refute_match(/for now/, Pipeloader.explain(schema, "{ title }").to_s)
  end
end

# frozen_string_literal: true

require "minitest/mock"
require_relative "../support/plans"

# Pipeloader.multiplex: subscribers of one trigger read together. What is delivered and deleted, in which order, and what is raised,
# is what a store does that goes through them one by one without Pipeloader.
class MultiplexTest < PlanTest
  class Tenant < ActiveSupport::CurrentAttributes
    attribute :id
  end

  # As small as a store can be. It keeps a log of what it is told.
  class Store < GraphQL::Subscriptions
    attr_reader :log
    attr_accessor :each, :on_deliver

    def initialize(**)
      super
      @queries = {}
      @log = []
    end

    def write_subscription(query, _events) = @queries[query.context[:subscription_id]] = query

    def read_subscription(id)
      query = @queries[id]
      query && { query_string: query.query_string, variables: query.provided_variables, operation_name: query.operation_name,
                 context: query.context.to_h.dup }
    end

    def delete_subscription(id)
      @log << [:delete, id]
      @queries.delete(id)
    end

    def lose(id) = @queries[id] = nil

    def deliver(id, result)
      @log << [:deliver, id, result.to_h]
      on_deliver&.call(self, id)
    end

    def execute_all(event, object) = each.call(self, @queries.keys) { |id| execute(id, event, object) }
  end

  ONE_BY_ONE = ->(_store, ids, &block) { ids.each(&block) }
  TOGETHER = ->(_store, ids, &block) { Pipeloader.multiplex(ids, &block) }

  USER = type("User") { field :name, String, null: false }
  COMMENT = type("Comment") do
    field :body, String
    field :commenter, USER
  end
  MINE = type("Mine") do
    field :body, String
    field :commenter, USER

    def self.authorized?(object, context) = object.commenter_id.nil? || object.commenter_id == context[:viewer]
  end
  POST = type("Post") do
    field :title, String
    field :author, USER
    field :comments, [COMMENT]
    field :readable, [MINE, { null: true }], method: :comments
    field :mine, [COMMENT] do
      argument :score, Integer, required: false
    end
    field :count, Integer
    field :tenant, Integer
    field :fails, String
    field :breaks, String
    field :strict, String, null: false

    def mine(score: nil)
      scope = object.comments.where(commenter_id: context[:viewer]).order(:id)
      score ? scope.where(score: score) : scope
    end

    def count = object.comments.where(commenter_id: context[:viewer]).count

    def tenant
      Tenant.id = context[:viewer]
      Comment.where(commenter_id: context[:viewer]).count
      Tenant.id
    end

    def fails = Comment.count.zero? || raise(GraphQL::ExecutionError, "not for #{context[:viewer]}")
    def breaks = Post.find(object.id).title.tap { raise ArgumentError, "of #{context[:viewer]}" if context[:breaks] }
    def strict = Comment.find_by(commenter_id: context[:viewer], score: -1)&.body
  end

  class Changed < GraphQL::Schema::Subscription
    payload_type POST

    def subscribe = :no_response

    def update
      return NO_UPDATE if context[:skips]

      unsubscribe if context[:leaves]
      unsubscribe(Post.find(object)) if context[:leaves_with_post]
      Post.find(object)
    end
  end

  SUBSCRIPTION = type("Subscription") do
    field :changed, subscription: Changed
  end

  QUERY = type("Query") { field :one, Integer }
  MUTATION = type("Mutation") do
    field :touch, Integer do
      argument :id, Integer
    end
    def touch(id:)
      Post.where(id: id).count
      context.schema.subscriptions.trigger(:changed, {}, id)
      Comment.where(post_id: id).count
    end
  end

  ALL = "subscription { changed { title author { name } comments { body commenter { name } } mine { body commenter { name } } count } }"

  def stores(pipeloader: {}, subscription: SUBSCRIPTION, &block)
    [false, true].map do |piped|
      Class.new(GraphQL::Schema) do
        query(QUERY)
        mutation(MUTATION)
        subscription(subscription)
        use(Store)
        subscriptions.each = piped ? TOGETHER : ONE_BY_ONE
        class_eval(&block) if block
        use(Pipeloader, **pipeloader) if piped
      end
    end
  end

  # @param subscribers [Array<Hash>] contexts; :query and :variables in them are theirs
  def subscribe(schema, subscribers, query)
    subscribers.each_with_index do |context, index|
      context = { subscription_id: "s#{index}", **context }
      schema.execute(context.delete(:query) || query, variables: context.delete(:variables), context: context)
    end
    schema.subscriptions.log.clear
  end

  def told(schema)
    error = begin
      yield
      nil
    rescue StandardError, ScriptError => e
      [:raised, e.class, e.message]
    end
    JSON.generate([*schema.subscriptions.log, error, Tenant.id])
  ensure
    Tenant.reset
  end

  # Three times, so that plans and shapes are known.
  #
  # @return [Array] what the stores were told
  def assert_alike(subscribers, query = ALL, schemas = stores, on_deliver: nil, before: nil, times: 3)
    logs = schemas.map do |schema|
      Array.new(times) do
        schema.subscriptions.on_deliver = on_deliver
        subscribe(schema, subscribers, query)
        before&.call(schema.subscriptions)
        told(schema) { schema.subscriptions.trigger(:changed, {}, Post.minimum(:id)) }
      end
    end
    assert_equal(*logs)
    JSON.parse(logs.first.first)
  end

  def viewers(count) = User.order(:id).limit(8).ids.cycle.first(count).map { |id| { viewer: id } }

  def test_contexts_differ
    log = assert_alike(viewers(12))
    assert_equal 12, log.count { |what, *| what == "deliver" }
    assert_operator log.first(12).map(&:last).uniq.size, :>, 1
  end

  def test_arguments_and_selections_differ
    with_score = "subscription($score: Int) { changed { mine(score: $score) { body } } }"
    subscribers = viewers(20).each_with_index.map do |viewer, index|
      case index % 4
      when 0 then { **viewer, query: with_score, variables: { "score" => index % 3 } }
      when 1 then { **viewer, query: "subscription { changed { id: title } }" }
      when 2 then { **viewer, query: "subscription { changed { nothing } }" } # never subscribed
      else viewer
      end
    end
    assert_alike(subscribers)
  end

  def test_who_may_see_what
    log = assert_alike(viewers(9), "subscription { changed { readable { body commenter { name } } } }")
    assert_operator log.first(9).map(&:last).uniq.size, :>, 1
  end

  def test_errors
    assert_alike(viewers(7), "subscription { changed { fails title mine { body } } }")
    assert_alike(viewers(7), "subscription { changed { title strict count } }")
  end

  def test_an_exception_ends_what_comes_after_it
    log = assert_alike(viewers(6).each_with_index.map { |it, i| i >= 3 ? { **it, breaks: true } : it },
                       "subscription { changed { breaks count } }")
    assert_equal %w[s0 s1 s2], log.filter_map { |what, id| id if what == "deliver" }
    assert_match "of ", log[-2].last
  end

  def test_exceptions_that_the_store_takes
    rescuing = lambda do |each|
      lambda do |store, ids, &block|
        each.call(store, ids) do |id|
          block.call(id)
        rescue ArgumentError => e
          store.log << [:failed, id, e.message]
        end
      end
    end
    schemas = stores
    schemas.each { |schema| schema.subscriptions.each = rescuing.call(schema.subscriptions.each) }
    log = assert_alike(viewers(8).each_with_index.map { |it, i| i % 3 == 1 ? { **it, breaks: true } : it },
                       "subscription { changed { breaks count } }", schemas)
    assert_equal %w[deliver failed deliver deliver failed deliver deliver failed], log.first(8).map(&:first)
  end

  def test_no_update_and_unsubscribe
    subscribers = viewers(12).zip([{}, { skips: true }, { leaves: true }, { leaves_with_post: true }].cycle).map { |a, b| { **a, **b } }
    log = assert_alike(subscribers)
    assert_equal(%w[s0 s2 s3 s3 s4 s6], log.first(6).map { |_, id| id })
  end

  def test_gone_ones
    log = assert_alike(viewers(8), before: ->(store) { %w[s0 s4 s7].each { |id| store.lose(id) } })
    assert_equal(%w[s0 s1 s2 s3 s4], log.first(5).map { |_, id| id })
  end

  # Then a serial run doesn't find it.
  def test_deleted_by_an_earlier_delivery
    log = assert_alike(viewers(8), on_deliver: ->(store, id) { store.delete_subscription("s5") if id == "s2" })
    assert_equal(2, log.count { |what, id| what == "delete" && id == "s5" })
    refute_includes log, "s5"
    assert_empty(log.select { |what, id| what == "deliver" && id == "s5" })
  end

  def test_a_delivery_fails
    log = assert_alike(viewers(6), on_deliver: ->(_, id) { raise IOError, "no way to #{id}" if id == "s3" })
    assert_equal 4, log.count { |what, *| what == "deliver" }
    assert_alike(viewers(6), on_deliver: ->(_, id) { raise NotImplementedError, id if id == "s3" })
  end

  def test_deliveries_that_read_and_write
    writes = lambda do |store, id|
      store.log << [:count, Tag.where(name: "told").count]
      Tag.create!(name: "told") if id == "s2"
    end
    assert_alike(viewers(5), before: ->(_) { Tag.where(name: "told").delete_all }, on_deliver: writes)
  ensure
    Tag.where(name: "told").delete_all
  end

  def test_what_is_assigned
    assert_alike(viewers(6), "subscription { changed { tenant count } }")
  end

  def test_blocks_around_each
    around = ->(each) { ->(store, ids, &block) { each.call(store, ids) { |id| Tenant.set(id: id) { block.call(id).tap { store.log << Tenant.id } } } } }
    schemas = stores
    schemas.each { |schema| schema.subscriptions.each = around.call(schema.subscriptions.each) }
    assert_alike(viewers(6), ALL, schemas)
  end

  def test_triggered_by_a_mutation
    id = Post.minimum(:id)
    logs = stores.map do |schema|
      Array.new(2) do
        subscribe(schema, viewers(9), ALL)
        answer = schema.execute("mutation { a: touch(id: #{id}) b: touch(id: #{id + 1}) }").to_h
        JSON.generate([answer, *schema.subscriptions.log])
      end
    end
    assert_equal(*logs)
  end

  def test_in_transactions
    [ActiveRecord::Base, Post].each do |model|
      logs = stores.map do |schema|
        subscribe(schema, viewers(6), ALL)
        rolled_back(model) do
          Post.where(id: Post.minimum(:id)).update_all(title: "not to stay")
          told(schema) { schema.subscriptions.trigger(:changed, {}, Post.minimum(:id)) }
        end
      end
      assert_equal(*logs)
      assert_includes logs.first, "not to stay"
    end
  end

  def test_transactions_around_each
    around = ->(each) { ->(store, ids, &block) { each.call(store, ids) { |id| Post.transaction { block.call(id) } } } }
    schemas = stores
    schemas.each { |schema| schema.subscriptions.each = around.call(schema.subscriptions.each) }
    assert_alike(viewers(6), ALL, schemas)
  end

  # Each query is executed as alone: with a multiplex, a trace, analyzers and a dataloader of its own.
  class Source < GraphQL::Dataloader::Source
    def initialize(viewer) = @viewer = viewer
    def fetch(ids) = ids.map { |id| "#{id} for #{@viewer}, with #{ids.size}, #{Comment.where(commenter_id: @viewer).count}" }
  end

  def test_hooks_and_sources
    seen = []
    tracer = Module.new do
      define_method(:execute_multiplex) do |multiplex:, &block|
        seen << [:multiplex, multiplex.queries.size, multiplex.current_trace.equal?(self)]
        super(multiplex: multiplex, &block)
      end
      define_method(:parse) { |query_string:, &block| (seen << :parse) && super(query_string: query_string, &block) }
    end
    analyzer = Class.new(GraphQL::Analysis::Analyzer) do
      define_method(:result) { seen << [:analyzed, subject.context[:viewer]] }
    end
    post = type("Sourced", POST) do
      field :sourced, String
      def sourced = context.dataloader.with(Source, context[:viewer]).load(object.id)
    end
    changed = Class.new(Changed) { payload_type(post) }
    subscription = type("Subscription") { field :changed, subscription: changed }
    schemas = stores(subscription: subscription) do
      use(GraphQL::Dataloader)
      trace_with(tracer)
      query_analyzer(analyzer)
      max_complexity(50)
      complexity_cost_calculation_mode(:future) if respond_to?(:complexity_cost_calculation_mode) # warns without
    end
    counts = schemas.map do |schema|
      subscribe(schema, viewers(5), "subscription { changed { sourced count } }")
      seen.clear
      [told(schema) { schema.subscriptions.trigger(:changed, {}, Post.minimum(:id)) }, seen.tally]
    end
    assert_equal(*counts)
    assert_equal 5, counts.last.last[[:multiplex, 1, true]]
  end

  def test_nested_and_trivial_uses
    assert_equal [2, 4, 6], Pipeloader.multiplex([1, 2, 3]) { |it| it * 2 }
    assert_equal [[1, 2], [2, 3], [3, 4]], (Pipeloader.multiplex([1, 2, 3]) { |it| Pipeloader.multiplex([it, it + 1], &:itself) })
    assert_empty(Pipeloader.multiplex([]) { flunk })
    assert_equal [5, 5], (Pipeloader.disabled { Pipeloader.multiplex([1, 2]) { 5 } })
    assert_equal([[1], [2]], Pipeloader.multiplex([1, 2]) { |it| next [it] })
    assert_raises(ZeroDivisionError) { Pipeloader.multiplex([1, 0, 1]) { |it| 1 / it } }
    assert_nil Pipeloader::ResolverFiber.current
  end

  # Reads that the blocks themselves do, are one level, too.
  def test_reads_of_the_block
    ids = Post.limit(16).ids
    assert_round_trips(1) { assert_equal ["post"], (Pipeloader.multiplex(ids) { |id| Post.find(id).title[/post/] }).uniq }
  end

  def test_settings_are_each_ones_own
    settings = ->(context) { { "app.viewer" => context[:viewer].to_s } }
    post = type("Settled", POST) do
      field :setting, String
      def setting = Post.connection.select_value("SELECT current_setting('app.viewer', true)")
    end
    changed = Class.new(Changed) { payload_type(post) }
    subscription = type("Subscription") { field :changed, subscription: changed }
    _, schema = stores(subscription: subscription, pipeloader: { settings: settings })
    subscribe(schema, viewers(6), "subscription { changed { setting count } }")
    log = JSON.parse(told(schema) { schema.subscriptions.trigger(:changed, {}, Post.minimum(:id)) })
    assert_equal(viewers(6).map { |it| it[:viewer].to_s }, log.first(6).map { |_, _, result| result.dig("data", "changed", "setting") })
  end

  def test_snapshots_are_each_ones_own
    query = type("Query") { field :isolation, String; def isolation = Post.connection.select_value("SHOW transaction_isolation") }
    schema = Class.new(GraphQL::Schema) { query(query); use(Pipeloader, snapshot: true) }
    levels = Pipeloader.multiplex([1, 2, 3]) { |_| schema.execute("{ isolation }").to_h.dig("data", "isolation") }
    assert_equal ["repeatable read"] * 3, levels
  end

  def read_isolation = Post.find_by_sql("SELECT current_setting('transaction_isolation') AS title").first.title

  # Queries beside it read outside of its snapshot, whatever they wait for when its turn comes.
  def test_a_snapshot_beside_other_queries
    read = method(:read_isolation)
    post = type("Deep") do
      field :id, Integer
      field :isolation, String
      field :posts, [self]
      define_method(:isolation) { object.id.odd? ? read.call : Post.connection.select_value("SHOW transaction_isolation") }
      def posts = Post.where(id: object.id).to_a
    end
    query = type("Query") do
      field :isolation, String
      field :posts, [post]
      field :others, [post]
      def isolation = Post.transaction { Post.connection.select_value("SHOW transaction_isolation") }
      def posts = Post.order(:id).limit(2).to_a
      def others = Post.order(:id).limit(2).offset(1).to_a
    end
    schemas = [true, false].to_h { |it| [it, Class.new(GraphQL::Schema) { query(query); use(Pipeloader, snapshot: it) }] }
    texts = Array.new(3) { |depth| "{ isolation others { id } posts { #{"posts { " * depth}isolation#{" }" * depth} } }" }
    random = Random.new(Minitest.seed)
    20.times do
      plans = Array.new(8) { [random.rand(4), random.rand < 0.4, texts.sample(random: random), random.rand(3)] }
      answers = Pipeloader.multiplex(plans) do |before, snapshot, text, after|
        beside = Array.new(before) { read_isolation }
        answer = JSON.generate(schemas[snapshot].execute(text).to_h).scan(/repeatable read|read committed/).uniq
        [(beside + Array.new(after) { read_isolation }).uniq - ["read committed"], answer]
      end
      plans.zip(answers) do |plan, answer|
        assert_equal [[], [plan[1] ? "repeatable read" : "read committed"]], answer, "seed #{Minitest.seed}: #{plans}"
      end
    end
  end

  def test_a_multiplex_in_a_multiplex
    log = []
    note = ->(value) { Schemas.pair.last.execute("{ posts { comments { body } } }") && log << value }
    Pipeloader.multiplex([0, 1, 2]) { |index| index == 1 ? Pipeloader.multiplex(%w[x y], &note) : note.call(index) }
    assert_equal [0, "x", "y", 2], log
  end

  # When the connection knows what to send for many.
  def test_a_thousand_take_ten_statements
    _, schema = stores
    subscribe(schema, viewers(12), ALL)
    3.times { schema.subscriptions.trigger(:changed, {}, Post.minimum(:id)) }
    _, schema = stores
    subscribe(schema, viewers(1000), ALL)
    statements = 0
    counter = ->(*, payload) { statements += payload[:statements] }
    ActiveSupport::Notifications.subscribed(counter, "burst.pipeloader") do
      schema.subscriptions.trigger(:changed, {}, Post.minimum(:id))
    end
    assert_equal 1000, schema.subscriptions.log.size
    assert_operator statements, :<=, 10
  end

  # However many each has, fibers that wait are few: those that have begun go on.
  def test_bounded
    crowd = Pipeloader::Multiplex.const_get(:CROWD)
    change_crowd(10)
    narrow = most_fibers
    change_crowd(crowd)
    assert_operator narrow * 2, :<, most_fibers
  ensure
    change_crowd(crowd)
  end

  def change_crowd(size)
    Pipeloader::Multiplex.send(:remove_const, :CROWD)
    Pipeloader::Multiplex.const_set(:CROWD, size)
    Pipeloader::Multiplex.send(:private_constant, :CROWD)
  end

  # @return [Integer] how many wait at once
  def most_fibers
    most = 0
    watch = Module.new { define_method(:count) { |change| super(change).tap { |fibers| most = [most, fibers].max } } }
    begun = Pipeloader::Multiplex.method(:new)
    Pipeloader::Multiplex.stub(:new, -> { begun.call.extend(watch) }) do
      assert_alike(viewers(24), "subscription { changed { comments { body commenter { name } } count tenant } }", times: 1)
    end
    most
  end
end

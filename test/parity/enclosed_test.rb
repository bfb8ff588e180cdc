# frozen_string_literal: true

require_relative "../support/plans"

# Code of the application's that is around other fields: without a dataloader, what it sets, rescues, or begins, is so for all of
# them.
class EnclosedTest < PlanTest
  class Current < ActiveSupport::CurrentAttributes
    attribute :tenant
  end

  class Locale < GraphQL::Schema::Directive
    graphql_name "locale"
    locations QUERY, FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT, FRAGMENT_DEFINITION
    argument :lang, String
    def self.resolve(_object, arguments, _context) = I18n.with_locale(arguments[:lang]) { Current.set(tenant: arguments[:lang]) { yield } }
  end

  class Mine < GraphQL::Schema::Directive
    graphql_name "mine"
    locations FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT
    def self.resolve(*) = yield
  end

  class Auth < GraphQL::Schema::Directive
    graphql_name "auth"
    locations FIELD
    def self.resolve(_object, _arguments, context) = context[:user] ? yield : raise(GraphQL::ExecutionError, "no")
  end

  class Named < GraphQL::Schema::Directive
    graphql_name "named"
    locations FIELD
  end

  class Refused < StandardError; end

  module Rescuing
    def execute_query(query:)
      super
    rescue Refused
      query.context.add_error(GraphQL::ExecutionError.new("rescued"))
    end
  end

  COMMENT = type("EnclosedComment") { field :body, String; field :lang, String; def lang = "#{I18n.locale} #{Current.tenant}" }
  POST = type("EnclosedPost") do
    field :id, Integer
    field :title, String
    field :lang, String
    field :comments, [COMMENT]
    field :author_name, String
    field :broken, String
    def broken = raise(Refused)
    def lang = "#{I18n.locale} #{Current.tenant}"
    def author_name = "#{object.author.name}".dup.concat(" #{I18n.locale}")
  end
  SECRET = type("EnclosedSecret") { field :title, String; def self.authorized?(object, context) = super && object.id == 1 }

  class Query < Schemas::Base
    graphql_name "Query"
    field :posts, [POST]
    field :post, POST
    field :lang, String
    field :secrets, [SECRET]
    field :secret, SECRET
    field :must, String, null: false
    field :count, Integer
    def posts = Post.order(:id).limit(3)
    def post = Post.find(2)
    def lang = "#{I18n.locale} #{Current.tenant} #{Post.connection.open_transactions}"
    def secrets = Post.order(:id).limit(3)
    def secret = Post.find(2)
    def must = User.where(id: 0).pick(:name)
    def count = Post.count
  end

  class Mutation < Schemas::Base
    graphql_name "Mutation"
    field :touch, String
    field :fail, String
    def touch = Post.where(id: 1).update_all(likes: 77).to_s
    def fail = raise(Refused)
  end

  def setup
    super
    I18n.available_locales = %i[en de fr]
    @likes = Post.find(1).likes
  end

  def teardown
    Post.where(id: 1).update_all(likes: @likes)
    super
  end

  def pair(pipeloader: {}, &block)
    Schemas.make(query: Query, mutation: Mutation, pipeloader: pipeloader) do
      directives(Locale, Mine, Auth, Named)
      class_eval(&block) if block
    end
  end

  def assert_alike(text, schemas, **options)
    outcomes = Array.new(3) { schemas.map { |schema| text_of(outcome { schema.execute(text, **options).to_h }) } }
    outcomes.each { |plain, piped| assert_equal plain, piped }
    outcomes.first.first
  end

  # The errors' messages say where they were raised, so their classes are compared, from the one that leaves to the first.
  def assert_wrapped_alike(text, schemas, context)
    plain, piped = schemas.map { |it| Array.new(3) { classes_of(assert_raises(StandardError) { it.execute(text, context: context) }) } }
    assert_equal plain, piped
  end

  def classes_of(error) = error ? [error.class, *classes_of(error.cause)] : []

  # Around all fields; and it's left when they are done.
  def test_a_tracer_that_sets
    trace = Module.new { def execute_query(query:) = I18n.with_locale(:de) { Current.set(tenant: 7) { super } } }
    said = assert_alike("{ lang posts { lang authorName comments { lang } } count }", pair { trace_with(trace) })
    assert_includes said, "de 7" unless ENV["PIPELOADER_ENGINE"] == "next"
  end

  def test_a_tracer_that_begins_a_transaction
    trace = Module.new { def execute_query(query:) = query.mutation? ? ActiveRecord::Base.transaction { super.tap { raise ActiveRecord::Rollback if query.context[:back] } } : super }
    [true, false].product(["mutation { touch }", "{ lang posts { title comments { body } } }"]).each do |back, text|
      pair { trace_with(trace) }.map do |schema|
        [text_of(schema.execute(text, context: { back: back }).to_h), Post.find(1).likes]
      ensure
        Post.where(id: 1).update_all(likes: @likes)
      end.then { |plain, piped| assert_equal plain, piped }
    end
  end

  def test_a_tracer_that_rescues
    assert_alike("mutation { touch fail }", pair { trace_with(Rescuing) })
  end

  # What was begun meanwhile isn't in the answer.
  def test_errors_inside_of_a_tracer
    schemas = pair do
      define_singleton_method(:type_error) { |error, _| raise GraphQL::ExecutionError, "null: #{error.message}" }
      define_singleton_method(:unauthorized_object) { |_| raise Refused }
      trace_with(Rescuing)
    end
    ["{ count must lang }", "{ must count posts { title } }", "{ count secret { title } lang }"].each { |text| assert_alike(text, schemas) }
  end

  # What graphql-ruby lets out as well is executed once.
  def test_what_is_raised_outside_of_fields
    asked = 0
    trace = Module.new { define_method(:execute_multiplex) { |**| (asked += 1) && raise(GraphQL::ExecutionError, "busy") } }
    schema = pair { trace_with(trace) && rescue_from(StandardError) { "handled" } }.last
    outcome { schema.execute("{ count }").to_h }
    assert_equal 1, asked
  end

  def test_tracers_that_come_later
    schemas = pair
    assert_alike("{ lang }", schemas)
    trace = Module.new { def execute_query(query:) = Current.set(tenant: 7) { super } }
    schemas.each { |schema| schema.trace_with(trace) }
    assert_alike("{ lang posts { lang } }", schemas)
  end

  def test_a_legacy_tracer
    legacy = Class.new { def self.trace(key, _data) = key == "execute_query" ? I18n.with_locale(:de) { yield } : yield }
    assert_alike("{ lang posts { lang authorName } }", pair { tracer(legacy, silence_deprecation_warning: true) })
  end

  # What is read comes level by level all the same.
  def test_round_trips_inside_of_a_tracer
    trace = Module.new { def execute_query(query:) = super.itself }
    schema = pair { trace_with(trace) }.last
    text = "{ a: count b: count posts { title authorName } }"
    3.times { schema.execute(text) }
    assert_operator WireCounter.trips { schema.execute(text) }.size, :<=, 2
  end

  def test_several_queries_inside_of_a_tracer
    trace = Module.new { def execute_query(query:) = Current.set(tenant: query.context[:tenant]) { super } }
    queries = [1, 2, 3].map { |tenant| { query: "{ lang posts { lang authorName } }", context: { tenant: tenant } } }
    plain, piped = pair { trace_with(trace) }.map { |schema| schema.multiplex(queries).map { |it| text_of(it.to_h) } }
    assert_equal plain, piped
  end

  def test_lazy_values_inside_of_a_tracer
    trace = Module.new { def execute_query(query:) = Current.set(tenant: 3) { super } }
    lazy = Struct.new(:block) { def value = block.call }
    query = Class.new(Query) do
      graphql_name "Query"
      field :later, String
      field :later_post, POST
      define_method(:later) { lazy.new(-> { "#{Current.tenant} #{Post.count}" }) }
      define_method(:later_post) { lazy.new(-> { Post.find(1) }) }
    end
    mutation = Class.new(Mutation) { graphql_name "Mutation"; field :later, String; field :post, POST }
    mutation.define_method(:later) { lazy.new(-> { "#{Current.tenant} #{Post.count}" }) }
    mutation.define_method(:post) { lazy.new(-> { Post.find(1) }) }
    schemas = Schemas.make(query: query, mutation: mutation) { directives(Locale); lazy_resolve(lazy, :value); trace_with(trace) }
    assert_alike("{ a: later b: later laterPost { lang authorName } lang }", schemas)
    assert_alike("mutation { later a: later post { lang comments { lang } } }", schemas)
    assert_alike('{ laterPost { comments @locale(lang: "de") { lang } } lang }', schemas)
  end

  # Whatever is isolated. On Next there is a dataloader, whose fibers don't see Current without Pipeloader.
  unless Engine::NEXT
    def test_directives_under_isolation
      isolate_by(:fiber)
      Current.tenant = 7
      assert_alike("{ posts @mine { lang comments { lang } } lang }", pair)
    ensure
      Current.reset
    end
  end

  {
    query: 'query @locale(lang: "de") { lang posts { lang authorName comments { lang } } }',
    field: '{ post @locale(lang: "de") { lang authorName comments { lang } } lang }',
    fragment: '{ ...F @locale(lang: "de") lang } fragment F on Query { a: lang posts { lang authorName } }',
    inline: '{ ... @locale(lang: "fr") { a: lang posts { lang } } lang }',
    siblings: '{ posts @locale(lang: "de") { id title } lang a: count posts2: posts { lang } }',
    merged: "{ post { id } ...F @mine } fragment F on Query { post { title } lang }",
    merged_lists: "{ posts { id } ... @mine { posts { title authorName } } }",
    leaf: '{ lang @locale(lang: "de") posts { lang @locale(lang: "fr") title } }',
    harmless: "{ posts @named { title lang } lang @named }"
  }.each do |name, text|
    define_method(:"test_directive_at_#{name}") do
      [{}, { compile: false }].each { |pipeloader| assert_alike(text, pair(pipeloader: pipeloader)) }
      # With a dataloader of the schema's own, a block is around what it begins.
      assert_alike(text, pair { use GraphQL::Dataloader }) unless %i[query field fragment inline].include?(name) && ENV["PIPELOADER_ENGINE"] != "next"
    end
  end

  # Whoever is refused gets an error, and whoever isn't an answer.
  def test_a_directive_that_raises
    [nil, 1].each { |user| assert_alike("{ count lang @auth posts { title @auth } }", pair, context: { user: user }) }
    [nil, 1].each { |user| assert_alike("{ count posts @auth { title } }", pair, context: { user: user }) }
  end

  def test_a_null_that_is_answered
    schemas = pair { define_singleton_method(:type_error) { |error, _| raise GraphQL::ExecutionError, "null: #{error.message}" } }
    assert_alike("{ count must lang }", schemas)
  end

  # What handlers take that are asked by the fields above.
  def test_what_is_raised_for_an_object
    [-> { raise Refused }, -> { Post.find(0) }].each do |failing|
      schemas = pair do
        rescue_from(StandardError) { |it| raise GraphQL::ExecutionError, "handled #{it.class}" }
        define_singleton_method(:unauthorized_object) { |_| failing.call }
      end
      assert_alike("{ count secrets { title } }", schemas)
      assert_alike("{ secret { title } count }", schemas)
    end
  end

  # What a handler raises in an error's stead comes to the lists that the field is in, and they ask the handlers of that.
  def test_what_a_handler_raises
    again = proc { rescue_from(Refused) { raise IOError, "again" } }
    caused = proc { rescue_from(Refused) { raise IOError, "again", cause: nil } }
    [again, caused].each do |first|
      schemas = pair { class_eval(&first) && rescue_from(IOError) { |it| raise GraphQL::ExecutionError, "handled #{it.message}" } }
      assert_alike("{ count posts { id broken } }", schemas)
      assert_alike("{ posts { comments { body } broken } }", pair { class_eval(&first) && rescue_from(IOError) { GraphQL::ExecutionError.new("it") } })
      assert_wrapped_alike("{ posts { id broken } }", pair { class_eval(&first) && use(GraphQL::Backtrace) }, nil)
      assert_wrapped_alike("{ post { id broken } }", pair { class_eval(&first) && rescue_from(IOError) { raise KeyError, "once more" } }, nil)
    end
  end

  # `use GraphQL::Backtrace` wraps what nobody handles, in the field where it's raised and in each list that this one is in.
  def test_what_a_backtrace_wraps
    [[true, nil], [false, { backtrace: true }]].each do |always, context|
      schemas = pair do
        use(GraphQL::Backtrace) if always
        define_singleton_method(:unauthorized_object) { |_| raise Refused }
      end
      assert_wrapped_alike("{ count secrets { title } }", schemas, context)
      assert_wrapped_alike("{ secret { title } count }", schemas, context)
      assert_wrapped_alike("{ posts { id broken } }", schemas, context)
    end
  end

  # What another thread has raised, as Timeout does, means that it's over: nothing is executed again.
  def test_what_another_thread_raises
    asked = 0
    schema = pair do
      rescue_from(StandardError) { |it| raise GraphQL::ExecutionError, "handled #{it.class}" }
      define_singleton_method(:unauthorized_object) { |_| (asked += 1) && Thread.current.raise(Refused) }
    end.last
    outcome { schema.execute("{ secrets { title } }").to_h }
    assert_operator asked, :<=, 2, "that many are refused"
  end

  # Once: a handler that raises it again has been asked.
  def test_what_a_handler_raises_again
    asked = []
    query = Class.new(Query) { graphql_name "Query"; field :fail, String; def fail = raise(Refused) }
    counts = Schemas.make(query: query, mutation: nil) { rescue_from(Refused) { |error| asked.push(error) && raise(error) } }.map do |schema|
      asked.clear
      assert_raises(Refused) { schema.execute("{ fail }") }
      asked.size
    end
    assert_equal(*counts)
  end

  # Whatever has been asked of the database before the first field, and by whom.
  PROLOGUES = {
    tracer_that_reads: proc { trace_with(Module.new { def execute_multiplex(multiplex:) = User.count && super }) },
    analyzer_that_reads: proc do
      query_analyzer(Class.new(GraphQL::Analysis::Analyzer) { def initialize(...) = User.count && super; def result = nil })
    end,
    transaction: proc { trace_with(Module.new { def execute_query(query:) = ActiveRecord::Base.transaction { super } }) },
    multiplex_that_reads: proc { define_singleton_method(:multiplex) { |*queries, **options| User.count && super(*queries, **options) } }
  }.freeze

  PROLOGUES.each do |name, prologue|
    define_method(:"test_directives_behind_a_#{name}") do
      assert_alike('{ post @locale(lang: "de") { lang authorName comments { lang } } lang }', pair(&prologue))
    end
  end

  def test_directives_with_other_contexts
    text = '{ post @locale(lang: "de") { lang authorName } lang }'
    [ActiveSupport::HashWithIndifferentAccess.new(a: 1), { a: 1 }, nil].each { |context| assert_alike(text, pair, context: context) }
    answers = pair.map { |schema| schema.multiplex([{ query: "mutation { touch }" }, { query: text }, { query: "{ lang }" }]).map { |it| text_of(it.to_h) } }
    assert_equal(*answers)
    answers = pair.map { |schema| text_of(schema.execute(document: GraphQL.parse(text)).to_h) }
    assert_equal(*answers)
    answers = pair.map { |schema| text_of(GraphQL::Query.new(schema, text).result.to_h) }
    assert_equal(*answers)
  end

  # What a resolver executes.
  def test_directives_of_a_query_in_a_resolver
    query = Class.new(Query) { graphql_name "Query"; field :inner, String }
    query.define_method(:inner) { Post.count && context.schema.execute('{ post @locale(lang: "de") { lang authorName comments { lang } } lang }').to_h.to_json }
    assert_alike("{ count a: inner posts { authorName } b: inner }", Schemas.make(query: query, mutation: Mutation) { directives(Locale) })
  end

  # As persisted queries are: their text is known when the execution has begun.
  def test_a_text_that_a_tracer_gives
    text = '{ post @locale(lang: "de") { lang authorName } lang }'
    trace = Module.new { define_method(:execute_multiplex) { |multiplex:| multiplex.queries.each { |it| it.query_string = text } && super(multiplex: multiplex) } }
    assert_alike("{ __typename }", pair { trace_with(trace) })
  end

  # Once: what is before the first field, and a mutation beside it that no database tells of.
  def test_how_often_a_prologue_is_executed
    counts = pair do
      trace_with(Module.new { def execute_multiplex(multiplex:) = multiplex.queries.each { |it| it.context[:log] << :multiplex } && super })
    end.map do |schema|
      log = []
      schema.execute('{ post @locale(lang: "de") { lang } }', context: { log: log })
      log
    end
    assert_equal(*counts)
  end

  def test_a_mutation_beside_a_directive
    sent = []
    mutation = Class.new(Mutation) { graphql_name "Mutation"; field :mail, String }
    mutation.define_method(:mail) { User.find(1) && sent.push(:mail) && "sent" }
    counts = Schemas.make(query: Query, mutation: mutation) { directives(Locale) }.map do |schema|
      sent.clear
      schema.multiplex([{ query: "mutation { mail }" }, { query: '{ post @locale(lang: "de") { lang } }' }])
      sent.size
    end
    assert_equal [1, 1], counts
  end

  # What the application's Hash is told, however often it is executed.
  def test_contexts_of_query_objects
    post = type("ToldPost") { field :lang, String; def lang = (context[:max_age] = 60) && (context[:n] = context[:n].to_i + 1) && I18n.locale.to_s }
    query = Class.new(Query) { graphql_name "Query"; field :told, post; def told = Post.find(1) }
    told = Schemas.make(query: query, mutation: nil) { directives(Locale) }.map do |schema|
      ['{ told @locale(lang: "de") { lang } }', "{ told { lang } }"].map do |text|
        context = {}
        query = GraphQL::Query.new(schema, text, context: context)
        result = query.result
        [context.slice(:max_age, :n), query.context[:max_age], result.context[:max_age], result.context[:n]]
      end
    end
    assert_equal(*told)
  end

  def test_contexts_of_query_objects_that_are_executed_again
    secret = type("ToldSecret") { field :title, String; def self.authorized?(*) = false }
    query = Class.new(Query) { graphql_name "Query"; field :secret, secret; def secret = (context[:n] = context[:n].to_i + 1) && Post.find(2) }
    told = Schemas.make(query: query, mutation: nil) do
      rescue_from(Refused) { raise GraphQL::ExecutionError, "handled" }
      define_singleton_method(:unauthorized_object) { |_| Post.count && raise(Refused) }
    end.map do |schema|
      context = {}
      [text_of(outcome { GraphQL::Query.new(schema, "{ count secret { title } }", context: context).result.to_h }), context[:n]]
    end
    assert_equal(*told)
  end
end

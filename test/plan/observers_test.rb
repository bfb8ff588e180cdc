# frozen_string_literal: true

require_relative "checklist_case"

# Who watches a query, or has a word in all of it: tracers, monitoring, directives, visibility, limits.
class PlanObserversTest < PlanChecklistCase
  # On Next a field's values come at once, and only types that have an `authorized?` are asked for it.
  CALLS_ON_NEXT = { begin_execute_field: 2, end_execute_field: 2, objects: 2 }.freeze

  # Hooks that somebody watches each field by.
  [:execute_field, :begin_execute_field, :end_execute_field, :authorized, :begin_authorized, :end_authorized, *(:objects if Engine::NEXT)].each do |hook|
    define_method(:"test_tracer_#{hook}") do
      seen = []
      tracer = Module.new do
        define_method(hook) do |*arguments, **options, &block|
          seen << hook
          options.empty? ? super(*arguments, &block) : super(*arguments, **options, &block)
        end
      end
      post = type("Post") { field :title, String; field :author, Schemas::Employee }
      schemas = schemas({ them: [[post], -> { Post.order(:id) }] }) { trace_with(tracer) }
      schemas.first.execute("{ them { title } }")
      plain = seen.size
      seen.clear
      schemas.last.execute("{ them { title } }")
      assert_equal plain, seen.size
      Engine::NEXT ? assert_equal(CALLS_ON_NEXT.fetch(hook, 0), plain) : assert_operator(plain, :>=, 12)
    end
  end

  # What graphql-ruby has for monitoring.
  SpyTrace = GraphQL::Tracing::MonitorTrace.create_module("spy")
  module SpyTrace
    SEEN = []

    class SpyMonitor < GraphQL::Tracing::MonitorTrace::Monitor
      include GraphQL::Tracing::MonitorTrace::Monitor::GraphQLSuffixNames
      def instrument(*) = yield

      class Event < GraphQL::Tracing::MonitorTrace::Monitor::Event
        def start = SEEN << [:start, @monitor.name_for(keyword, object)]
        def finish = SEEN << [:finish, @monitor.name_for(keyword, object)]
      end
    end
  end

  SPIED = "{ them { title author { name } comments { body commenter { name } } } }"

  def spied(query = SPIED, fields: {}, **options)
    post = type("Post") do
      field :title, String, **fields
      field :author, PlanTypes::User
      field :comments, [PlanTypes::Comment]
      field :pages, PlanTypes::Comment.connection_type, method: :comments, connection: true
      field :writer, PlanTypes::User
      def writer = object.author.presence
    end
    root = type("Query") do
      field :them, [post], null: false
      field :pages, post.connection_type, connection: true
      def them = Post.order(:id)
      def pages = Post.order(:id)
    end
    schemas = make(query: root) { trace_with(SpyTrace, **options) }
    schemas.map do |schema|
      SpyTrace::SEEN.clear
      records = instantiated { schema.execute(query) }
      [SpyTrace::SEEN.tally.select { |(_, name), _| name.match?(/\AQuery\.\w+\.graphql/) || name.match?(/\A(Post|Comment|User|Base)(Connection|Edge)?\.(?!authorized)/) }, records]
    end
  end

  def test_monitoring
    (plain,), (piped, records) = spied
    assert_empty records
    assert_equal plain.keys.sort, piped.keys.sort
    assert_equal [1], piped.values.uniq
    Engine::NEXT ? assert_equal(plain, piped) : assert_operator(plain[[:start, "Post.author.graphql"]], :>, 1)
  end

  def test_monitoring_of_connections
    below = "(first: 2) { edges { cursor node { body commenter { name } } } pageInfo { hasNextPage } }"
    ["{ them { pages#{below} } }", "{ pages(first: 3) { nodes { title pages#{below} } pageInfo { endCursor } } }"].each do |query|
      (plain,), (piped, records) = spied(query)
      assert_empty records
      assert_equal plain.keys.sort, piped.keys.sort
      assert_equal [1], piped.reject { |(_, name), _| name == "BaseConnection.pageInfo.graphql" }.values.uniq, piped.inspect
    end
  end

  # A monitor hears of fields whose methods are called directly.
  def test_monitoring_of_methods
    (plain,), (piped,) = spied("{ them { title writer { name } } }")
    assert_equal plain.slice([:start, "Post.writer.graphql"]), piped.slice([:start, "Post.writer.graphql"])
    assert_operator piped[[:start, "Post.writer.graphql"]], Engine::NEXT ? :== : :>, 1
  end

  # (A field that lets others go on is told of twice, as with any dataloader.)
  def test_monitoring_of_scalars
    [{ trace_scalars: true }, { fields: { trace: true } }].each do |options|
      (plain,), (piped,) = spied(**options)
      assert_equal plain.keys.sort, piped.keys.sort
      assert_equal Engine::NEXT ? [1, 1] : [12, 12], [plain, piped].map { |it| it[[:start, "Post.title.graphql"]] }
    end
  end

  def test_tracer_of_one_query
    seen = 0
    hook, calls = Engine::NEXT ? [:begin_execute_field, 2] : [:execute_field, 13]
    tracer = Class.new(GraphQL::Tracing::Trace) { define_method(hook) { |*arguments, **options, &block| (seen += 1) && super(*arguments, **options, &block) } }
    post = type("Post") { field :title, String }
    schemas = schemas({ them: [[post], -> { Post.order(:id) }] })
    schemas.last.execute("{ them { title } }")
    schemas.last.execute("{ them { title } }", context: { trace: tracer.new })
    assert_equal calls, seen
  end

  def test_a_legacy_tracer
    seen = []
    legacy = Class.new { define_singleton_method(:trace) { |key, _data, &block| (seen << key) && block.call } }
    post = type("Post") { field :title, String }
    counts = schemas({ them: [[post], -> { Post.order(:id) }] }) { tracer(legacy, silence_deprecation_warning: true) }.map do |schema|
      seen.clear
      schema.execute("{ them { title } }")
      seen.count("execute_field")
    end
    assert_equal Engine::NEXT ? [0, 0] : [13, 13], counts # Next tells legacy tracers of no field
  end

  def test_timeout_of_the_schema
    post = type("Post") { field :title, String }
    schemas = schemas({ them: [[post], -> { Post.order(:id) }] }) { use GraphQL::Schema::Timeout, max_seconds: -1 }
    assert_parity("{ them { title } }", schemas)
  end

  # Directives of the application's.
  class Twice < GraphQL::Schema::Directive
    graphql_name "twice"
    locations FIELD, FRAGMENT_SPREAD, INLINE_FRAGMENT, QUERY

    class << self
      attr_accessor :calls
    end
    self.calls = 0

    def self.resolve(object, arguments, context)
      self.calls += 1
      super
    end

    def self.include?(_object, _arguments, _context) = (self.calls += 1).positive?
  end

  {
    a_leaf: "{ them { title @twice likes } }", the_root: "{ them @twice { title } }", an_association: "{ them { title author @twice { name } } }",
    a_spread: "{ them { ...f @twice likes } } fragment f on Post { title }", an_inline_fragment: "{ them { ... @twice { title } likes } }",
    a_fragment_below: "{ them { likes author { ...g } } } fragment g on Author { name @twice }", another_field: "{ them { title } other: them { likes @twice } }"
  }.each do |name, query|
    define_method(:"test_directive_on_#{name}") do
      author = type("Author") { field :name, String }
      post = type("Post") { field :title, String; field :likes, Integer; field :author, author }
      schemas = schemas({ them: [[post], -> { Post.order(:id) }] }) { directive(Twice) }
      answers = schemas.map do |schema|
        Twice.calls = 0
        [text_of(outcome { schema.execute(query).to_h }), Twice.calls]
      end
      assert_equal(*answers)
      assert_operator answers.first.last, :>, 0
      assert_plan(query.gsub(" @twice", ""), schemas)
    end
  end

  # Next takes these two for graphql-ruby's own, whatever the schema says.
  { include: [false, true], skip: [true, false] }.each do |name, (leaves_out, takes_in)|
    define_method(:"test_own_directive_named_#{name}") do
      directive = Class.new(GraphQL::Schema::Directive) do
        graphql_name name.to_s
        locations(GraphQL::Schema::Directive::FIELD, GraphQL::Schema::Directive::INLINE_FRAGMENT)
        argument :if, GraphQL::Types::Boolean
        define_singleton_method(:include?) { |_object, arguments, context| arguments[:if] == (context[:who] == :admin) }
      end
      post = type("Post") { field :title, String; field :likes, Integer }
      schemas = schemas({ them: [[post], -> { Post.order(:id) }] }) { directive(directive) }
      [leaves_out, takes_in].product(%i[admin guest]) do |given, who|
        assert_parity("{ them { likes title @#{name}(if: #{given}) } }", schemas, context: { who: who })
        assert_parity("{ them { likes ... @#{name}(if: #{given}) { title } } }", schemas, context: { who: who })
      end
    end
  end

  # Who sees which definition of a field: one document, several viewers.
  def test_visibility
    hidden = Class.new(GraphQL::Schema::Field) do
      def initialize(*arguments, only: nil, **options, &block)
        @only = only
        super(*arguments, **options, &block)
      end

      def visible?(context) = super && (@only.nil? || context[:who] == @only)
    end
    titled = Module.new { include GraphQL::Schema::Interface; graphql_name "Titled"; field_class(hidden); field :title, String, method: :likes }
    post = type("Post") do
      field_class hidden
      implements titled
      field :title, String, only: :admin
      field :secret, String, method: :body, only: :admin
      field :likes, Integer
    end
    [nil, ({ dynamic: true, preload: nil } if defined?(GraphQL::Schema::Visibility))].uniq.each do |options|
      schemas = schemas({ them: [[post], -> { Post.order(:id) }] }) { options ? use(GraphQL::Schema::Visibility, **options) : use(GraphQL::Schema::Warden) }
      %i[admin guest admin guest].each do |who|
        assert_parity("{ them { title likes } }", schemas, context: { who: who })
        assert_parity("{ them { likes secret } }", schemas, context: { who: who })
      end
    end
  end

  # What a resolver does, and a plan is to find.
  def test_subscriptions_context_and_lookahead_above
    seen = []
    author = type("Author") { field :name, String }
    post = type("Post") { field :title, String; field :author, author }
    query = Class.new(Schemas::Base) do
      graphql_name "Query"
      field :them, [post], extras: [:lookahead, *(:path unless Engine::NEXT), :ast_node] # (Next has no path for it.)
      define_method(:them) do |lookahead:, ast_node:, path: nil|
        seen << [lookahead.selections.map(&:name), path, ast_node.name, lookahead.selects?(:author)]
        Post.order(:id)
      end
    end
    assert_plan("{ them { title author { name } } }", make(query: query))
    assert_equal 1, seen.uniq.size
  end

  def test_max_complexity_and_depth
    author = type("Author") { field :name, String, complexity: 100 }
    post = type("Post") { field :title, String; field :author, author }
    schemas = schemas({ them: [[post], -> { Post.order(:id) }] }) { max_complexity(50); max_depth(3); complexity_cost_calculation_mode(:future) if respond_to?(:complexity_cost_calculation_mode) }
    assert_parity("{ them { title author { name } } }", schemas)
    assert_plan("{ them { title } }", schemas)
  end
end

# frozen_string_literal: true

require_relative "../support/answers"

# What graphql-ruby calls besides field resolvers.
class HooksTest < AnswerTest
  Later = Struct.new(:work) do
    def value = work.call
  end

  def test_lazy_values
    query = query_type do
      field :later, Integer
      field :at_once, Integer
      field :late_posts, [Schemas::Post]
      def later = Later.new(-> { ::Post.count })
      def at_once = ::Comment.count
      def late_posts = Later.new(-> { ::Post.order(:id) })
    end
    schemas = Schemas.make(query: query) { lazy_resolve(Later, :value) }
    assert_answer trips_with_lazies(1), "{ a: later atOnce b: later }", schemas
    assert_answer trips_with_lazies(2), "{ latePosts { title author { name } } later posts { title comments { body } } }", schemas
  end

  def test_lazy_values_in_a_list
    post = type(Schemas::Post) do
      field :late_author, Schemas::User
      def late_author = Later.new(-> { object.author })
    end
    query = query_type do
      field :late, [post]
      def late = ::Post.order(:id)
    end
    assert_answer serial_on_next(trips_with_lazies(3)), "{ late { title lateAuthor { name profile { bio } } comments { body commenter { name } } } }",
                  Schemas.make(query: query) { lazy_resolve(Later, :value) }
  end

  def test_resolver_class
    resolver = Class.new(GraphQL::Schema::Resolver) do
      type [Schemas::Comment], null: true
      argument :post_id, GraphQL::Types::ID
      def ready?(**) = ::User.exists?(1)
      def authorized?(post_id:) = ::Post.exists?(post_id)
      def resolve(post_id:) = ::Comment.where(post_id: post_id).order(:id)
    end
    query = query_type { field :notes, resolver: resolver }
    # One round trip for each stage, whatever the number of fields; the commenters.
    assert_answer 4, "{ a: notes(postId: 1) { body commenter { name } } b: notes(postId: 2) { body } c: notes(postId: 999) { body } }",
                  Schemas.make(query: query)
  end

  def test_loads
    resolver = Class.new(GraphQL::Schema::Resolver) do
      type Schemas::Post, null: true
      argument :post_id, GraphQL::Types::ID, loads: Schemas::Post
      def resolve(post:) = post
    end
    query = query_type { field :loaded, resolver: resolver }
    schemas = Schemas.make(query: query) do
      def self.object_from_id(id, _context) = ::Post.find(id)
      def self.resolve_type(_type, object, _context) = ::Comment.exists?(post_id: object.id) ? Schemas::Post : Schemas::User
    end
    assert_answer 3, "{ a: loaded(postId: 1) { title author { name } } b: loaded(postId: 3) { title } users { name } }", schemas
    assert_answer 3, "{ a: loaded(postId: 1) { title author { name } } b: loaded(postId: 999) { title } users { name } }", schemas, errors: 1
  end

  def test_prepare
    query = query_type do
      field :prepared, String do
        argument :id, GraphQL::Types::ID, prepare: ->(id, _context) { ::Post.find(id) }
      end
      def prepared(id:) = id.author&.name
    end
    assert_answer 2, "{ a: prepared(id: 1) b: prepared(id: 2) c: prepared(id: 3) }", Schemas.make(query: query)
  end

  def test_scope_items
    post = type(Schemas::Post) do
      def self.scope_items(items, _context) = items.where(author_id: ::User.order(:id).limit(3).pluck(:id))
    end
    query = query_type do
      field :mine, [post]
      def mine = ::Post.order(:id)
    end
    assert_answer 3, "{ a: mine { title comments { body } } b: mine { id } }", Schemas.make(query: query)
  end

  def test_type_authorized
    post = type(Schemas::Post) do
      def self.authorized?(object, _context) = object.comments.exists?
    end
    query = query_type do
      field :seen, [post, { null: true }]
      field :strict, [post]
      def seen = ::Post.order(:id)
      def strict = ::Post.order(:id)
    end
    schemas = Schemas.make(query: query)
    answer = assert_answer 3, "{ seen { title author { name } } }", schemas
    assert_includes answer["data"]["seen"], nil
    assert_answer 3, "{ seen { title author { name } } users { posts { title } } }", schemas
    assert_answer 2, "{ strict { title } users { name } }", schemas, errors: 1
  end

  def test_unauthorized_object
    post = type(Schemas::Post) do
      def self.authorized?(object, _context) = object.comments.exists?
    end
    query = query_type do
      field :seen, [post, { null: true }]
      def seen = ::Post.order(:id)
    end
    schemas = Schemas.make(query: query) do
      def self.unauthorized_object(error) = raise(GraphQL::ExecutionError, "not post #{error.object.id} of #{::Post.count}")
    end
    assert_same_answer("{ seen { title } }", schemas).then { |answer| assert_operator answer["errors"].size, :>, 1 }
  end

  def test_field_authorized
    field_class = Class.new(GraphQL::Schema::Field) do
      def authorized?(object, _arguments, _context) = object.comments.exists?
    end
    post = type(Schemas::Post) do
      field_class(field_class)
      field :secret, String, resolver_method: :title
      def title = object.title
    end
    query = query_type do
      field :guarded, [post]
      def guarded = ::Post.order(:id)
    end
    assert_answer 2, "{ guarded { secret author { name } } }", Schemas.make(query: query)
  end

  def test_resolve_type
    union = Class.new(GraphQL::Schema::Union) do
      graphql_name "Busy"
      possible_types Schemas::Post, Schemas::User
      def self.resolve_type(object, _context) = ::Comment.exists?(commenter_id: object.id) ? Schemas::User : Schemas::User
    end
    query = query_type do
      field :busy, [union]
      def busy = ::User.order(:id)
    end
    assert_answer serial_on_next(3), "{ busy { __typename ... on User { name posts { title } } } }", Schemas.make(query: query)
  end

  def test_resolve_type_of_an_interface
    named = Module.new do
      include GraphQL::Schema::Interface
      graphql_name "Known"
      field :name, String
    end
    driver = type(Schemas::Base, "Driver") { implements named; field :vehicles, [Schemas::Vehicle] }
    walker = type(Schemas::Base, "Walker") { implements named }
    named.definition_methods { define_method(:resolve_type) { |object, _context| ::Vehicle.exists?(user_id: object.id) ? driver : walker } }
    query = query_type do
      field :known, [named]
      def known = ::User.order(:id)
    end
    assert_answer serial_on_next(3), "{ known { __typename name ... on Driver { vehicles { name } } } }", Schemas.make(query: query) { orphan_types driver, walker }
  end

  def test_field_extension
    extension = Class.new(GraphQL::Schema::FieldExtension) do
      def resolve(object:, arguments:, **) = ::User.exists?(1) ? yield(object, arguments) : nil
      def after_resolve(value:, **) = "#{value} of #{::Post.count}"
    end
    query = query_type do
      field :extended, String, extensions: [extension]
      def extended = ::Comment.count
    end
    assert_answer 3, "{ a: extended b: extended users { posts { comments { body } } } }", Schemas.make(query: query)
  end

  def test_directive
    directive = Class.new(GraphQL::Schema::Directive) do
      graphql_name "ifBusy"
      locations GraphQL::Schema::Directive::FIELD
      def self.include?(_object, _arguments, _context) = ::Comment.exists?
    end
    # The directive; the posts; theirs; the authors.
    assert_answer 4, "{ posts @ifBusy { title author @ifBusy { name } } users { posts { id } } }",
                  Schemas.make { directive(directive) }
  end

  def test_custom_scalar
    scalar = Class.new(GraphQL::Schema::Scalar) do
      graphql_name "UserName"
      def self.coerce_input(value, _context) = ::User.find_by(name: value)&.id
      def self.coerce_result(value, _context) = ::User.find(value).name
    end
    query = query_type do
      field :called, scalar do
        argument :name, scalar
      end
      def called(name:) = name
    end
    schemas = Schemas.make(query: query)
    # A literal is looked up by validation too, a variable before execution: at once.
    assert_same_answer('{ a: called(name: "user 1") b: called(name: "user 2") }', schemas)
    assert_answer 3, "query($name: UserName!) { a: called(name: $name) b: called(name: $name) }", schemas, variables: { "name" => "user 3" }
  end

  # graphql-ruby coerces the items of a list one by one.
  def test_custom_scalar_that_reads_for_its_result
    scalar = Class.new(GraphQL::Schema::Scalar) do
      graphql_name "UserNameById"
      def self.coerce_result(value, _context) = value && ::User.find(value).name
    end
    post = type(Schemas::Post) { field :called, scalar, method: :author_id }
    query = query_type do
      field :called, [post]
      field :called_all, [scalar]
      def called = ::Post.order(:id)
      def called_all = ::User.order(:id).pluck(:id)
    end
    schemas = Schemas.make(query: query)
    assert_answer serial_on_next(2), "{ called { called author { name } } }", schemas
    assert_answer 9, "{ calledAll }", schemas
  end

  # Before execution there are no fibers.
  def test_analyzer
    analyzer = Class.new(GraphQL::Analysis::Analyzer) do
      def result = ::Post.count > 100 ? GraphQL::AnalysisError.new("too many") : nil
    end
    schemas = Schemas.make { query_analyzer analyzer }
    assert_answer 3, "{ posts { title author { name } } }", schemas
    assert_equal 1, alone { schemas.last.execute("{ posts { title author { name } } }") }.size
  end

  def test_visibility
    field_class = Class.new(GraphQL::Schema::Field) { def visible?(_context) = ::Post.exists? }
    query = query_type do
      field_class(field_class)
      field :seen, [Schemas::Post]
      def seen = ::Post.order(:id)
    end
    schemas = Schemas.make(query: query, pipeloader: { compile: false })
    answer = assert_same_answer("{ seen { title author { name } } }", schemas)
    assert_equal 12, answer["data"]["seen"].size
    assert_equal [1, 9], bursts { schemas.last.execute("{ seen { title author { name } } }") }
    refute_empty(alone { schemas.last.execute("{ seen { title } }") })
  end

  # As PerfettoTrace: each fiber has a stack of what has begun on it, and nothing yields where that is empty.
  module Slices
    def slices = Thread.current[:slices] ||= []
    def begin_execute_field(*) = slices.push(:field) && super
    def end_execute_field(*) = slices.pop && super
    def begin_dataloader_source(*) = slices.push(:source) && super
    def end_dataloader_source(*) = slices.pop && super
    def dataloader_fiber_yield(*) = slices.fetch(-1) && super
    def dataloader_fiber_resume(*) = slices.fetch(-1) && super
  end

  def test_a_trace_that_wants_something_to_have_begun
    [true, false].each do |compile|
      schemas = Schemas.make(pipeloader: { compile: compile }) { trace_with(Slices) }
      assert_answer 3, "{ posts { title author { name } commentsCount comments { commenter { name } } } }", schemas
    end
  end

  def test_tracer_that_reads
    tracer = Module.new do
      def execute_multiplex(multiplex:)
        ::Post.count
        super
      end

      def execute_field(field:, query:, ast_node:, arguments:, object:)
        ::Tag.count if field.graphql_name == "posts"
        super
      end
    end
    assert_answer serial_on_next(4), "{ posts { title author { name } } }", Schemas.make { trace_with(tracer) }
  end

  # What is left open when a field parks isn't seen by its siblings.
  def test_dynamic_state
    query = query_type do
      field :popular, Integer
      field :all, Integer
      field :zone, String
      field :now_zone, String
      field :none, Integer
      def popular = ::Post.where(likes: 5..).scoping { ::Post.count * 1000 + ::Post.count }
      def all = ::Post.count
      def none = ::Post.none.scoping { ::User.count + ::Post.count }
      def zone = Time.use_zone("Tokyo") { [::Post.count, Time.zone.name].join(" ") }
      def now_zone = [Time.zone&.name, ::Post.count, Time.zone&.name].join(" ")
    end
    assert_answer 2, "{ popular a: all zone nowZone none b: all }", Schemas.make(query: query)
    assert_nil Time.zone
  end
end

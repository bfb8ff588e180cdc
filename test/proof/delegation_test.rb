# frozen_string_literal: true

require "coverage"
require_relative "../support/plans"

# Resolver methods that do nothing but to ask the record are plain; those that do anything else are graphql-ruby's.
class DelegationTest < PlanTest
  module OfAModule
    def title = object.title
  end

  module OfAnInterface
    include GraphQL::Schema::Interface
    field :title, String
    def title = object.title
  end

  # {how it is written => body of an object type over posts}
  PLAIN = {
    by_send: -> { field :title, String; def title = object.public_send(:title) },
    safe: -> { field :title, String; def title = object&.title },
    endless: -> { field :title, String; def title = object.title },
    lines: lambda {
      field :title, String
      def title
        # what it is called
        object.title
      end
    },
    return: -> { field :title, String; def title() = (return object.title) },
    parentheses: -> { field :title, String; def title = object().title },
    itself: -> { field :title, String; def title = self.object.title },
    local: -> { field :title, String; def title = (object = self.object; object.title) },
    defined: -> { field :title, String; define_method(:title) { object.title } },
    alias: -> { field :title, String, resolver_method: :heading; def title = object.title; alias_method :heading, :title },
    module: -> { field :title, String; include OfAModule },
    interface: -> { implements OfAnInterface },
    parent: -> { field :title, String; superclass.define_method(:title) { object.title } }
  }.freeze

  # Each gives the title, too, so that nothing but the records shows who did it.
  # rubocop:disable Lint/UnusedMethodArgument, Lint/UselessMethodDefinition
  OPAQUE = {
    argument: -> { field :title, String; def title(_more = nil) = object.title },
    keyword: -> { field :title, String; def title(more: nil) = object.title.dup },
    rest: -> { field :title, String; def title(*) = object.title },
    block: -> { field :title, String; def title(&) = object.title },
    further: -> { field :title, String; def title = object.title.dup },
    arguments: -> { field :title, String; def title = object.title(*[]) },
    given_a_block: -> { field :title, String; def title = object.title { 1 } },
    given_no_block: -> { field :title, String; def title = object.title(&nil) },
    index: -> { field :title, String; def title = object[:title] },
    twice: -> { field :title, String; def title = object.title && object.title.dup },
    statements: -> { field :title, String; def title = (@asked = true; object.title) },
    rescue: -> { field :title, String; def title = (object.title rescue nil) },
    ensure: lambda {
      field :title, String
      def title
        object.title
      ensure
        @asked = true
      end
    },
    condition: -> { field :title, String; def title = (object.title if object) },
    super: -> { field :title, String; superclass.define_method(:title) { object.title }; def title = super },
    proc: -> { field :title, String; define_method(:title, &->(*) { object.title }) },
    object: -> { field :title, String; def object = super; def title = object.title },
    record_of_a_reader: -> { field :title, String; attr_reader :title; def initialize(object, context) = super.tap { @title = object.title } },
    protected: -> { field :title, String; def title = object.title; protected :title },
    private: -> { field :title, String; def title = object.title; private :title; def respond_to?(name, *) = name == :title ? true : super; def public_send(name) = send(name) }
  }.freeze
  # rubocop:enable Lint/UnusedMethodArgument, Lint/UselessMethodDefinition

  QUERIES = ["{ them { id title } }", "{ it { t: title id } }", "{ authors { name posts { id title } } }"].freeze

  def self.schemas_of(body)
    lambda do |test|
      parent = Class.new(Schemas::Base) { graphql_name "Parent" }
      post = Class.new(parent) { graphql_name "Delegating"; class_exec(&body); field :id, GraphQL::Types::ID }
      author = test.type("Author") { field :name, String; field :posts, [post] }
      test.schemas({ them: [[post], -> { Post.order(:id) }], it: [post, -> { Post.find(3) }], authors: [[author], -> { User.order(:id) }] })
    end
  end

  PLAIN.each do |name, body|
    define_method(:"test_plain_#{name}") do
      schemas = self.class.schemas_of(body).call(self)
      QUERIES.each { |query| assert_plan(query, schemas, made: query.include?("it {") ? [Post] : []) }
    end
  end

  OPAQUE.each do |name, body|
    define_method(:"test_opaque_#{name}") do
      schemas = self.class.schemas_of(body).call(self)
      QUERIES.each { |query| assert_aside(query, schemas, errors: :any) }
    end
  end

  def test_of_another_name
    schemas = self.class.schemas_of(-> { field :title, String, resolver_method: :heading; def heading = object.body }).call(self)
    assert_plan(QUERIES.first, schemas)
  end

  # As where nobody has told Execution::Next to look for resolver methods.
  class AskedDirectly < GraphQL::Schema::Field
    def execution_mode = :direct_send
    def execution_mode_key = method_sym
  end

  def test_what_the_engines_read_differently
    schemas = self.class.schemas_of(-> { field_class AskedDirectly; field :title, String; def title = object.body }).call(self)
    assert_plan(QUERIES.first, schemas, aside: (Post if Engine::NEXT))
  end

  def test_associations
    user = type("DelegatedUser") { field :name, String; def name = object.name }
    comment = type("DelegatedComment") { field :body, String; def body = object.body; field :commenter, user; def commenter = object.commenter }
    post = type("DelegatedPost") { field :author, user; def author = object.author; field :comments, [comment]; def comments = object.comments }
    schemas = schemas({ posts: [[post], -> { Post.order(:id) }] })
    assert_plan("{ posts { author { name } comments { body commenter { name } } } }", schemas)
  end

  # Somebody wants to see which lines are run.
  def test_while_lines_are_counted
    Coverage.setup(oneshot_lines: true)
    Coverage.resume
    schemas = self.class.schemas_of(PLAIN[:endless]).call(self)
    called = 0
    calls = TracePoint.new(:call) { |call| called += 1 if call.method_id == :title && call.self.is_a?(Schemas::Base) }
    calls.enable { schemas.last.execute("{ them { title } }") }
    assert_equal Post.count, called
  ensure
    Coverage.result
  end

  def test_projection
    schemas = self.class.schemas_of(-> { field :title, String; def title = object.title; field :loud, String; def loud = object.title.dup.upcase }).call(self)
    exact = Class.new(schemas.first) { use Pipeloader, field_exact: true, compile: false }
    narrow, whole = %w[title loud].map do |name|
      WireCounter.events("sql.active_record") { exact.execute("{ them { id #{name} } }") }.filter_map { |it| it[:sql] unless it[:name] == "SCHEMA" }
    end
    assert_equal ['SELECT "posts"."id", "posts"."title" FROM "posts" ORDER BY "posts"."id" ASC'], narrow
    assert_equal ['SELECT "posts".* FROM "posts" ORDER BY "posts"."id" ASC'], whole
  end

  # Next is told of a method of its own.
  if GraphQL::Schema::Field.method_defined?(:execution_mode_key)
    def test_another_method_on_next
      post = type("Post") do
        field :title, String, resolve_legacy_instance_method: :compute_title
        field :line, String, resolve_legacy_instance_method: :compute_line
        def title = object.title
        def compute_title = "next #{context[:x]}"
        def line = "#{object.title}!"
        def compute_line = "next #{object.id} #{context[:x]}"
      end
      query = type("Query") { field :posts, [post]; def posts = ::Post.order(:id) }
      assert_same_answer("{ posts { title line } }", make(query: query))
    end
  end
end

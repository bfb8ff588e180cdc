# frozen_string_literal: true

require_relative "../support/plans"

# Resolver methods that are called directly, and bring objects: whatever they return, the answer is graphql-ruby's.
class ResolverCallsTest < PlanTest
  # What stands for a value that comes later.
  Later = Struct.new(:value) do
    def get = value.is_a?(Exception) ? raise(value) : value
  end

  Reading = Struct.new(:id) do
    def get = ::User.find(id).name
  end

  Pair = Struct.new(:id, :author)
  Skipped = Class.new(GraphQL::Execution::Skip)

  class Shape < GraphQL::Schema::Scalar
    graphql_name "CalledShape"
    def self.coerce_result(value, context) = value == 13 ? raise(GraphQL::ExecutionError, "no #{value}") : [context[:current_path], value]
  end

  class Writer < Schemas::Base
    graphql_name "CalledWriter"
    field :id, ID, null: false
    field :name, String
    field :loud, String
    field :count, Integer
    field :needed, String, null: false
    def loud = "#{object.name}!"
    def count = object.posts.count + context[:path_of].call(self)
    def needed = object.id.even? ? nil : object.name
  end

  # Of which graphql-ruby asks whether it may be seen.
  class Guarded < Schemas::Base
    graphql_name "CalledGuarded"
    field :name, String
    field :loud, String
    def loud = "#{object.name}!"
    def self.authorized?(object, context) = super && object.id.odd?
  end

  module Named
    include GraphQL::Schema::Interface
    graphql_name "CalledNamed"
    field :name, String
    definition_methods { def resolve_type(object, _) = object.id.even? ? Writer : Second }
  end

  class Second < Schemas::Base
    graphql_name "CalledSecond"
    implements Named
    field :id, ID, null: false
  end
  Writer.implements(Named)

  class PostType < Schemas::Base
    graphql_name "CalledPost"
    field :id, ID, null: false
    field :title, String
    field :author, Writer
    field :needed, Writer, null: false
    field :guarded, Guarded
    field :named, Named
    field :answer, Writer
    field :answers, [Writer]
    field :strict, [Writer, { null: false }]
    field :lists, [[Writer]]
    field :related, ["ResolverCallsTest::PostType"]
    field :shape, Shape
    field :shapes, [Shape]
    field :pair, "ResolverCallsTest::PairType"
    def author = object.author.presence
    def needed = (object.author if object.id != 3)
    def guarded = object.author.presence
    def named = object.author.presence
    def answer = context[:answers].fetch(object.id, -> {}).call
    def answers = answer
    def strict = answer
    def lists = [[object.author, nil], nil, []]
    def related = object.author.posts.order(:id).limit(2)
    def shape = object.id == 2 ? 13 : object.likes
    def shapes = [object.likes, 13, nil]
    def pair = Pair.new(object.id, object.author)
  end

  class PairType < Schemas::Base
    graphql_name "CalledPair"
    field :id, ID, null: false
    field :author, Writer
    def author = object.author.presence
  end

  # graphql 2.5 raises where an item fails in a job of its own, as with any dataloader.
  def pair(**options, &block)
    schemas({ posts: [[PostType], -> { ::Post.order(:id).limit(6) }] }, **options) do
      use GraphQL::Dataloader
      lazy_resolve(Later, :get)
      orphan_types Writer, Second
      class_eval(&block) if block
    end
  end

  def context(answers = {})
    -> { { answers: answers, path_of: ->(object) { object.context[:current_path].join(".").size } } }
  end

  def assert_same(query, schemas = pair, answers: {})
    plain, piped = schemas.map { |schema| text_of(outcome { schema.execute(query, context: context(answers).call).to_h }) }
    assert_equal plain, piped
  end

  [
    "{ posts { id author { id name loud } } }", "{ posts { author { loud } title author { name count } } }",
    "{ posts { a: author { name } b: author { loud } needed { name } } }", "{ posts { author { needed } title } }",
    "{ posts { needed { needed } title } }", "{ posts { guarded { name loud } author { name } } }",
    "{ posts { named { __typename name ... on CalledWriter { loud } ... on CalledSecond { id } } } }",
    "{ posts { named { name } ... { named { ...F } } } } fragment F on CalledNamed { ... on CalledWriter { loud count } }",
    "{ posts { lists { name loud } } }", "{ posts { related { title author { loud } related { author { name count } } } } }",
    "{ posts { shape shapes title } }", "{ posts { pair { id author { loud name } } } }",
    "{ posts { author { ...A } } } fragment A on CalledWriter { loud @include(if: true) name @skip(if: true) }"
  ].each_with_index do |query, index|
    define_method(:"test_query_#{index}") { 3.times { assert_same(query) } }
  end

  # What a method may return or raise.
  def answers
    user = -> { ::User.order(:id).first }
    [user, -> {}, -> { Later.new(user.call) }, -> { Later.new(nil) }, -> { Later.new(GraphQL::ExecutionError.new("late")) },
     -> { GraphQL::ExecutionError.new("returned") }, -> { raise GraphQL::ExecutionError, "raised" }, -> { raise "bare" },
     -> { Skipped.new }, -> { raise Skipped }, -> { [GraphQL::ExecutionError.new("a"), GraphQL::ExecutionError.new("b")] },
     -> { [user.call, GraphQL::ExecutionError.new("b"), nil] }, -> { [user.call, Later.new(user.call)] }, -> { [] }, -> { 5 },
     -> { [5] }, -> { ::User.order(:id).limit(2) }, -> { ::User.none }, -> { [user.call, user.call] },
     -> { GraphQL::Execution::Interpreter::RawValue.new({ "raw" => 1 }) }, -> { GraphQL::UnauthorizedError.new("no") },
     -> { ::User.where("no such column") }, -> { { id: 1, name: "hash" } }, -> { ::User.new(name: "new") }, -> { ::Post.first },
     -> { ::User.order(:id).first.tap { |it| it.name = "changed" } }, user,
     -> { ::User.order(:id).first.tap { |it| def it.name = "its own" } }]
  end

  # Whatever a method returns, in whichever order.
  def test_what_is_returned
    %w[answer answers strict].product(["{ name loud }", "{ name count }"]) do |field, selected|
      answers.each_slice(4).with_index do |some, index|
        some.rotate(index % 4).then do |all|
          assert_same("{ posts { id #{field} #{selected} title } }", answers: all.each_with_index.to_h { |it, at| [at + 1, it] })
        end
      end
    end
  end

  # A monitor hears of each field that brings objects.
  def test_monitors
    heard = []
    trace = Module.new do
      define_method(:begin_execute_field) do |field, *rest|
        heard << field.graphql_name
        super(field, *rest)
      end
    end
    counts = pair { trace_with trace }.map do |schema|
      heard.clear
      schema.execute("{ posts { author { name loud } title } }", context: context.call)
      heard.tally
    end
    assert_equal counts.first, counts.last
  end

  # The place where a method is.
  def test_where_it_is
    paths = type("CalledPath") do
      field :id, GraphQL::Types::ID
      field :here, "ResolverCallsTest::Writer"
      def here = context[:paths].push([context[:current_path], context[:current_field]&.path]) && object.author
    end
    made = schemas({ posts: [[paths], -> { ::Post.order(:id).limit(4) }] })
    seen = made.map do |schema|
      found = []
      2.times { schema.execute("{ posts { here { name } x: here { loud } } }", context: { paths: found }) }
      found
    end
    assert_equal(*seen)
  end

  # What somebody assigns is seen by those who come after, and by nobody before.
  class Setting < ActiveSupport::CurrentAttributes
    attribute :note
  end

  def test_what_is_assigned
    assigning = type("CalledAssigning") do
      field :id, GraphQL::Types::ID
      field :author, "ResolverCallsTest::Writer"
      field :note, String
      def author = (Setting.note = "#{Setting.note}#{object.id}") && context[:user]
      def note = "#{Setting.note} of #{object.id}"
    end
    made = schemas({ posts: [[assigning], -> { ::Post.order(:id).limit(4) }] })
    answers = made.map do |schema|
      Setting.reset
      Array.new(2) { text_of(schema.execute("{ posts { note author { loud } again: note } }", context: { user: ::User.first }).to_h) }
    end
    assert_equal(*answers)
  end

  class Growing < Schemas::Base
    graphql_name "CalledGrowing"
    field :name, String
    field :grow, String
    field :late, String
    field :me, "ResolverCallsTest::Growing"
    def grow = object.update!(name: "#{object.name}+") && object.name
    def me = object.itself
    def late = Reading.new(object.id)
  end

  # What is changed, and shown behind that.
  def test_a_record_that_changes_in_a_transaction
    schemas = schemas({ writer: [Growing, -> { ::User.order(:id).first }] })
    ["{ writer { me { name grow after: name } } }", "{ writer { name grow me { name grow } x: me { grow name } } }"].each do |query|
      answers = schemas.map { |schema| rolled_back { text_of(schema.execute(query).to_h) } }
      assert_equal(*answers)
    end
  end

  # A limit, inside of transactions as outside: what is written behind the field's siblings is seen by none of them.
  def test_a_record_that_changes_beside_another_place
    schemas = schemas({ writer: [Growing, -> { ::User.order(:id).first }] })
    plain, piped = schemas.map { |schema| rolled_back { schema.execute("{ writer { me { name grow } x: me { name } } }").to_h } }
    assert_equal "user 1", piped.dig("data", "writer", "x", "name")
    assert_equal "user 1+", plain.dig("data", "writer", "x", "name") unless Engine::NEXT
  end

  # Things whose own methods raise: of an ArgumentError graphql-ruby wants to know whether the method could be called so.
  Failing = Struct.new(:id) do
    def number = Integer("n#{id}")
    def day = Date.parse("day #{id}")
    def needy(one) = one
    def author = raise(ArgumentError, "no author of #{id}")
  end

  class FailingType < Schemas::Base
    graphql_name "CalledFailing"
    field :id, Integer
    field :number, Integer
    field :label, Integer, method: :number
    field :day, String
    field :needy, String
    field :author, "ResolverCallsTest::Writer"
    field :own, Integer
    def own = Integer("own #{object.id}")
  end

  def test_argument_errors_of_the_objects_methods
    schemas = schemas({ things: [[FailingType], -> { Array.new(2) { |id| Failing.new(id) } }] })
    %w[number label day needy author{name} own].each { |field| assert_same_twice("{ things { id #{field} } }", schemas) }
  end

  # As gems have that patch how a record is looked for.
  def test_argument_errors_of_associations
    broken = Class.new(Post) do
      def self.name = "Post"
      belongs_to :author, -> { raise ArgumentError, "no scope" }, class_name: "User"
    end
    failing = type("CalledBroken") do
      field :title, String
      field :author, "ResolverCallsTest::Writer"
    end
    assert_same_twice("{ posts { title author { name } } }", schemas({ posts: [[failing], -> { broken.order(:id).limit(2).to_a }] }))
  end

  # Lazy values of one mutation come before the next one.
  def test_lazy_values_of_mutations
    mutation = type("Mutation") do
      field(:grow, Growing) { argument :by, String }
      define_method(:grow) { |by:| ::User.order(:id).first.tap { |it| it.update!(name: "user 1#{by}") } }
    end
    schemas = schemas({ writer: [Growing, -> {}] }, mutation: mutation) { lazy_resolve(Reading, :get) }
    query = 'mutation { a: grow(by: "a") { name late } b: grow(by: "b") { late name } }'
    answers = schemas.map { |schema| schema.execute(query).to_h }
    assert_equal(*answers.map { |answer| text_of(answer) })
    assert_equal ["user 1a", "user 1b"], answers.last.fetch("data").values.pluck("late")
  ensure
    ::User.order(:id).first.update!(name: "user 1")
  end
end

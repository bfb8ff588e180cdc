# frozen_string_literal: true

require_relative "../support/test_helper"
begin
  require "async"
rescue LoadError
  # Not in every gemfile: AsyncDataloader's tests aren't defined then.
end

# The same answers on whatever runs the resolvers: GraphQL::Dataloader with sources of the user's own, AsyncDataloader,
# Execution::Next.
class EnginesTest < PipeloaderTest
  QUERIES = {
    "{ posts { title author { name profile { bio } } comments { body commenter { name } } } }" => 3,
    "{ posts { commentsCount scoreSum tags { name } lastComment { body } } users { postsCount vehicles { name } } }" => 2,
    "{ employees { name manager { name manager { name } } reports { name } } attachments { name attachable { ... on User { name } ... on Post { title } } } }" => 3,
    "{ postsConnection(first: 3) { nodes { title comments { body } } pageInfo { hasNextPage endCursor } } }" => 2,
  }.freeze

  # What fails in a plan is read again by graphql-ruby, whose error it is: one round trip more.
  FAILING = "{ posts(limit: 2) { title } failingSql users { name } failingList { title } }"

  # async 2.24, the newest for Ruby 3.1, can't run graphql 2.6's AsyncDataloader (its own error, without us too).
  ASYNC = defined?(Async) && (GraphQL::VERSION < "2.6" || RUBY_VERSION >= "3.3")
  NEXT = defined?(GraphQL::Execution::Next) && GraphQL::VERSION >= "2.6"

  Row = Struct.new(:id)

  # @return [Array(Class, Class)] a plain schema, and one that compiles; the block is evaluated in that one
  def with_plans(&block)
    user = Class.new(Schemas::Base) { graphql_name "EngineUser"; field :name, String; field :loud, String; def loud = object.name.dup.upcase }
    counted = Class.new(Schemas::Base) do
      graphql_name "EngineCounted"
      field :id, GraphQL::Types::ID
      field :count, Integer
      def count = ::Post.where(id: ..object.id).count
    end
    post = Class.new(counted) { graphql_name "EnginePost"; field :author, user; field :loud, String; def loud = object.title.dup.upcase }
    row = Class.new(counted) { graphql_name "EngineRow"; field :author, user; def author = ::Post.find(object.id).author }
    query = Class.new(Schemas::Base) do
      graphql_name "Query"
      field :posts, [post]
      field :rows, [row]
      def posts = ::Post.order(:id)
      def rows = Array.new(5) { |n| Row.new(n + 1) }
    end
    [false, true].map { |piped| Class.new(GraphQL::Schema) { query(query); class_eval(&block) && use(Pipeloader, compile: true) if piped } }
  end

  def assert_engine(schemas)
    { **QUERIES, FAILING => (schemas.last.pipeloader_compiles? ? 2 : 1) }.each do |query, trips|
      assert_same_answer(query, schemas)
      assert_round_trips(trips, query) { schemas.last.execute(query) }
    end
    answers = schemas.map do |schema|
      schema.execute("mutation { a: like(id: 1) { likes comments { body } } b: like(id: 1) { likes } }").to_h
    ensure
      Post.where(id: 1).update_all("likes = likes - 2")
    end
    assert_equal(*answers)
  end

  def test_dataloader
    assert_engine(Schemas.make { use GraphQL::Dataloader })
  end

  def test_order_of_use
    schema = Schemas.pair.last
    after = Class.new(schema) { use GraphQL::Dataloader }
    assert_round_trips(3) { after.execute(QUERIES.keys.first) }
    assert_operator after.dataloader_class, :<, Pipeloader::Loader
  end

  if ASYNC
    class Numbers < GraphQL::Dataloader::Source
      def fetch(ids) = ids.map { |id| { name: "number #{id}" } }
    end

    # The argument is loaded by a run inside the run, which the field waits for on a condition.
    def test_async_dataloader_with_arguments_that_a_source_loads
      number = Class.new(GraphQL::Schema::Object) { graphql_name "Number"; field :name, String, hash_key: :name }
      input = Class.new(GraphQL::Schema::InputObject) { graphql_name "Input"; argument :number_id, GraphQL::Types::ID, loads: number }
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field(:loaded, number) { argument :input, input }
        field(:number, number) { argument :id, GraphQL::Types::ID }
        def loaded(input:) = input[:number]
        def number(id:) = dataloader.with(Numbers).load(id)
      end
      schemas = [false, true].map do |piped|
        Class.new(GraphQL::Schema) do
          query query
          use GraphQL::Dataloader::AsyncDataloader
          use Pipeloader if piped
          define_singleton_method(:object_from_id) { |id, context| context.dataloader.with(Numbers).load(id) }
          define_singleton_method(:resolve_type) { |*| number }
        end
      end
      text = "{ number(id: 1) { name } loaded(input: { numberId: 6 }) { name } }"
      answering = Thread.new { schemas.map { |schema| schema.execute(text).to_h } }
      assert answering.join(20), "waits forever"
      assert_equal({ "number" => { "name" => "number 1" }, "loaded" => { "name" => "number 6" } }, answering.value.first["data"])
      assert_equal(*answering.value)
    ensure
      answering&.kill
    end

    # A fiber scheduler ends its fibers itself.
    def test_async_dataloader_whose_response_is_left
      ended = []
      query = Class.new(Schemas::Base) do
        graphql_name "Query"
        field(:a, String)
        field(:b, String)
        def a = Post.count.then { raise "leaves" }
        define_method(:b) do
          Post.count
          Post.count
        ensure
          ended << Post.count
        end
      end
      schema = Schemas.make(query: query, mutation: nil) { use GraphQL::Dataloader::AsyncDataloader }.last
      assert_raises(RuntimeError) { schema.execute("{ a b }") }
      assert_equal [12], ended
    end

    # Subscribers tell one thread's events from another's by the id of its instrumenter.
    def test_async_dataloader_sends_all_events_by_one_instrumenter
      schema = Schemas.make(pipeloader: { compile: false }) { use GraphQL::Dataloader::AsyncDataloader }.last
      schema.execute(QUERIES.keys.first)
      ids = []
      ActiveSupport::Notifications.subscribed(->(_, _, _, id, _) { ids << id }, "sql.active_record") { schema.execute(QUERIES.keys.first) }
      assert_operator ids.size, :>, 1
      assert_equal [ActiveSupport::Notifications.instrumenter.id], ids.uniq
    end

    %i[thread fiber].each do |level|
      define_method(:"test_async_dataloader_#{level}") do
        isolate_by(level)
        # Without us, AsyncDataloader can't share the connection that all fibers have under :thread isolation; under :fiber,
        # each reads by its own, and whose error comes first is for the server to say.
        assert_engine([Schemas.pair.first, Schemas.make(pipeloader: { compile: false }) { use GraphQL::Dataloader::AsyncDataloader }.last])
      end

      # With plans: of objects that are gone through one field after the other, each field is a job of its own.
      define_method(:"test_async_dataloader_#{level}_with_plans") do
        isolate_by(level)
        plain, piped = with_plans { use GraphQL::Dataloader::AsyncDataloader }
        { "{ rows { count author { loud name } } }" => 2, "{ rows { id count } }" => 1,
          "{ posts { id loud author { loud name } count } rows { count } }" => 2 }.each do |query, trips|
          expected = plain.execute(query).to_h
          2.times { assert_equal expected, Timeout.timeout(60) { piped.execute(query).to_h }, query }
          assert_equal trips, WireCounter.events("burst.pipeloader") { piped.execute(query) }.size, query
        end
      end

      # Reads that can't park, writes and transactions of one fiber, while another one's burst is under way.
      define_method(:"test_async_dataloader_#{level}_with_immediate_reads") do
        isolate_by(level)
        query = Class.new(GraphQL::Schema::Object) do
          graphql_name "Query"
          8.times do |index|
            field :"f#{index}", [String]
            define_method(:"f#{index}") do
              seen = [Post.where("pg_sleep(0.001) IS NOT NULL").find(index + 1).title]
              seen << Pipeloader.without_parking { Post.find(index + 2).title } if index.odd?
              Post.transaction { seen << Post.lock.find(index + 3).title << Post.where(id: 0).update_all(likes: 1).to_s } if index % 3 == 0
              seen << Post.connection.select_value("SELECT 'immediate #{index}'")
            end
          end
        end
        schemas = Schemas.make(query: query, mutation: nil) { use GraphQL::Dataloader::AsyncDataloader }
        text = "{ #{(0...8).map { |index| "f#{index}" }.join(" ")} }"
        # Without us eight fields that wait would take eight connections, or one in eight ways at once.
        expected = Schemas.make(query: query, mutation: nil).first.execute(text).to_h
        3.times { assert_equal(expected, Sync { schemas.last.execute(text).to_h }) }
      end
    end
  end

  if NEXT
    # One fiber resolves a field for all objects: right, and no round trip saved yet below the first level.
    class Root
      def posts = Post.order(:id)
      def users = User.order(:id)
      def employees = Employee.order(:id)
      def missing = Post.find(0)
      def failing = Post.where("no_such_column = 1")
    end

    def test_next
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field :posts, [Schemas::Post]
        field :users, [Schemas::User]
        field :employees, [Schemas::Employee]
        field :missing, Schemas::Post
        field :failing, [Schemas::Post]
      end
      schemas = Schemas.make(query: query, mutation: nil) { use GraphQL::Execution::Next }
      [
        "{ posts { title author { name profile { bio } } comments { body commenter { name } } } users { name } }",
        "{ a: posts { tags { name posts { title } } } employees { name manager { name } reports { name } } }",
        "{ posts { topComments { body } lastComment { body } attachments { name } } missing { title } failing { title } }"
      ].each do |text|
        plain, piped = schemas.map { |schema| schema.execute_next(text, root_value: Root.new).to_h.to_json }
        assert_equal plain, piped
      end
      assert_operator WireCounter.events("burst.pipeloader") { schemas.last.execute_next("{ posts { title } }", root_value: Root.new) }.size, :>=, 1
    end

    class Current < ActiveSupport::CurrentAttributes
      attribute :tenant
    end

    class AsTenant < GraphQL::Schema::FieldExtension
      def resolve(objects:, arguments:, **) = Current.set(tenant: 7) { yield(objects, arguments) }
    end

    class OfHighScore < GraphQL::Schema::FieldExtension
      def resolve(objects:, arguments:, **) = Comment.where("score > 6").scoping { yield(objects, arguments) }
    end

    class FirstOnes < GraphQL::Schema::Directive
      include GraphQL::Execution::PostProcessor
      graphql_name "firstOnes"
      locations FIELD
      def self.resolve_field(*) = new(nil)
      def initialize(_) = nil
      def after_resolve(relations) = relations.map { |relation| relation.limit(1) }
    end

    # Fields of posts, each of which is called for all twelve of them.
    def assert_same_on_next(text, &fields)
      post = Class.new(Schemas::Base) do
        graphql_name "NextPost"
        class_eval(&fields)
      end
      query = Class.new(Schemas::Base) do
        graphql_name "Query"
        field :posts, [post], resolve_static: :posts
        define_singleton_method(:posts) { |_context| Post.order(:id) }
      end
      schemas = Schemas.make(query: query, mutation: nil) do
        use GraphQL::Execution::Next, as_default: true
        use GraphQL::Dataloader
        directive FirstOnes
        rescue_from(Timeout::Error) { |error| raise GraphQL::ExecutionError, error.message }
      end
      assert_same_answer(text, schemas)
    end

    # What an extension has begun around the resolvers is there for all of them.
    def test_next_within_an_extensions_block
      assert_same_on_next("{ posts { tenant best } }") do
        field :tenant, String, extensions: [AsTenant], resolve_each: :tenant
        field :best, Integer, extensions: [OfHighScore], resolve_each: :best
        define_singleton_method(:tenant) { |post, _| "#{Current.tenant} #{Comment.where(post_id: post.id).count} #{Current.tenant}" }
        define_singleton_method(:best) { |post, _| Comment.where(post_id: post.id).count }
      end
    end

    # (An error of that class may be a Timeout's around all; a subclass is the resolver's own.)
    def test_next_where_a_resolver_meets_a_timeout
      late = Class.new(Timeout::Error)
      answer = assert_same_on_next("{ posts { slow } }") do
        field :slow, Integer, resolve_legacy_instance_method: true
        define_method(:slow) { Comment.where(post_id: object.id).count.tap { raise late, "too late" if object.id == 3 } }
      end
      assert_equal ["too late"], answer["errors"].map { |error| error["message"] }
    end

    Later = Struct.new(:value)

    class Greeting < GraphQL::Schema::FieldExtension
      def resolve(objects:, arguments:, **) = yield(objects, arguments).map { |name| "Hi, #{name}!" }
    end

    class Greeted < GraphQL::Schema::Resolver
      type String, null: true
      extension Greeting
      def resolve = "#{object.id} #{Comment.where(post_id: object.id).count}"
    end

    class Promised < GraphQL::Schema::Resolver
      type Schemas::User, null: true
      def resolve = Later.new(User.find_by(id: object.author_id))
    end

    class Refusing < GraphQL::Schema::Resolver
      type Integer, null: true
      argument :score, Integer
      def authorized?(score:) = Comment.where(post_id: object.id).where("score > ?", score).exists? || raise(GraphQL::ExecutionError, "none")
      def resolve(score:) = score
    end

    class Rename < GraphQL::Schema::RelayClassicMutation
      argument :name, String
      field :name, String, hash_key: :name
      field :user, Schemas::User, hash_key: :user
      def resolve(name:) = Later.new({ name: name, user: User.find(1) })
    end

    # Under a dataloader graphql-ruby 2.6.14 goes on with a field before its resolvers' results are there: an extension is given
    # nil, and lazy values aren't resolved.
    def test_next_with_resolver_classes_and_no_dataloader
      post = Class.new(Schemas::Base) do
        graphql_name "NextPost"
        field :greeted, resolver: Greeted
        field :promised, resolver: Promised
        field :refusing, resolver: Refusing
      end
      query = Class.new(Schemas::Base) do
        graphql_name "Query"
        field :posts, [post], resolve_static: :posts
        define_singleton_method(:posts) { |_context| Post.order(:id) }
      end
      mutation = Class.new(Schemas::Base) { graphql_name "Mutation"; field :rename, mutation: Rename }
      schemas = [false, true].map do |piped|
        Class.new(GraphQL::Schema) do
          query query
          mutation mutation
          lazy_resolve Later, :value
          use GraphQL::Execution::Next, as_default: true
          self.dataloader_class = GraphQL::Dataloader::NullDataloader
          use Pipeloader if piped
        end
      end
      assert_same_answer("{ posts { greeted } }", schemas)
      answer = assert_same_answer("{ posts { greeted promised { name } refusing(score: 6) } }", schemas)
      assert_equal "Hi, 1 #{Comment.where(post_id: 1).count}!", answer["data"]["posts"].first["greeted"]
      assert_round_trips(2) { schemas.last.execute("{ posts { greeted promised { name } refusing(score: 6) } }") }
      assert_same_answer('mutation { rename(input: { name: "x", clientMutationId: "7" }) { name user { name } clientMutationId } }', schemas)
    end

    def test_next_with_a_directive_that_sees_relations
      answer = assert_same_on_next("{ posts { failing @firstOnes { body } } }") do
        field :failing, [Schemas::Comment], resolve_each: :failing
        define_singleton_method(:failing) { |post, _| Comment.where(post_id: post.id).where("1 / (#{post.id} - 3) > -9").order(:id) }
      end
      assert_match(/division by zero/, answer["errors"].first["message"])
    end
  end

  # What a resolver's fiber is loading, a source asks for, too: while that runs no resolver's fiber is woken.
  class CommentsOf < GraphQL::Dataloader::Source
    def fetch(posts) = posts.map { |post| post.comments.map(&:body) }
  end

  def test_source_and_resolver_load_the_same
    post = Class.new(Schemas::Base) do
      graphql_name "SourcedPost"
      field :mine, Integer
      field :theirs, [String]
      def mine = object.comments.map(&:id).sum
      def theirs = dataloader.with(CommentsOf).load(object)
    end
    query = Class.new(Schemas::Base) do
      graphql_name "Query"
      field :posts, [post]
      def posts = Post.order(:id)
    end
    schemas = Schemas.make(query: query, mutation: nil) { use GraphQL::Dataloader }
    ["{ posts { mine theirs } }", "{ posts { theirs mine } }"].each { |text| Timeout.timeout(20) { assert_same_answer(text, schemas) } }
  end

  # Where a field's arguments are looked at: what `context[:current_path]` says, and the path of an error.
  def test_position_of_arguments
    comment = Class.new(Schemas::Base) do
      graphql_name "PlacedComment"
      field(:it, String) { argument :no, Integer, prepare: ->(value, context) { "#{value} #{context[:current_path]}" } }
      field(:few, Integer) { argument :no, Integer, validates: { numericality: { less_than: 3 } } }
      def it(no:) = no
      def few(no:) = object.post&.likes.to_i + no
    end
    query = Class.new(Schemas::Base) { graphql_name "Query"; field :comments, [comment]; def comments = ::Comment.order(:id).limit(3) }
    assert_same_answer("{ comments { it(no: 1) few(no: 2) } }", Schemas.make(query: query))
    assert_same_answer("{ comments { few(no: 5) it(no: 1) } }", Schemas.make(query: query))
  end
end

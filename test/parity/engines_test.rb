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
    "{ posts(limit: 2) { title } failingSql users { name } failingList { title } }" => 1
  }.freeze

  # async 2.24, the newest for Ruby 3.1, can't run graphql 2.6's AsyncDataloader (its own error, without us too).
  ASYNC = defined?(Async) && (GraphQL::VERSION < "2.6" || RUBY_VERSION >= "3.3")
  NEXT = defined?(GraphQL::Execution::Next) && GraphQL::VERSION >= "2.6"

  def assert_engine(schemas)
    QUERIES.each do |query, trips|
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

  # Those too that a fiber of the plain schema leased for good (`Post.connection`) and took along.
  def give_connections_back
    ActiveRecord::Base.connection_handler.each_connection_pool { |pool| [pool.release_connection, pool.reap] }
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
    %i[thread fiber].each do |level|
      define_method(:"test_async_dataloader_#{level}") do
        ActiveSupport::IsolatedExecutionState.isolation_level = level
        # Without us, AsyncDataloader can't share the connection that all fibers have under :thread isolation; under :fiber,
        # each reads by its own, and whose error comes first is for the server to say.
        assert_engine([Schemas.pair.first, Schemas.make { use GraphQL::Dataloader::AsyncDataloader }.last])
      ensure
        give_connections_back
        ActiveSupport::IsolatedExecutionState.isolation_level = :thread
      end

      # Reads that can't park, writes and transactions of one fiber, while another one's burst is under way.
      define_method(:"test_async_dataloader_#{level}_with_immediate_reads") do
        ActiveSupport::IsolatedExecutionState.isolation_level = level
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
      ensure
        give_connections_back
        ActiveSupport::IsolatedExecutionState.isolation_level = :thread
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
  end
end

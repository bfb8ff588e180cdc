# frozen_string_literal: true

require_relative "../support/test_helper"
require_relative "../support/faults"
require "open3"

# PostgreSQL is pipelined, SQLite is narrowed, anything else refuses.
class AdapterTest < PipeloaderTest
  # An adapter that nobody has heard of. It would answer.
  class FakeAdapter < ActiveRecord::ConnectionAdapters::AbstractAdapter
    ADAPTER_NAME = "Fake"

    def select_all(*, **) = ActiveRecord::Result.new(["one"], [[1]])
    def active? = true
    def connect = nil
    def disconnect! = nil
    alias reconnect connect
  end

  ActiveRecord::ConnectionAdapters.register("fake", "AdapterTest::FakeAdapter", File.expand_path(__FILE__))

  class Elsewhere < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(adapter: "fake")
  end

  Minitest.after_run { Elsewhere.remove_connection }

  def answers
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :posts, [Schemas::Post], null: false
      field :elsewhere, Integer
      field :disabled, Integer
      def posts = ::Post.order(:id)
      def elsewhere = Elsewhere.with_connection { |connection| connection.select_value("SELECT 1") }
      def disabled = Pipeloader.disabled { elsewhere }
    end
    Schemas.make(query: query, mutation: nil)
  end

  def test_postgresql_is_pipelined
    assert_round_trips(3) { Schemas.pair.last.execute("{ posts { title author { name } comments { body commenter { name } } } }") }
  end

  def test_another_adapter_is_refused_by_its_first_read
    error = assert_raises(Pipeloader::UnsupportedAdapterError) { answers.last.execute("{ elsewhere }") }
    assert_kind_of RuntimeError, error
    assert_match(/this read is for Fake\. Wrap it in `Pipeloader\.disabled/, error.message)
  end

  # A connection that is leased without a block.
  def test_another_adapters_own_connection
    assert_raises(Pipeloader::UnsupportedAdapterError) { Schemas.resolve { Elsewhere.lease_connection.select_value("SELECT 1") } }
  end

  def test_a_schema_of_two_adapters_works_for_the_one
    assert_same_answer("{ posts { title author { name } } }", answers)
  end

  def test_outside_of_a_response_it_answers
    assert_equal 1, Elsewhere.with_connection { |connection| connection.select_value("SELECT 1") }
    assert_equal 1, answers.first.execute("{ elsewhere }").to_h.dig("data", "elsewhere")
    assert_equal 1, Pipeloader.disabled { answers.last.execute("{ elsewhere }").to_h.dig("data", "elsewhere") }
    assert_equal 1, answers.last.execute("{ disabled }").to_h.dig("data", "disabled")
  end

  # What is sent there isn't sent twice.
  def test_a_write_by_another_adapter
    written = []
    ActiveSupport::LogSubscriber.logger = Logger.new(nil)
    root = Class.new(Schemas::Query) do
      graphql_name "Query"
      field :write, Integer
      define_method(:write) do
        Pipeloader.disabled { Elsewhere.with_connection { |connection| connection.send(:with_raw_connection) { written << 1 } } }
        1
      end
    end
    schema = Schemas.make(query: root, mutation: nil, pipeloader: { breaker: true }).last
    assert_raises(NoMethodError) { Faults.raising(:over) { schema.execute("{ write }") } }
    assert_equal [1], written
  ensure
    ActiveSupport::LogSubscriber.logger = nil
    Pipeloader.breaker.reset
  end

  # As PostGIS' is.
  class DerivedAdapter < ActiveRecord::ConnectionAdapters::PostgreSQLAdapter
  end

  ActiveRecord::ConnectionAdapters.register("derived", "AdapterTest::DerivedAdapter", File.expand_path(__FILE__))

  class DerivedPost < ActiveRecord::Base
    self.table_name = "posts"
    establish_connection(**TestDatabase.hash, adapter: "derived")
  end

  Minitest.after_run { DerivedPost.remove_connection }

  def test_derived_adapters_are_pipelined_and_compiled
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :posts, [Schemas::Post], null: false
      def posts = DerivedPost.order(:id)
    end
    assert Pipeloader::Patches::UnsupportedAdapter.supports?(DerivedAdapter)
    schemas = Schemas.make(query: query, mutation: nil)
    text = "{ posts { title } }"
    assert_same_answer(text, schemas)
    assert(Pipeloader.explain(schemas.last, text).to_h[:fields].first[:compiled])
    assert_equal(1, WireCounter.events("burst.pipeloader") { schemas.last.execute(text) }.size)
  end

  # A process without pg.
  def test_sqlite
    output, errors, status = Open3.capture3(RbConfig.ruby, "-W", "-I", File.expand_path("../../lib", __dir__), File.expand_path("../support/sqlite_run.rb", __dir__))
    assert status.success?, errors
    assert_empty errors.lines.grep(%r{/pipeloader/(?:lib|test)/})
    run = JSON.parse(output)
    run["answers"].each { |plain, exact| assert_equal plain, exact }
    assert_equal ['SELECT "posts"."id", "posts"."title", "posts"."author_id" FROM "posts" ORDER BY "posts"."id" ASC',
                  'SELECT "authors"."id", "authors"."name" FROM "authors" WHERE "authors"."id" = ? LIMIT ?'], run["sql"]
    assert_equal [1, 0, 0], run.values_at("missed", "bursts", "pg")
  end

  # One response of PostgreSQL's rows and SQLite's: while a transaction of a resolver's is open there, nothing parks here.
  def test_sqlite_beside_postgresql
    inside = []
    query = Class.new(GraphQL::Schema::Object) do
      graphql_name "Query"
      field :notes, [String], null: false
      field :posts, [Schemas::Post], null: false
      define_method(:notes) do
        Note.transaction do
          Note.create!(text: "new")
          count = ::Post.count
          inside << Note.connection.open_transactions
          [*Note.order(:id).pluck(:text), count.to_s].tap { Note.delete_all }
        end
      end
      def posts = Note.count.zero? ? ::Post.order(:id) : []
    end
    Note.connection.create_table(:notes, force: true) { |t| t.string :text } # in memory: gone with its connection
    assert_same_answer("{ notes posts { title comments { body } } }", Schemas.make(query: query, mutation: nil))
    assert_equal [1, 1], inside
  end

  # Blocks of Pipeloader.map write there, too, in their order, and not behind one that fails.
  def test_writes_to_sqlite_in_turn
    Note.connection.create_table(:notes, force: true) { |t| t.string :text }
    posts = ::Post.order(:id).to_a
    found = [->(values, &block) { values.each(&block) }, ->(values, &block) { Pipeloader.map(values, &block) }].map do |map|
      [nil, 1].map do |failing|
        Note.delete_all
        error = outcome_of do
          map.call(posts) do |post|
            ::Comment.where(post_id: post.id).count.then { |count| ::Comment.where(score: count).count } if post.id == 1
            ::Post.find(post.id)
            raise IOError if post.id == failing

            Note.create!(text: post.title)
          end
        end
        [error, Note.order(:id).pluck(:text)]
      end
    end
    assert_equal(*found)
    assert_equal [nil, IOError], found.first.map(&:first)
    assert_equal [12, 0], found.first.map { |_, texts| texts.size }
  end

  def outcome_of
    yield
    nil
  rescue IOError => e
    e.class
  end

  # A sibling would be in it.
  def test_nothing_parks_in_a_transaction_of_another_adapters
    inside = []
    plain, piped = Schemas.resolve(3, before: -> { Elsewhere.connection_pool.release_connection }) do |index|
      Elsewhere.lease_connection.transaction do
        inside << index
        ::Post.find(index + 1).title.tap { inside << index }
      end
    end
    assert_equal plain, piped
    assert_equal [0, 0, 1, 1, 2, 2] * 2, inside
  end

  class Note < ActiveRecord::Base
    establish_connection(adapter: "sqlite3", database: ":memory:")
  end

  Minitest.after_run { Note.remove_connection }
end

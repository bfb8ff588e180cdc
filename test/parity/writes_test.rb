# frozen_string_literal: true

require "timeout"
require_relative "../support/plans"

# A field's resolver writes, in a query: what was asked for before doesn't see it, what is asked for after it does.
class PlanWritesTest < PlanTest
  WRITES = {
    update_all: -> { ::User.update_all("name = name || '!'") },
    transaction: -> { ::User.transaction { ::User.update_all("name = name || '!'") } },
    begun: lambda do
      ::User.with_connection do |connection|
        connection.begin_transaction
        ::User.update_all("name = name || '!'").tap { connection.commit_transaction }
      end
    end,
    rolled_back: -> { ::User.transaction { ::User.update_all("name = name || '!'").then { raise ActiveRecord::Rollback } } },
    execute: -> { ::User.with_connection { |connection| connection.execute("UPDATE users SET name = name || '!'").clear } },
    scoped: -> { ::User.where(id: ..4).scoping { ::User.update_all("name = name || '!'") } }
  }.freeze

  Named = Class.new(Schemas::Base) { graphql_name "NamedUser"; field :name, String }
  Loud = Class.new(Schemas::Base) do
    graphql_name "LoudUser"
    field :name, String
    field :loud, String
    def loud = object.name.dup.upcase
  end

  def schemas_of(write, writers)
    post = type("WrittenPost") do
      field :id, Integer
      field :author, Named
      field :loud_author, Loud, method: :author
      field :opaque_author, Loud
      field :commenters, [Named], null: false
      field :loud_commenters, [Loud], null: false, method: :commenters
      field :names, String
      field :shouting, Integer, null: false
      field :quiet, [Named], null: false
      field :page, Named.connection_type, null: false, method: :commenters
      field :written, String
      def opaque_author = object.author.presence
      def shouting = object.commenters.where("users.name LIKE '%!'").count
      def quiet = object.commenters.where("users.name NOT LIKE '%!'")
      def names = object.author&.name&.dup
      define_method(:written) { writers.include?(object.id) ? write.call && "written" : "not" }
    end
    query = type("Query") do
      field :posts, [post], null: false
      field :post, post
      field :written, String
      def posts = Writings.order(:id).limit(6)
      def post = Writings.find(2)
      define_method(:written) { write.call && "written" }
    end
    make(query: query)
  end

  class Writings < ActiveRecord::Base
    self.table_name = "posts"
    belongs_to :author, class_name: "User", optional: true
    has_many :comments, foreign_key: :post_id
    has_many :commenters, -> { order(:id) }, through: :comments, source: :commenter
    has_many :slow, -> { where("pg_sleep(0.02) IS NOT NULL").order(:id) }, through: :comments, source: :commenter
  end

  def teardown
    super
    restore
  end

  def restore = ::User.update_all("name = 'user ' || id")

  FIELDS = { author: "author { name }", loud_author: "loudAuthor { loud name }", opaque_author: "opaqueAuthor { loud name }",
             commenters: "commenters { name }", loud_commenters: "loudCommenters { loud }", names: "names", shouting: "shouting", quiet: "quiet { name }",
             page: "page(first: 2) { nodes { name } pageInfo { hasNextPage } }" }
           .except(*(:page if GraphQL::VERSION < "2.6" || Engine::NEXT)).freeze
  # (Before 2.6 a field with arguments is begun after those without. Next lists a page's nodes after the page's siblings: see
  # docs/internals.md, "Query fields that write".)

  # What is loaded for one of these, the others find.
  AUTHORS = %i[author loud_author opaque_author names].freeze

  def assert_alike(text, schemas)
    plain, piped = schemas.map { |schema| text_of(schema.execute(text).to_h).tap { restore } }
    assert_equal plain, piped, text
    plain
  end

  WRITES.each do |name, write|
    FIELDS.each do |field, selection|
      define_method(:"test_#{name}_beside_#{field}") do
        [[3], [1, 2], (1..12).to_a].each do |writers|
          schemas = schemas_of(write, writers)
          answer = assert_alike("{ posts { #{selection} written } }", schemas)
          assert_includes answer.downcase, "!" unless name == :rolled_back || %i[shouting quiet].include?(field) || Engine::NEXT
          assert_alike("{ posts { written #{selection} } }", schemas)
          assert_alike("{ post { #{selection} written } }", schemas)
          assert_alike("{ post { written #{selection} id } }", schemas)
        end
      end
    end
  end

  # @yieldreturn what a field beside slow ones answers that writes
  # @return [Array<Array<Hash>>] posts without Pipeloader and with it, for each kind of slow ones
  def beside_slow_ones(&written)
    post = type("SlowPost") do
      field :id, Integer
      field :slow, [Named], null: false
      field :loud_slow, [Loud], null: false, method: :slow
      field :written, String
      define_method(:written, &written)
    end
    query = type("Query") { field :posts, [post]; def posts = Writings.order(:id).limit(6) }
    schemas = make(query: query)
    ["slow { name }", "loudSlow { loud }"].map do |selection|
      schemas.map { |schema| schema.execute("{ posts { #{selection} written } }").to_h["data"]["posts"] }
    end
  end

  # Who is about to write, and is struck while that is read which was asked for before: the others have theirs nevertheless.
  def test_struck
    beside_slow_ones do
      # As by a thread of the application's own.
      Timeout.method(:timeout).super_method.call(0.05) { ::User.update_all("name = name") && "written" }
    rescue Timeout::Error
      "struck"
    end.each do |plain, piped|
      assert_includes piped.pluck("written"), "struck" unless Engine::NEXT
      assert_equal(*[plain, piped].map { |posts| posts.map { |it| it.except("written") } })
    end
  end

  # That isn't what its own limit is for.
  def test_a_timeout_around_a_write
    beside_slow_ones { Timeout.timeout(0.1) { ::User.update_all("name = name") && "written" } }.each do |plain, piped|
      assert_equal ["written"] * 6, plain.pluck("written")
      assert_equal plain, piped
    end
  end

  # Several associations that are being gathered, one behind what writes.
  def test_several
    schemas = schemas_of(WRITES[:update_all], [2, 4])
    own, others = FIELDS.partition { |name, _| AUTHORS.include?(name) }.map { |some| some.map(&:last) }
    [*own.product(others), *others.product(own)].each do |first, second|
      assert_alike("{ posts { #{first} written #{second} } }", schemas)
    end
  end
end

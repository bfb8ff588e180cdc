# frozen_string_literal: true

require_relative "../support/plans"

# Inside `ActiveRecord::Base.cache { }`, as in every request to Rails: what was asked for before a write isn't found in the cache by
# those who ask after it.
class QueryCacheTest < PlanTest
  Named = Class.new(Schemas::Base) { graphql_name "CachedUser"; field :name, String }
  Loud = Class.new(Schemas::Base) do
    graphql_name "LoudCachedUser"
    field :name, String
    field :loud, String
    def loud = object.name.dup.upcase
  end

  WRITES = {
    update_all: -> { ::User.update_all("name = name || '!'") },
    execute: -> { ::User.with_connection { |connection| connection.execute("UPDATE users SET name = name || '!'").clear } },
    exec_update: -> { ::User.with_connection { |connection| connection.exec_update("UPDATE users SET name = name || '!'") } },
    transaction: -> { ::User.transaction { ::User.update_all("name = name || '!'") } },
    twice: -> { 2.times { ::User.update_all("name = name || '!'") } },
    dirties_nothing: -> { ::User.uncached(dirties: false) { ::User.update_all("name = name || '!'") } }
  }.freeze

  READS = {
    find: ->(id) { ::User.find(id).name.dup },
    find_by: ->(id) { ::User.find_by(name: ["user #{id}", "user #{id}!", "user #{id}!!"])&.name.to_s.dup },
    pluck: ->(id) { ::User.where(id: id).pluck(:name).join },
    relation: ->(id) { ::User.where(id: id..).order(:id).limit(2).map(&:name).join },
    count: ->(_) { ::User.where("name LIKE '%!'").count.to_s },
    # Sent once for equal ones, by the cache alone.
    function: ->(id) { ::User.with_connection { |connection| connection.select_value("SELECT name || left(random()::text, 0) FROM users WHERE id = #{id}").dup } },
    association: ->(id) { ::Post.instantiate({ "id" => 1, "author_id" => id }).author.name.dup }
  }.freeze

  def teardown
    super
    restore
  end

  def restore = ::User.update_all("name = 'user ' || id")

  # In a cache as deep as it is in an application, and then what the rest of that finds.
  def assert_alike_in_a_cache(text, schemas, depth: 1, &after)
    outcomes = schemas.map do |schema|
      in_caches(depth) { Array.new(2) { [schema.execute(text).to_h, after&.call(schema)] } }.tap { restore }
    end
    assert_equal text_of(outcomes.first), text_of(outcomes.last), text
    outcomes.first
  end

  def in_caches(depth, &block)
    depth.zero? ? yield : ActiveRecord::Base.cache { ::Audit.cache { in_caches(depth - 1, &block) } }
  end

  def reader(read, write, mutation: false)
    type("Query") do
      field(:read, String) { argument :id, Integer }
      field(:written, String) { argument :id, Integer, required: false } unless mutation
      define_method(:read) { |id:| read.call(id) }
      define_method(:written) { |**| write.call && "written" }
    end
  end

  READS.each do |form, read|
    WRITES.each do |name, write|
      define_method(:"test_#{form}_before_and_after_#{name}") do
        schemas = make(query: reader(read, write))
        ["{ a: read(id: 3) c: written(id: 1) d: read(id: 3) }",
         "{ a: read(id: 3) b: read(id: 3) x: read(id: 4) c: written(id: 1) d: read(id: 3) e: read(id: 3) }",
         "{ c: written(id: 1) a: read(id: 3) d: written(id: 2) e: read(id: 3) }"].each do |text|
          [1, 2].each { |depth| assert_alike_in_a_cache(text, schemas, depth: depth) { [read.call(3), read.call(4)] } }
        end
      end
    end
  end

  # What is read before the write, and is read again after the response.
  def test_the_cache_after_a_response
    schemas = make(query: reader(READS[:find], WRITES[:update_all]))
    (first,), = assert_alike_in_a_cache("{ a: read(id: 3) c: written(id: 1) d: read(id: 3) }", schemas)
    assert_equal ["user 3", "user 3!"], first["data"].values_at("a", "d")
  end

  # The same database by a pool of its own, as in the writing and the reading role.
  class Twin < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(TestDatabase.hash)
  end

  class TwinUser < Twin
    self.table_name = "users"
  end

  # Both have been answered by one burst when the first one writes. (Which of them see that, differs from a serial run; what is
  # asked for after the response is to see it.)
  { one_pool: ::User, another_pool: TwinUser }.each do |name, writer|
    define_method(:"test_answered_before_a_write_by_#{name}") do
      write = -> { ::User.find(4) && writer.update_all("name = name || '!'") }
      schemas = make(query: reader(READS[:find], write))
      seen = schemas.map do |schema|
        in_caches(1) { schema.execute("{ c: written a: read(id: 3) b: read(id: 4) }").to_h && [3, 4].map(&READS[:find]) }.tap { restore }
      end
      assert_equal [["user 3!", "user 4!"]] * 2, seen
    end
  end

  # A cache that is emptied by hand, without a write: equal reads before and after it are two.
  def test_cleared_by_hand
    sequence = "query_cache_test_#{SecureRandom.hex(4)}"
    ::User.with_connection { |connection| connection.execute("CREATE SEQUENCE #{sequence}") }
    read = ->(_) { ::User.with_connection { |connection| connection.select_value("SELECT nextval('#{sequence}')").to_s } }
    schemas = make(query: reader(read, -> { ActiveRecord::Base.connection_handler.each_connection_pool(&:clear_query_cache) }))
    seen = schemas.map do |schema|
      ::User.with_connection { |connection| connection.execute("ALTER SEQUENCE #{sequence} RESTART") }
      in_caches(1) { schema.execute("{ a: read(id: 1) b: read(id: 1) x: written(id: 1) c: read(id: 1) d: read(id: 1) }")["data"].values_at("a", "b", "c", "d") }
    end
    assert_equal [%w[1 1 2 2]] * 2, seen
  ensure
    ::User.with_connection { |connection| connection.execute("DROP SEQUENCE IF EXISTS #{sequence}") }
  end

  # Nothing is written: one statement, and what it brought is kept.
  def test_what_is_kept
    schema = make(query: reader(READS[:find], WRITES[:update_all])).last
    ActiveRecord::Base.cache do
      statements = Array.new(2) do
        sent = []
        ActiveSupport::Notifications.subscribed(->(*, payload) { sent << payload[:statements] }, "burst.pipeloader") do
          schema.execute("{ a: read(id: 3) b: read(id: 3) }")
        end
        sent
      end
      assert_equal [[1], []], statements
    end
  end

  def test_mutations
    mutation = type("Mutation") do
      field(:rename, Named) { argument :id, Integer }
      field(:loud, Loud) { argument :id, Integer }
      define_method(:rename) { |id:| ::User.find(id).tap { WRITES[:update_all].call } }
      define_method(:loud) { |id:| ::User.find(id).tap { |user| user.update!(name: "#{user.name}?") } }
    end
    schemas = make(query: reader(READS[:find], WRITES[:update_all]), mutation: mutation)
    assert_alike_in_a_cache("mutation { a: rename(id: 3) { name } b: rename(id: 3) { name } c: loud(id: 3) { loud } d: loud(id: 3) { name } }", schemas) { ::User.find(3).name }
  end

  # Records, plans and associations below a list, where one of the objects writes.
  FIELDS = { author: "author { name }", loud_author: "loudAuthor { loud }", names: "names", commenters: "commenters { name }",
             shouting: "shouting", quiet: "quiet { name }", opaque: "opaque" }.freeze

  def nested_schemas(write, writers)
    post = type("CachedPost") do
      field :id, Integer
      field :author, Named
      field :loud_author, Loud, method: :author
      field :commenters, [Named], null: false
      field :names, String
      field :shouting, Integer, null: false
      field :quiet, [Named], null: false
      field :opaque, String
      field :written, String
      def names = object.author&.name.dup
      def shouting = object.commenters.where("users.name LIKE '%!'").count
      def quiet = object.commenters.where("users.name NOT LIKE '%!'")
      def opaque = ::User.where(id: context[:id] || 3).pluck(:name).join
      define_method(:written) { writers.include?(object.id) ? write.call && "written" : "not" }
    end
    make(query: type("Query") { field :posts, [post]; def posts = ::Post.order(:id).limit(context[:limit] || 6); field :post, post; def post = ::Post.find(3) })
  end

  FIELDS.each do |field, selection|
    %i[update_all execute transaction].each do |name|
      define_method(:"test_#{name}_beside_#{field}") do
        [[3], [1, 2], (1..12).to_a].each do |writers|
          schemas = nested_schemas(WRITES[name], writers)
          after = lambda do |schema|
            posts = (1..6).map { |limit| schema.execute("{ posts { #{selection} } }", context: { limit: limit }).to_h }
            [posts, ::User.order(:id).pluck(:name), ::User.where(id: 3).pluck(:name)]
          end
          ["{ posts { #{selection} written } }", "{ posts { written #{selection} } }", "{ post { #{selection} written id } }"].each do |text|
            assert_alike_in_a_cache(text, schemas, &after)
          end
        end
      end
    end
  end
end

# frozen_string_literal: true

require_relative "../support/answers"

class SingleFlightTest < AnswerTest
  # ActiveRecord reads no more, and no less, than without Pipeloader.
  def assert_same_reads(trips, query, schemas = Schemas.parked)
    plain, piped = schemas.map { |schema| reads { schema.execute(query) } }
    assert_equal plain, piped
    assert_answer trips, query, schemas
  end

  def test_two_fields_of_one_association
    assert_same_reads 2, "{ posts { author { name } again: author { id } } }"
    assert_same_reads 2, "{ posts { comments { body } again: comments { id } } }"
  end

  def test_size_of_an_association_that_a_sibling_loads
    assert_same_reads 2, "{ posts { comments { body } commentsSize } }"
  end

  def test_ids_of_an_association_that_a_sibling_loads
    assert_same_reads 2, "{ posts { tags { name } tagIds } }"
  end

  # A serial run spares itself the reads whose count was 0. Here they go along.
  def test_size_before_the_association
    assert_answer 2, "{ posts { commentsSize comments { body } } }"
  end

  # What an earlier field's resolver preloads, and what it passes on the way there, is loaded for the later one.
  def test_associations_that_a_sibling_preloads
    post = type(Schemas::Post, "Post") do
      { comments: :comments, tags: :tags, nested: { comments: :commenter } }.each do |name, associations|
        field :"preloads_#{name}", Integer
        define_method(:"preloads_#{name}") do
          ActiveRecord::Associations::Preloader.new(records: [object], associations: associations).call
          object.association(Array(associations).flatten.first).target.size
        end
      end
      field :tagging_ids, [Integer]
      def tagging_ids = object.taggings.map(&:id).sort
    end
    query = query_type do
      field :posts, [post]
      def posts = ::Post.order(:id)
    end
    [{ compile: false }, {}].each do |options|
      schemas = Schemas.make(query: query, pipeloader: options)
      assert_same_reads 2, "{ posts { preloadsComments comments { body } } }", schemas
      assert_same_reads 3, "{ posts { preloadsTags taggingIds tags { name } } }", schemas
      assert_same_reads 3, "{ posts { preloadsNested comments { body commenter { name } } } }", schemas
    end
  end

  def test_association_of_one_record_below_two_fields
    author = type(Schemas::Base, "Pair") do
      field :left, Schemas::Post
      field :right, Schemas::Post
      def left = object
      def right = object
    end
    query = query_type do
      field :pair, author
      def pair = ::Post.find(1)
    end
    assert_same_reads 3, "{ pair { left { author { profile { bio } } } right { author { profile { bio } } } } }",
                      Schemas.make(query: query, pipeloader: { compile: false })
  end

  def test_one_relation_in_several_fields
    query = query_type do
      field :left, [Schemas::Post]
      field :right, [Schemas::Post]
      field :how_many, Integer
      field :none, GraphQL::Types::Boolean
      def relation = context[:relation] ||= ::Post.order(:id)
      def left = relation
      def right = relation
      def how_many = relation.size
      def none = relation.empty?
    end
    assert_same_reads 2, "{ left { title comments { id } } right { id } howMany none }", Schemas.make(query: query, pipeloader: { compile: false })
  end

  # The names below are of other records' associations.
  def test_preloads_of_several_levels
    query = query_type do
      field :preloaded, [Schemas::Post]
      field :included, [Schemas::Post]
      def preloaded = ::Post.preload([{ comments: { commenter: :profile } }, :author]).order(:id)
      def included = ::Post.includes(comments: { commenter: :profile }).order(:id).select { |post| post.comments.size.even? }
    end
    assert_answer nil, "{ preloaded { title author { name } comments { body } } included { title } }", Schemas.make(query: query, mutation: nil)
  end

  # By a timeout, say, of which the application keeps the records.
  def test_records_of_a_response_that_has_died
    post = type(Schemas::Post, "Post") do
      field :preloaded, Integer
      define_method(:preloaded) { ActiveRecord::Associations::Preloader.new(records: context[:posts], associations: [:comments]).call.size }
    end
    query = query_type do
      field :posts, [post]
      field :slow, String
      def posts = context[:posts]
      def slow = ::Post.connection.select_value("SELECT pg_sleep(10)")
    end
    schema = Schemas.make(query: query, mutation: nil, pipeloader: { compile: false }).last
    posts = ::Post.order(:id).limit(5).to_a
    ["comments { id }", "preloaded"].each do |fields|
      assert_raises(Timeout::Error) { Timeout.timeout(0.3) { schema.execute("{ posts { #{fields} } slow }", context: { posts: posts }) } }
      assert_empty posts.map { |it| it.association(:comments) }.reject { |it| it.instance_variable_get(:@pipeloader_flight).nil? }
    end
    assert_equal 1, WireCounter.trips { schema.execute("{ posts { preloaded comments { id } } }", context: { posts: posts }) }.sum(&:size)
  end

  # Each field asks for itself; on the wire it is one statement.
  def test_equal_reads_are_sent_once
    query = "{ a: user(name: \"user 1\") { id } b: user(name: \"user 1\") { id } c: user(name: \"user 2\") { id } }"
    assert_answer 1, query
    payload = WireCounter.events("burst.pipeloader") { Schemas.pair.last.execute(query) }.first
    assert_equal [3, 2], [payload[:reads].size, payload[:statements]]
  end

  # A function may answer differently each time, a lock locks each time.
  def test_impure_reads_are_sent_each
    query = query_type do
      field :token, String
      field :locked, String
      def token = ::Post.connection.select_value("SELECT gen_random_uuid()")
      def locked = ::Post.lock.find(1).title
    end
    payload = WireCounter.events("burst.pipeloader") do
      answer = Schemas.make(query: query).last.execute("{ a: token b: token c: locked d: locked }")
      refute_equal answer["data"]["a"], answer["data"]["b"]
    end.first
    assert_equal [4, 4], [payload[:reads].size, payload[:statements]]
  end

  # As Rails.cache does with an object. Nothing of ours is in it.
  def test_a_record_that_is_marshaled_while_a_sibling_loads_its_association
    dumps = []
    post = type(Schemas::Base, "Kept") do
      field :words, String
      field :kept, String
      field :kept_list, String
      def words = object.comments.map(&:body).join(context[:nothing].to_s)
      define_method(:kept) { Marshal.load(dumps.push(Marshal.dump(object)).last).then { |it| [it.class, it.attributes, it.comments.size].inspect } }
      define_method(:kept_list) { Marshal.load(dumps.push(Marshal.dump(object.comments.to_a)).last).size.to_s }
    end
    query = query_type { field :posts, [post]; def posts = ::Post.order(:id).limit(3) }
    ["{ posts { words kept } }", "{ posts { words kept a: words keptList b: kept } }"].each do |document|
      assert_same_answer(document, Schemas.make(query: query, mutation: nil))
    end
    assert_empty dumps.grep(/Pipeloader|@pipeloader/)
  end

  private

  def reads(&block)
    # (An exception: a plan that another test's ALTER TABLE had changed, which ActiveRecord then tries again.)
    WireCounter.events("sql.active_record", &block).reject { |it| it[:name] == "SCHEMA" || it[:exception] }
               .map { |it| [it[:name], it[:sql], it[:binds].map(&:value), it[:row_count]].inspect }.sort
  end
end

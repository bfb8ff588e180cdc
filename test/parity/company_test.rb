# frozen_string_literal: true

require "graphql/batch"
require_relative "../support/answers"

# Other ways to batch, and other code in between.
class CompanyTest < AnswerTest
  class RecordSource < GraphQL::Dataloader::Source
    def initialize(model) = @model = model
    def fetch(ids) = @model.where(id: ids).index_by(&:id).values_at(*ids)
  end

  class CountSource < GraphQL::Dataloader::Source
    def fetch(posts) = posts.map { |post| post.comments.count }
  end

  class AssociationLoader < GraphQL::Batch::Loader
    def initialize(name) = @name = name

    def perform(records)
      ActiveRecord::Associations::Preloader.new(records: records, associations: @name).call
      records.each { |record| fulfill(record, record.public_send(@name)) }
    end
  end

  class SourcedPost < Schemas::Post
    graphql_name "SourcedPost"
    field :sourced_author, Schemas::User
    field :sourced_count, Integer
    field :both, Integer
    def sourced_author = dataloader.with(RecordSource, ::User).load(object.author_id)
    def sourced_count = dataloader.with(CountSource).load(object)
    def both = object.comments.count + dataloader.with(CountSource).load(object)
  end

  class BatchedPost < Schemas::Post
    graphql_name "BatchedPost"
    field :batched_author, Schemas::User
    field :batched_comments, [Schemas::Comment]
    def batched_author = AssociationLoader.for(:author).load(object)
    def batched_comments = AssociationLoader.for(:comments).load(object).then(&:to_a)
  end

  def sourced_query
    @sourced_query ||= query_type do
      field :sourced, [SourcedPost]
      def sourced = ::Post.where(author_id: 1..).order(:id)
    end
  end

  def sourced_schemas
    query = sourced_query
    plain, after = Schemas.make(query: query) { use GraphQL::Dataloader }
    before = Class.new(Schemas.make(query: query).first) do
      use Pipeloader
      use GraphQL::Dataloader
    end
    [plain, after, before]
  end

  def test_dataloader_before_or_after
    plain, *piped = sourced_schemas
    piped.each do |schema|
      assert_operator schema.dataloader_class, :<, GraphQL::Dataloader
      assert_answer 3, "{ posts { title author { name } comments { body commenter { name } } } }", [plain, schema]
    end
  end

  # A source's reads go with its level, whatever the order of the fields.
  def test_sources_beside_direct_reads
    fields = ["sourcedAuthor { name }", "tags { name }", "commentsCount", "author { name }"]
    plain, *piped = sourced_schemas
    fields.permutation do |some|
      piped.each { |schema| assert_answer 2, "{ sourced { #{some.join(" ")} } }", [plain, schema] }
    end
  end

  def test_shape_of_bursts_with_sources
    posts = ::Post.where(author_id: 1..).count
    schema = Schemas.make(query: sourced_query, pipeloader: { compile: false }) { use GraphQL::Dataloader }.last
    assert_equal [1, posts + 1], bursts { schema.execute("{ sourced { commentsCount sourcedAuthor { name } } }") }
    assert_equal [1, posts + 1], bursts { schema.execute("{ sourced { sourcedAuthor { name } commentsCount } }") }
    # A source that reads for each of its keys is one fiber: one read in each burst.
    assert_equal posts + 1, bursts { schema.execute("{ sourced { sourcedCount commentsCount } }") }.size
  end

  def test_source_after_a_read_in_one_resolver
    assert_same_answer "{ sourced { both } }", sourced_schemas.first(2)
  end

  def test_manual_parallel_runs
    query = query_type do
      field :pair, [String]
      def pair
        one = two = nil
        dataloader.append_job { one = ::Post.first.title }
        dataloader.append_job { two = ::User.first.name }
        dataloader.yield until one && two
        [one, two]
      end
    end
    assert_answer 1, "{ a: pair b: pair }", Schemas.make(query: query) { use GraphQL::Dataloader }
  end

  def batched_schemas
    query = query_type do
      field :batched, [BatchedPost]
      def batched = ::Post.order(:id)
    end
    Schemas.make(query: query, mutation: nil) { use GraphQL::Batch }
  end

  def test_graphql_batch
    assert_answer trips_with_lazies(2), "{ batched { title batchedAuthor { name } } }", batched_schemas
    assert_answer trips_with_lazies(3), "{ batched { title batchedComments { body commenter { name } } } }", batched_schemas
  end

  # A loader's read goes at once, and takes along what its level has gathered.
  def test_graphql_batch_beside_direct_reads
    fields = ["batchedAuthor { name }", "commentsCount", "tags { name }"]
    fields.permutation { |some| assert_answer trips_with_lazies(2), "{ batched { #{some.join(" ")} } }", batched_schemas }
  end

  def test_graphql_batch_with_two_loaders
    assert_answer trips_with_lazies(3), "{ batched { batchedAuthor { name } batchedComments { body } commentsCount } }", batched_schemas
  end

  def test_schema_with_a_dataloader_class_method_of_its_own
    query = Schemas::Query
    schema = Class.new(GraphQL::Schema) do
      query(query)
      use Pipeloader
      def self.dataloader_class = GraphQL::Dataloader
    end
    assert_operator schema.dataloader_class, :<, GraphQL::Dataloader
    assert_round_trips(2) { schema.execute("{ posts { comments { body } author { name } } }") }
    assert_operator Class.new(schema).dataloader_class, :<, GraphQL::Dataloader
  end

  def test_fiber_limit_that_graphql_ruby_would_refuse
    [3, 0, -1, "x"].each { |limit| assert_raises(ArgumentError) { Class.new(GraphQL::Schema) { use Pipeloader, fiber_limit: limit } } }
  end

  def test_subclassed_schema
    plain, piped = Schemas.make
    child = Class.new(piped)
    grandchild = Class.new(child) { query(Class.new(Schemas::Query) { graphql_name "Query" }) }
    [child, grandchild].each { |schema| assert_answer 3, "{ posts { author { profile { bio } } } }", [plain, schema] }
    assert_equal child.dataloader_class, piped.dataloader_class
  end

  def test_fiber_limit
    plain, piped = Schemas.make(pipeloader: { fiber_limit: 5 })
    query = "{ posts { title author { name } comments { body } } }"
    assert_equal(*[plain, piped, Class.new(piped)].map { |schema| JSON.generate(schema.execute(query).to_h) }.uniq.then { |it| [1, it.size] })
    sizes = bursts { Class.new(piped).execute(query) }
    assert_operator sizes.max, :<=, 5
  end

  def test_disabled
    assert_empty(bursts { Pipeloader.disabled { Schemas.pair.last.execute("{ posts { author { name } } }") } })
    refute_empty(bursts { Schemas.pair.last.execute("{ posts { author { name } } }") })
  end

  def test_disabled_in_a_resolver
    query = query_type do
      field :alone, Integer
      def alone = Pipeloader.disabled { ::Post.count + ::Tag.count }
    end
    assert_answer 2, "{ users { name } alone }", Schemas.make(query: query)
  end

  def test_disabled_ends_with_an_error
    assert_raises(ArgumentError) { Pipeloader.disabled { raise ArgumentError } }
    refute Pipeloader.disabled?
    refute_empty(bursts { Schemas.pair.last.execute("{ posts { id } }") })
  end

  def without_parking_schemas
    query = query_type do
      field :parked, Integer
      field :at_once, Integer
      field :posts_at_once, [Schemas::Post]
      def parked = ::Post.count
      def at_once = Pipeloader.without_parking { ::Tag.count }
      def posts_at_once = Pipeloader.without_parking { ::Post.order(:id).to_a }
    end
    Schemas.make(query: query)
  end

  # It takes along what has been gathered before it.
  def test_without_parking
    schemas = without_parking_schemas
    assert_answer 2, "{ a: parked b: parked atOnce c: parked }", schemas
    assert_equal [3, 1], bursts { schemas.last.execute("{ a: parked b: parked atOnce c: parked }") }
    assert_equal [1, 1], bursts { schemas.last.execute("{ atOnce parked }") }
    assert_equal [2], bursts { schemas.last.execute("{ parked postsAtOnce { id } }") }
  end

  # A lock held over a read, as in a memoizing cache: fibers of one thread must not be left waiting for each other.
  def test_without_parking_under_a_mutex
    query = query_type do
      lock = Mutex.new
      field :locked, Integer
      define_method(:locked) { lock.synchronize { Pipeloader.without_parking { ::Post.count } } }
    end
    assert_answer 3, "{ a: locked b: locked c: locked }", Schemas.make(query: query)
  end

  def nested_query(schemas)
    query_type do
      schemas.each_with_index do |schema, index|
        field :"inner#{index}", String
        define_method(:"inner#{index}") { JSON.generate(schema.execute("{ posts { title author { name } } }").to_h) }
      end
    end
  end

  # A resolver that executes another schema's query: its reads join the levels of the outer one.
  def test_nested_execution
    schemas = Schemas.make(query: nested_query(Schemas.pair))
    assert_same_answer "{ inner0 inner1 posts { title comments { body } } }", schemas
    assert_same_answer "{ inner1 users { name } other: inner1 }", schemas
    assert_equal %w[inner0 inner1], schemas.last.execute("{ inner0 inner1 }")["data"].keys
  end

  # What an outer field is loading can't land before the inner query has ended.
  def test_nested_execution_over_what_is_being_loaded
    inner = Schemas.make(query: query_type { field(:comments, [Schemas::Comment]); def comments = context[:post].comments })
    schemas = inner.map do |schema|
      post = type(Schemas::Post) do
        field :nested, String
        define_method(:nested) { schema.execute("{ comments { body commenter { name } } }", context: { post: object }).to_h["data"].to_s }
      end
      query = query_type { field(:them, [post]); def them = ::Post.order(:id) }
      Schemas.make(query: query)[schema.equal?(inner.first) ? 0 : 1]
    end
    Timeout.timeout(20) { assert_same_answer "{ them { comments { id } nested } one: them { nested comments { id } } }", schemas }
  end

  def test_nested_execution_in_a_plain_schema
    plain, = Schemas.make(query: nested_query(Schemas.parked))
    answer = plain.execute("{ inner0 inner1 }")["data"]
    assert_equal answer["inner0"], answer["inner1"]
    assert_equal [1, 9], bursts { plain.execute("{ inner1 }") }
  end

  def outsiders
    query = query_type do
      field :enumerated, [String]
      field :threaded, Integer
      field :lazily, [String]
      field :fibered, String
      field :parked, Integer
      def enumerated = Enumerator.new { |names| ::Post.order(:id).limit(2).each { |post| names << post.title } }.then { |it| [it.next, it.next] }
      def threaded = Thread.new { ::Post.connection_pool.with_connection { ::Post.count } }.value
      def lazily = ::Post.order(:id).lazy.map(&:title).first(2)
      def fibered = Fiber.new { ::Post.first.title }.resume
      def parked = ::Tag.count
    end
    Schemas.make(query: query)
  end

  # Not a resolver's fiber: such reads go at once and take along what has been gathered for their connection.
  def test_enumerator_next
    assert_answer 1, "{ enumerated }", outsiders
    assert_answer 2, "{ parked enumerated other: parked }", outsiders
  end

  def test_own_fiber
    assert_answer 2, "{ parked fibered other: parked }", outsiders
  end

  def test_enumerator_lazy_is_the_same_fiber
    assert_answer 1, "{ parked lazily }", outsiders
  end

  def test_own_thread
    assert_answer 2, "{ parked threaded other: parked }", outsiders
  end

  def test_enumerator_that_outlives_its_field
    query = query_type do
      field :one, String
      def one = enumerator.next
      def enumerator = context[:enumerator] ||= Enumerator.new { |it| ::Post.order(:id).each { |post| it << "#{post.title} #{post.comments.count}" } }
    end
    assert_same_answer "{ a: one b: one c: one }", Schemas.make(query: query)
  end
end

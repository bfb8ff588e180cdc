# frozen_string_literal: true

require_relative "../support/answers"

# Pipeloader.strict: raises at reads that could have been gathered, and at no others.
class StrictTest < AnswerTest
  LOCK = Mutex.new

  # A service object, as anyone would write one.
  class Scores
    def initialize(posts) = @posts = posts
    def in_a_loop = @posts.map { |post| post.comments.sum(:score) }
    def found_in_a_loop = @posts.map { |post| ::Comment.where(post_id: post.id).count }
    def together = ::Comment.where(post_id: @posts.map(&:id)).group(:post_id).sum(:score).values
  end

  class InALoop < GraphQL::Dataloader::Source
    def fetch(keys) = keys.map { Scores.new(::Post.order(:id).to_a).in_a_loop }
  end

  class Worker < GraphQL::Schema::Object
    field :name, String
    field :chain, [String], null: false
    field :locked_manager, "StrictTest::Worker"
    def locked_manager = LOCK.synchronize { object.manager }

    # Each needs what the one before has brought.
    def chain
      names = []
      worker = object
      while (worker = worker.manager)
        names << worker.name
      end
      names
    end
  end

  class Item < Schemas::Post
    graphql_name "Item"
    field :locked, Integer, null: false
    field :in_transaction, Integer, null: false
    field :at_once, Integer, null: false
    field :cached, Integer, null: false
    field :seen, Integer, null: false

    def locked = LOCK.synchronize { object.comments.count }
    def in_transaction = ::Comment.transaction { object.comments.count }
    def at_once = Pipeloader.without_parking { object.comments.count }
    def seen = ::Comment.transaction { ::Post.where(id: object.id).update_all("likes = likes") + object.comments.count }
    def cached = LOCK.synchronize { ::Tag.count }
  end

  class Query < Schemas::Query
    field :items, [Item], null: false do
      argument :limit, Integer, required: false
    end
    field :in_a_loop, [Integer], null: false
    field :found_in_a_loop, [Integer], null: false
    field :writing_in_a_loop, [Integer], null: false
    field :together, [Integer], null: false
    field :authors_and_editors, [String, { null: true }], null: false
    field :by_source, [[Integer]], null: false
    field :preloaded, [Integer], null: false
    field :batches, Integer, null: false
    field :worker, Worker
    field :workers, [Worker], null: false
    field :locked, Integer, null: false
    field :locked_too, Integer, null: false

    def items(limit: 100) = ::Post.order(:id).limit(limit)
    def posts_of_service = ::Post.order(:id).to_a
    def in_a_loop = Scores.new(posts_of_service).in_a_loop
    def found_in_a_loop = Scores.new(posts_of_service).found_in_a_loop
    def together = Scores.new(posts_of_service).together
    def authors_and_editors = posts_of_service.first(1).flat_map { |post| [::User.find_by(id: post.author_id), ::User.find_by(id: post.editor_id)].map { |it| it&.name } }
    def by_source = [dataloader.with(InALoop).load(1)]
    def preloaded = ::Post.order(:id).preload(:comments).map { |post| post.comments.sum(&:score) }
    def batches = ::Post.in_batches(of: 2).sum { |batch| batch.to_a.size }
    def worker = ::Employee.order(:id).last
    def workers = ::Employee.order(:id)
    def locked = LOCK.synchronize { ::Tag.count }
    def locked_too = LOCK.synchronize { ::Tag.count }

    def writing_in_a_loop
      posts_of_service.map do |post|
        context[:writes] << post.id if ::Post.where(id: post.id).update_all("likes = likes") == 1
        post.comments.count
      end
    end
  end

  def schemas = @schemas ||= Schemas.make(query: Query, mutation: nil, pipeloader: { compile: false })

  def strictly(query, **options) = Pipeloader.strict { schemas.last.execute(query, **options).to_h }

  def assert_strict(pattern, query)
    error = assert_raises(Pipeloader::StrictError) { strictly(query) }
    message = error.message.sub(/\AResolving \w+\.\w+: /, "") # Execution::Next says where it came
    assert_match(pattern, message)
    message
  end

  # Nothing is raised, and the answer is as ever.
  def assert_fine(query, **options)
    assert_equal JSON.generate(schemas.first.execute(query, **options).to_h), JSON.generate(strictly(query, **options))
  end

  def line_of(type, method) = "test/report/strict_test.rb:#{type.instance_method(method).source_location.last}"

  def test_in_a_lock
    message = assert_strict(/\AItem\.locked reads for one object after the other, while its resolver holds a lock/, "{ items { locked } }")
    assert_match(/each by a round trip of its own: #{line_of(Item, :locked)}$/, message)
    assert_match(/^  SELECT COUNT\(\*\) FROM "comments"/, message)
    assert_match(/^Read before the lock is taken\.\z/, message)
  end

  def test_in_a_transaction
    assert_strict(/\AItem\.inTransaction reads for one .*inside a transaction that a resolver has begun/, "{ items { inTransaction } }")
  end

  def test_without_parking
    assert_strict(/\AItem\.atOnce reads for one .*where its resolver may not wait \(Pipeloader\.without_parking/, "{ items { atOnce } }")
  end

  # Nothing could have been gathered.
  def test_one_object
    assert_fine "{ items(limit: 1) { locked inTransaction atOnce } }"
    assert_fine "{ locked lockedToo other: locked items(limit: 1) { other: locked locked } }"
  end

  # What is there already, needs no round trip.
  def test_the_query_cache
    Tag.cache { assert_fine "{ items { cached } }" }
    assert_strict(/\AItem\.cached/, "{ items { cached } }")
  end

  # The second needs the first.
  def test_one_below_the_other
    assert_fine "{ worker { lockedManager { lockedManager { name } } } }"
    assert_strict(/\AWorker\.lockedManager/, "{ workers { lockedManager { name } } }")
  end

  def test_a_loop
    message = assert_strict(/\AQuery\.inALoop reads one row after the other, in a loop/, "{ inALoop }")
    assert_match(/#{line_of(Scores, :in_a_loop)}\n  SELECT SUM\("comments"\."score"\)/, message)
    assert_match(/^Read for all of them before the loop: /, message)
    assert_strict(/\AQuery\.foundInALoop reads .*#{line_of(Scores, :found_in_a_loop)}$/, "{ foundInALoop }")
  end

  def test_a_loop_of_a_source
    assert_strict(/\AStrictTest::InALoop reads one row after the other, in a loop.*#{line_of(Scores, :in_a_loop)}$/, "{ bySource }")
  end

  # A field's loop that writes has others' reads done first.
  def test_read_before_a_write
    restoring { assert_fine "{ posts { author { name } commentsCount } writingInALoop }", context: { writes: [] } }
  end

  def test_no_loop
    assert_fine "{ together preloaded batches authorsAndEditors }"
    assert_fine "{ worker { chain } }"
    assert_fine "{ workers { chain } }"
  end

  # What is read behind a write, has to be.
  def test_objects_that_write
    restoring { assert_fine "{ items { seen } }" }
  end

  def test_a_loop_that_writes
    restoring { assert_fine "{ writingInALoop }", context: { writes: [] } }
  end

  # Whatever can be gathered.
  EVERYTHING = [
    "{ posts { title author { name posts { title } } comments { body commenter { name profile { bio } } } tags { name posts { title } } } }",
    "{ posts { commentsCount commentsSize commented scoreSum auditNotes authorName lastComment { body } topComments { body } commenters { name } } }",
    "{ users { postsCount commentedPosts { title } vehicles { type name user { name } } attachments { name } } }",
    "{ postsConnection(first: 3) { nodes { title commentsConnection(first: 2) { nodes { body commenter { name } } } } } }",
    "{ employees { name manager { name manager { name } } reports { name reports { name } } } things { name } lineItems { notes } }",
    "{ attachments { name attachable { ... on User { name posts { title } } ... on Post { title author { name } } } } }",
    "{ a: post(id: 1) { title } b: post(id: 2) { title } c: user(name: \"Ann\") { name } posts(ids: [1, 2]) { tagIds tags { name } } }"
  ].freeze

  def test_all_that_is_gathered
    [schemas, Schemas.pair, Schemas.parked].each do |pair|
      EVERYTHING.each do |query|
        assert_equal JSON.generate(pair.first.execute(query).to_h), JSON.generate(Pipeloader.strict { pair.last.execute(query).to_h }), query
      end
    end
  end

  def test_a_mutation
    mutation = "mutation { a: like(id: 1) { author { name } } b: like(id: 2) { comments { body } } c: addComment(postId: 3, body: \"x\") { body } }"
    plain, strict = Schemas.pair.each_with_index.map do |schema, index|
      restoring { index.zero? ? schema.execute(mutation).to_h : Pipeloader.strict { schema.execute(mutation).to_h } }
    end
    assert_equal JSON.generate(plain), JSON.generate(strict)
  end

  # Only a StandardError like others: a schema may rescue it.
  def test_rescued
    query = Query
    schema = Schemas.make(query: query, mutation: nil, pipeloader: { compile: false }) do
      rescue_from(Pipeloader::StrictError) { raise GraphQL::ExecutionError, "strict" }
    end.last
    errors = Pipeloader.strict { schema.execute("{ items { locked } posts { title } }").to_h }.fetch("errors")
    assert_includes errors.map { |it| it["message"] }, "strict"
  end

  def test_off
    assert_fine "{ locked }"
    assert_nil Pipeloader::Strict.current
    assert_same_answer("{ items { locked inTransaction atOnce } inALoop foundInALoop }", schemas)
  end

  def test_nested
    assert_equal 3, Pipeloader.strict { Pipeloader.strict { 3 } }
    Pipeloader.strict do
      Pipeloader.strict { nil }
      assert_raises(Pipeloader::StrictError) { schemas.last.execute("{ items { locked } }") }
      assert_raises(Pipeloader::StrictError) { schemas.last.execute("{ inALoop }") }
      schemas.last.execute("{ items(limit: 1) { locked } }")
    end
    assert_raises(ArgumentError) { Pipeloader.strict { raise ArgumentError } }
    assert_nil Pipeloader::Strict.current
  end

  # Another thread isn't, and each response is on its own.
  def test_threads
    answers = Pipeloader.strict do
      Array.new(2) { Thread.new { ActiveRecord::Base.connection_pool.with_connection { schemas.last.execute("{ locked }").to_h } } }.map(&:value)
    end
    assert_equal [schemas.first.execute("{ locked }").to_h] * 2, answers
    Pipeloader.strict { 2.times { assert_equal 1, schemas.last.execute("{ items(limit: 1) { locked } }").to_h["data"]["items"].size } }
  end

  # The connection is fit for use after it.
  def test_after_it
    assert_raises(Pipeloader::StrictError) { strictly("{ items { inTransaction } }") }
    assert_equal 0, Comment.connection.open_transactions
    assert_same_answer("{ posts { title comments { body } } }")
  end
end

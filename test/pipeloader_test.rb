# frozen_string_literal: true

require_relative "support/test_helper"
require "graphql/batch"

# The promise of the gem, by example: every query through a schema without Pipeloader and the same schema with it. The
# answers are the same bytes, and the second takes as many round trips as the query's tree is deep.
class AnswerTest < PipeloaderTest
  # @param trips [Integer, nil] round trips that the schema with Pipeloader takes; nil where it isn't ours to say
  # @param errors [Integer] how many the answer has
  # @return [Hash] the answer
  def assert_answer(trips, query, schemas = Schemas.pair, errors: 0, **options)
    piped = nil
    plain = schemas.first.execute(query, **copy(options)).to_h
    trips ||= WireCounter.trips { schemas.last.execute(query, **copy(options)) }.size
    assert_round_trips(trips, query) { piped = schemas.last.execute(query, **copy(options)).to_h }
    assert_equal JSON.generate(plain), JSON.generate(piped)
    assert_errors errors, piped.fetch("errors", []).size, piped["errors"].inspect
    piped
  end

  # Where Execution::Next itself asks for one object after the other: resolve_type, scalars, lazy values in a list, tracers.
  def serial_on_next(trips) = Engine::NEXT ? nil : trips

  # Execution::Next reports one error for all objects of a field, or one for each, where the Interpreter does it otherwise.
  def assert_errors(expected, actual, message)
    Engine::NEXT ? assert_equal(expected.zero?, actual.zero?, message) : assert_equal(expected, actual, message)
  end

  # Both schemas raise the same.
  def assert_same_error(query, schemas = Schemas.pair, **options)
    plain, piped = schemas.map { |schema| assert_raises(StandardError) { schema.execute(query, **copy(options)) } }
    assert_equal [plain.class, plain.message], [piped.class, piped.message]
    piped
  end

  # Runs the block and puts the tables back as they were when the tests began, sequences too.
  def restoring
    yield
  ensure
    restore
  end

  def restore
    ActiveRecord::Base.connection.execute("TRUNCATE #{Seed::TABLES.join(", ")} RESTART IDENTITY")
    Audit.connection.execute("TRUNCATE audits RESTART IDENTITY")
    Seed.load
  end

  # @return [Array<Integer>] for each burst of the block the number of its reads
  def bursts(&block) = WireCounter.events("burst.pipeloader", &block).map { |payload| payload[:reads].size }

  # @return [Array<String>] SQL of what went alone, and not with a burst
  def alone(&block)
    WireCounter.events("sql.active_record", &block)
               .reject { |payload| payload.key?(:pipeloader) || payload[:cached] || %w[SCHEMA TRANSACTION].include?(payload[:name]) }
               .map { |payload| payload[:sql] }
  end

  # A root type whose fields the block defines.
  def query_type(base = Schemas::Query, &block)
    Class.new(base) do
      graphql_name "Query"
      class_eval(&block)
    end
  end

  # A type of Schemas with more in it.
  def type(base = GraphQL::Schema::Object, name = "Special#{base.graphql_name}", &block)
    Class.new(base) do
      graphql_name name
      class_eval(&block)
    end
  end

  # Before 2.5.12, graphql-ruby resolved lazy values one by one, after everything else.
  def trips_with_lazies(count) = GraphQL::Dataloader.method_defined?(:lazy_at_depth) ? count : nil

  private

  def copy(options) = options.transform_values { |it| it.is_a?(Hash) ? it.dup : it }
end

class RelationshipsTest < AnswerTest
  def test_tree
    assert_answer 3, "{ posts { title author { name } comments { body commenter { name } } } }"
  end

  def test_belongs_to
    assert_answer 2, "{ comments { body post { title } } }"
  end

  def test_belongs_to_with_nullable_keys
    answer = assert_answer 2, "{ posts { title author { name } editor { name } } }"
    assert_includes answer["data"]["posts"].map { |post| post["author"] }, nil
    assert_includes answer["data"]["posts"].map { |post| post["editor"] }, nil
  end

  # No read at all for a NULL key.
  def test_all_keys_null
    assert_answer 1, "{ posts(ids: [4, 8]) { title author { name } editor { name } } }"
  end

  def test_has_one
    query = "{ users { name profile { bio user { name } } } }"
    # ActiveRecord hands the owner on to the profile. A plan reads it again.
    answer = assert_answer 2, query, Schemas.parked
    assert_answer(Schemas.pair.last.pipeloader_compiles? ? 3 : 2, query)
    assert_includes answer["data"]["users"].map { |user| user["profile"] }, nil
  end

  def test_has_one_with_order
    assert_answer 3, "{ posts { lastComment { body score commenter { name } } } }"
  end

  def test_has_many
    assert_answer 2, "{ users { posts { title } } }"
  end

  def test_empty_has_many
    answer = assert_answer 3, "{ posts { comments { body commenter { name } } } }"
    assert_includes answer["data"]["posts"].map { |post| post["comments"] }, []
  end

  def test_no_records_at_all
    assert_answer 1, "{ posts(ids: [0]) { title comments { body } author { name } } }"
  end

  def test_has_many_through
    assert_answer 3, "{ posts { tags { name posts { title } } } }"
  end

  def test_has_many_through_distinct
    assert_answer 3, "{ users { commentedPosts { title comments { body } } } posts { commenters { name } } }"
  end

  def test_polymorphic
    assert_answer 3, <<~GRAPHQL
      { attachments { name attachable { __typename ... on User { name posts { title } } ... on Post { title comments { body } } } } }
    GRAPHQL
  end

  def test_has_many_as
    assert_answer 2, "{ users { attachments { name } } posts { attachments { name } } }"
  end

  def test_self_referential
    assert_answer 4, "{ employees { name manager { name manager { name reports { name } } } reports { name reports { name } } } }"
  end

  def test_single_table_inheritance
    assert_answer 4, "{ users { vehicles { type name user { name profile { bio } } } } }"
  end

  def test_scoped
    assert_answer 3, "{ posts { title topComments { score commenter { name } } } }"
  end

  def test_composite_primary_key
    answer = assert_answer 2, "{ lineItems { label notes } }"
    assert answer["data"]["lineItems"].any? { |item| item["notes"].size > 1 }
  end

  # Two bursts at the second level, one for each connection.
  def test_second_database
    assert_answer 4, "{ posts { title auditNotes comments { body commenter { name } } } }"
  end

  def test_aggregates
    assert_answer 2, "{ posts { commentsCount commentsSize commented scoreSum authorName tagIds } users { postsCount } }"
  end

  def test_ordering
    answer = assert_answer 2, "{ posts { topComments { score id } } }"
    scores = answer["data"]["posts"].flat_map { |post| post["topComments"].each_cons(2).to_a }
    assert(scores.all? { |former, latter| former["score"] >= latter["score"] })
  end

  # As deep as the tree, not as wide.
  def test_wide
    assert_answer 3, <<~GRAPHQL
      { posts { author { name profile { bio } } editor { name vehicles { name } } comments { body commenter { name } } tags { name posts { id } }
                lastComment { body post { id } } topComments { score commenter { name } } attachments { name } commentsCount }
        users { posts { title commented } commentedPosts { title } attachments { name } }
        employees { reports { name } } lineItems { notes } }
    GRAPHQL
  end
end

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

  private

  def reads(&block)
    # (An exception: a plan that another test's ALTER TABLE had changed, which ActiveRecord then tries again.)
    WireCounter.events("sql.active_record", &block).reject { |it| it[:name] == "SCHEMA" || it[:exception] }
               .map { |it| [it[:name], it[:sql], it[:binds].map(&:value), it[:row_count]].inspect }.sort
  end
end

class QueryLanguageTest < AnswerTest
  def test_aliases
    assert_answer 2, "{ one: post(id: 1) { headline: title who: author { called: name } } two: post(id: 2) { title who: author { name } } }"
  end

  def test_variables
    answer = assert_answer 2, "query($ids: [ID!], $limit: Int = 2) { posts(ids: $ids, limit: $limit) { id author { name } } }",
                           variables: { "ids" => [1, 2, 3] }
    assert_equal %w[1 2], answer["data"]["posts"].map { |post| post["id"] }
  end

  def test_named_fragments
    assert_answer 3, <<~GRAPHQL
      { posts { ...head comments { ...note } } post(id: 1) { ...head } }
      fragment head on Post { title author { ...person } }
      fragment note on Comment { body commenter { ...person } }
      fragment person on User { name }
    GRAPHQL
  end

  def test_inline_fragments
    assert_answer 2, "{ posts { ... { title } ... on Post { author { name } } ... @include(if: true) { author { id } } } }"
  end

  def test_fragments_that_overlap
    assert_answer 3, <<~GRAPHQL
      { posts { author { name } ...more ... on Post { author { posts { id } } comments { id } } comments { body } } }
      fragment more on Post { comments { commenter { name } } author { id } }
    GRAPHQL
  end

  def test_fragments_on_an_interface
    assert_answer 5, <<~GRAPHQL
      { things { ...named ... on Car { user { name } } ... on Bike { user { vehicles { name user { profile { bio } } } } } } }
      fragment named on Named { __typename name }
    GRAPHQL
  end

  def test_fragments_on_a_union
    assert_answer 3, <<~GRAPHQL
      { attachments { attachable { __typename ...u ... on Post { comments { body } } } } }
      fragment u on User { name profile { bio } }
    GRAPHQL
  end

  def test_skip_and_include
    query = <<~GRAPHQL
      query($deep: Boolean!) {
        posts { title @skip(if: $deep) author @include(if: $deep) { name } ... @skip(if: $deep) { comments { body commenter { name } } } }
      }
    GRAPHQL
    assert_answer 2, query, variables: { "deep" => true }
    assert_answer 3, query, variables: { "deep" => false }
  end

  def test_typename
    assert_answer 2, "{ __typename posts { __typename author { __typename } } }"
  end

  def test_introspection_beside_reads
    assert_answer 2, "{ __schema { queryType { name } } posts { comments { __typename } } __type(name: \"Post\") { fields { name } } }"
  end

  def test_operation_name
    assert_answer 2, "query A { posts { author { name } } } query B { users { posts { title } } }", operation_name: "B"
  end

  def test_invalid_query_reads_nothing
    assert_answer 0, "{ posts { noSuchField } }", errors: 1
  end

  # Key order of the answer is that of the query, whatever parked first.
  def test_order_of_keys
    answer = assert_answer 2, "{ posts { commentsCount title author { name } id scoreSum likes } __typename users { id } }"
    assert_equal %w[commentsCount title author id scoreSum likes], answer["data"]["posts"].first.keys
  end

  def test_multiplex
    queries = [
      { query: "{ posts { title author { name } } }" },
      { query: "query($id: ID!) { post(id: $id) { comments { body commenter { name } } } }", variables: { "id" => 1 } },
      { query: "{ users { name } }" },
      { query: "{ failingSql }" },
      { query: "{ nonsense }" }
    ]
    plain, piped = Schemas.pair.map { |schema| -> { schema.multiplex(queries.map(&:dup)).map(&:to_h) } }
    answers = nil
    assert_round_trips(3) { answers = piped.call }
    assert_equal JSON.generate(plain.call), JSON.generate(answers)
    assert_equal [[], [], [], 1, 1], answers.map { |answer| answer.fetch("errors", []).then { |it| it.empty? ? it : it.size } }
  end

  # One that isn't the schema's own among them.
  def test_multiplex_with_different_contexts
    query = query_type do
      field :mine, [Schemas::Post]
      def mine = ::User.find(context[:user]).posts.order(:id)
    end
    plain, piped = Schemas.make(query: query).map do |schema|
      -> { schema.multiplex([1, 2, 3].map { |id| { query: "{ mine { title comments { id } } }", context: { user: id } } }).map(&:to_h) }
    end
    answers = nil
    assert_round_trips(3) { answers = piped.call }
    assert_equal JSON.generate(plain.call), JSON.generate(answers)
  end

  def test_partials
    skip "this graphql has no Query::Partial" unless GraphQL::Query.method_defined?(:run_partials)

    query = "{ posts { author { name } comments { body } } }"
    plain, piped = Schemas.pair.map do |schema|
      lambda do
        posts = ::Post.order(:id).limit(3).to_a
        partials = posts.map { |post| { path: ["posts", 0], object: post } }
        schema.query_class.new(schema, query).run_partials(partials.map { |it| it.merge(context: {}) }).map(&:to_h)
      end
    end
    answers = nil
    assert_round_trips(2) { answers = piped.call }
    assert_equal JSON.generate(plain.call), JSON.generate(answers)
  end
end

class ConnectionsTest < AnswerTest
  PAGE = "nodes { id title } edges { cursor node { id author { name } } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"

  # The page's fields are siblings, each of which would have read it.
  def test_unlimited
    assert_answer 2, "{ postsConnection { #{PAGE} } }"
  end

  def test_first
    assert_answer 1, "{ postsConnection(first: 3) { nodes { id } edges { cursor node { id } } pageInfo { endCursor } } }"
  end

  # {arguments => round trips}: the page; what `hasNextPage` and `hasPreviousPage` must ask for; the authors.
  {
    "first: 3" => 2, "first: 100" => 2, "first: 3, after: \"Mw\"" => 2, "after: \"Mw\"" => 2, "before: \"NQ\"" => 2,
    "last: 3" => 3, "last: 2, before: \"NQ\"" => 2, "first: 2, before: \"NQ\"" => 2, "last: 2, after: \"Mw\"" => 3,
    "first: 2, after: \"OTk\"" => 1
  }.each do |arguments, trips|
    define_method(:"test_page_of_#{arguments}") { assert_answer trips, "{ postsConnection(#{arguments}) { #{PAGE} } }" }
  end

  # No read more than a serial run's.
  def test_no_read_twice
    ["", "(first: 3)", "(last: 3)", "(first: 2, after: \"Mw\")"].each do |arguments|
      query = "{ postsConnection#{arguments} { #{PAGE} } }"
      plain, piped = Schemas.parked.map { |schema| WireCounter.trips { schema.execute(query) } }
      assert_equal plain.flatten.sort, piped.flatten.sort, query
    end
  end

  def test_of_an_association
    assert_answer 3, "{ posts { commentsConnection { nodes { body } edges { cursor node { id commenter { name } } } } } }"
  end

  def test_of_an_association_with_pages
    ["first: 1", "last: 1", "first: 2, after: \"MQ\""].each do |arguments|
      assert_same_answer "{ posts { commentsConnection(#{arguments}) { nodes { body } edges { cursor } pageInfo { hasNextPage hasPreviousPage } } } }"
    end
  end

  # A connection of an association that a sibling loads.
  def test_beside_its_association
    assert_same_answer "{ posts { comments { id } commentsConnection(first: 1) { nodes { id } pageInfo { hasNextPage } } } }"
    assert_same_answer "{ posts { commentsConnection(first: 1) { nodes { id } pageInfo { hasNextPage } } comments { id } } }"
  end

  # With both, graphql-ruby's `hasNextPage` depends on what was asked for before it.
  def test_first_and_last_in_every_order
    fields = ["nodes { lastComment { id } }", "pageInfo { hasNextPage }", "second: pageInfo { hasPreviousPage hasNextPage startCursor }",
              "third: pageInfo { endCursor hasNextPage }"]
    fields.permutation { |order| assert_same_answer "{ postsConnection(first: 5, last: 3) { #{order.join(" ")} } }" }
  end

  # Each waits for what came before it, and none for ever.
  def test_first_and_last_of_many_connections
    schemas = Schemas.make { use GraphQL::Dataloader }
    fields = ["nodes { id }", "pageInfo { a: hasNextPage b: hasNextPage endCursor c: hasNextPage }", "second: pageInfo { hasNextPage }"]
    fields.permutation do |order|
      query = "{ posts { x: commentsConnection(first: 3, last: 1) { #{order.join(" ")} } y: commentsConnection(first: 2, last: 2) { #{order.join(" ")} } } }"
      Timeout.timeout(20) { assert_same_answer(query, schemas) }
    end
  end

  def test_total
    connection = type(GraphQL::Types::Relay::BaseConnection, "CountedConnection") do
      edge_type(Schemas::Post.edge_type)
      field :total, Integer, null: false
      def total = object.items.count
    end
    query = query_type do
      field :counted, connection, null: false
      def counted = ::Post.order(:id)
    end
    assert_answer 2, "{ counted(first: 2) { total nodes { title author { name } } } }", Schemas.make(query: query)
  end

  def test_of_an_array
    query = query_type do
      field :listed, Schemas::Post.connection_type
      def listed = ::Post.order(:id).to_a
    end
    assert_answer 2, "{ listed(first: 2) { nodes { title author { name } } pageInfo { hasNextPage } } }", Schemas.make(query: query)
  end

  def test_default_page_size
    schemas = Schemas.make do
      default_max_page_size 4
      default_page_size 2
    end
    assert_answer 2, "{ postsConnection { #{PAGE} } }", schemas
  end
end

class MutationsTest < AnswerTest
  # Answers and the tables after it are the same.
  def assert_same_mutation(trips, query, schemas = Schemas.pair, errors: 0)
    restore
    plain, piped = schemas.map do |schema|
      restoring do
        answer = nil
        counted = WireCounter.trips { answer = schema.execute(query).to_h }
        { answer: JSON.generate(answer), tables: tables, errors: answer.fetch("errors", []).size, trips: counted }
      end
    end
    assert_equal plain.except(:trips), piped.except(:trips)
    assert_errors errors, piped[:errors], piped[:answer]
    assert_equal trips, piped[:trips].size, piped[:trips].map(&:inspect).join("\n")
  end

  def test_one_field
    # The post; the insert; the comment's post; its comments and author.
    assert_same_mutation 4, 'mutation { addComment(postId: 1, body: "new") { body post { title comments { id body } author { name } } } }'
  end

  def test_fields_are_serial
    assert_same_mutation 6, <<~GRAPHQL
      mutation { a: like(id: 1) { likes author { name } } b: like(id: 1) { likes author { name } } }
    GRAPHQL
  end

  def test_read_after_write
    assert_same_mutation 5, 'mutation { addComment(postId: 1, body: "x") { id post { commentsCount comments { body commenter { name } } } } }'
  end

  def test_later_field_reads_what_an_earlier_one_wrote
    assert_same_mutation 6, 'mutation { a: addComment(postId: 1, body: "x") { id } b: like(id: 1) { commentsCount comments { body commenter { name } } } }'
  end

  def test_error_in_one_field
    assert_same_mutation 5, 'mutation { a: addComment(postId: 999, body: "x") { id } b: addComment(postId: 1, body: "y") { id } c: like(id: 1) { likes } }',
                         errors: 1
  end

  def test_transaction_in_a_mutation
    mutation = type(Schemas::Mutation, "Mutation") do
      field :swap, Schemas::Post
      field :rolled_back, Schemas::Post
      def swap
        ::Post.transaction do
          one, two = ::Post.order(:id).first(2)
          one.update!(title: two.title)
          ::Post.find(one.id)
        end
      end

      def rolled_back
        ::Post.transaction do
          ::Post.first.update!(title: "never")
          raise ActiveRecord::Rollback
        end
        ::Post.first
      end
    end
    assert_same_mutation 8, "mutation { swap { title author { name } } rolledBack { title author { name } } }",
                         Schemas.make(mutation: mutation)
  end

  # A query may write as well: what was asked for before doesn't see it, what is asked for after does.
  def test_write_in_a_query
    query = query_type do
      field :before, Integer
      field :write, Integer
      field :after, Integer
      def before = ::Tag.count
      def write = ::Tag.create!(name: "new").id
      def after = ::Tag.count
    end
    assert_same_mutation 3, "{ before write after }", Schemas.make(query: query)
  end

  def test_update_all_delete_all_and_upsert_in_a_query
    query = query_type do
      field :likes, Integer
      field :update, Integer
      field :delete, Integer
      field :upsert, Integer
      field :comments_count, Integer
      def likes = ::Post.sum(:likes)
      def update = ::Post.where(id: 1).update_all("likes = likes + 100")
      def delete = ::Comment.where(post_id: 1).delete_all
      def upsert = ::Post.upsert_all([{ id: 1, title: "upserted" }], returning: :id).rows.size
      def comments_count = ::Comment.count
    end
    assert_same_mutation 7, "{ a: likes commentsCount update b: likes delete c: commentsCount upsert d: likes e: commentsCount f: likes }",
                         Schemas.make(query: query)
  end

  # Nobody else goes on while a transaction is open: what they wrote would end with it.
  def test_write_beside_a_transaction_that_reads_another_database
    query = query_type do
      field :rolled_back, Integer
      field :write, Integer
      field :names, [String]
      def rolled_back = ::Tag.transaction { ::Tag.create!(name: "gone") && ::Audit.count && raise(ActiveRecord::Rollback) }
      def write = ::Tag.create!(name: "kept").id
      def names = ::Tag.order(:id).pluck(:name)
    end
    assert_same_mutation 4, "{ rolledBack names write }", Schemas.make(query: query)
  end

  def test_write_beside_a_transaction_that_waits_for_an_association
    query = query_type do
      field :comments, Integer
      field :rolled_back, Integer
      field :write, Integer
      def post = context[:post] ||= ::Post.new { |post| post.id = 1 }.tap { |post| post.instance_variable_set(:@new_record, false) }
      def comments = post.comments.to_a.size
      def rolled_back = ::Tag.transaction { ::Tag.create!(name: "gone") && post.comments.to_a && raise(ActiveRecord::Rollback) }
      def write = ::Tag.create!(name: "kept").id
    end
    assert_same_mutation 4, "{ comments rolledBack write }", Schemas.make(query: query)
  end

  def test_resolver_class
    payload = type(Schemas::Base, "LikePayload") { field :post, Schemas::Post }
    like = Class.new(GraphQL::Schema::Mutation) do
      graphql_name "LikeIt"
      argument :id, GraphQL::Types::ID
      type payload
      def resolve(id:)
        post = ::Post.find(id)
        post.increment!(:likes)
        { post: post }
      end
    end
    mutation = type(Schemas::Base, "Mutation") { field :like_it, mutation: like }
    assert_same_mutation 6, "mutation { a: likeIt(id: 1) { post { likes author { name } } } b: likeIt(id: 1) { post { likes author { name } } } }",
                         Schemas.make(mutation: mutation)
  end

  private

  def tables
    [Post, Comment, Tag].map { |model| model.connection.select_rows("SELECT * FROM #{model.table_name} ORDER BY id") }
  end
end

class ErrorsTest < AnswerTest
  # Fields that fail after a read or without one, where null is allowed and where it isn't.
  module Failing
    extend self

    def type
      @type ||= Class.new(GraphQL::Schema::Object) do
        graphql_name "Failing"
        field :fine, String
        field :read, String
        field :at_once, String
        field :must_read, String, null: false, resolver_method: :read
        field :must_at_once, String, null: false, resolver_method: :at_once
        field :null_after_read, String, null: false
        field :child, Failing.type_reference
        field :must_child, Failing.type_reference, null: false, resolver_method: :child
        field :children, [Failing.type_reference, { null: true }]
        field :strict_children, [Failing.type_reference], null: false, resolver_method: :children

        def fine = ::Post.count.to_s
        def read = ::Post.count && raise(GraphQL::ExecutionError.new("after a read", extensions: { "code" => object }))
        def at_once = raise(GraphQL::ExecutionError, "at once")
        def null_after_read = ::Post.find_by(id: 0)
        def child = ::Tag.count
        def children = ::Tag.order(:id).pluck(:id)
      end
    end

    def type_reference = GraphQL::Schema::LateBoundType.new("Failing")

    def schemas
      query = Class.new(GraphQL::Schema::Object) do
        graphql_name "Query"
        field :one, Failing.type
        field :two, Failing.type
        field :boom, String
        field :bang, String
        field :fine, String
        def one = 1
        def two = ::Tag.count
        def boom = ::Tag.count && raise(ArgumentError, "boom")
        def bang = raise("bang")
        def fine = ::Post.count.to_s
      end
      @schemas ||= Schemas.make(query: query, mutation: nil)
    end
  end

  # The fiber that sends the level is in a `rescue` of its own: that isn't why another's value can't be sent.
  def test_the_cause_of_what_cannot_be_sent
    query = query_type do
      field :rescuing, String
      field :refused, String
      def rescuing
        raise "first"
      rescue StandardError
        ::Post.find(1).title
      end

      def refused
        ::Post.find_by(title: "nul\0")
      rescue ArgumentError => e
        [e.class, e.message, e.cause].inspect
      end
    end
    answer = assert_same_answer("{ rescuing refused }", Schemas.make(query: query))
    assert_match(/ArgumentError.*nil/, answer["data"]["refused"])
  end

  def test_record_not_found
    answer = assert_answer 2, "{ a: post(id: 1) { title author { name } } b: post(id: 999) { title } c: post(id: 2) { title } }", errors: 1
    assert_nil answer["data"]["b"]
  end

  def test_statement_invalid_fails_one_field
    answer = assert_answer 2, "{ a: failingSql posts { title author { name } } b: failingList { title } users { name } }", errors: 2
    assert_equal 12, answer["data"]["posts"].size
    assert_equal "ActiveRecord::StatementInvalid", answer["errors"].first["extensions"]["class"]
  end

  def test_statement_invalid_in_a_list
    odd = type(Schemas::Post) do
      field :ratio, Integer
      def ratio = ::Post.connection.select_value("SELECT 10 / ($1 % 2)", nil, [ActiveRecord::Relation::QueryAttribute.new("n", object.id, ActiveModel::Type::Integer.new)])
    end
    query = query_type do
      field :odd, [odd]
      def odd = ::Post.order(:id)
    end
    assert_answer 2, "{ odd { title ratio author { name } } }", Schemas.make(query: query), errors: 6
  end

  def test_range_error
    assert_answer 1, "{ a: post(id: \"99999999999999999999999\") { title } b: post(id: 1) { title } }", errors: 1
  end

  def test_execution_error_after_a_read
    assert_answer 1, "{ one { fine read } }", Failing.schemas, errors: 1
  end

  def test_execution_errors_in_a_list
    assert_answer 2, "{ one { children { read fine } } }", Failing.schemas, errors: 4
  end

  def test_non_null_field
    answer = assert_answer 1, "{ one { fine mustRead } fine }", Failing.schemas, errors: 1
    assert_nil answer["data"]["one"]
  end

  def test_null_in_a_non_null_field
    assert_answer 1, "{ one { fine nullAfterRead } fine }", Failing.schemas, errors: 1
  end

  def test_propagation_over_several_levels
    assert_answer 3, "{ one { mustChild { mustChild { mustRead } } } fine }", Failing.schemas, errors: 1
  end

  def test_propagation_in_a_list
    assert_answer 2, "{ one { children { mustRead } } fine }", Failing.schemas, errors: 4
    assert_answer 2, "{ one { children { nullAfterRead } } fine }", Failing.schemas, errors: 4
  end

  def test_propagation_out_of_a_list
    assert_answer 2, "{ one { strictChildren { mustRead } } fine }", Failing.schemas, errors: 1
    assert_answer 2, "{ one { strictChildren { nullAfterRead } } fine }", Failing.schemas, errors: 1
  end

  # The first one's error is the parent's end.
  def test_propagation_of_two_siblings
    assert_answer 1, "{ one { mustRead other: mustRead } }", Failing.schemas, errors: 1
    assert_answer 1, "{ one { nullAfterRead mustRead } }", Failing.schemas, errors: 1
  end

  def test_propagation_and_a_nullable_sibling
    assert_answer 1, "{ one { read mustRead } }", Failing.schemas, errors: 2
    assert_answer 1, "{ one { mustRead read } }", Failing.schemas, errors: 1
  end

  # In document order, as a serial run meets them.
  def test_order_of_an_error_without_a_read
    assert_answer 1, "{ one { read atOnce } }", Failing.schemas, errors: 2
    assert_answer 1, "{ one { atOnce read } }", Failing.schemas, errors: 2
  end

  def test_order_over_levels
    assert_answer 2, "{ a: one { child { read } } b: one { read } }", Failing.schemas, errors: 2
    assert_answer 3, "{ a: one { child { children { read atOnce } read } } b: one { atOnce read } }", Failing.schemas, errors: 11
  end

  def test_null_propagation_by_a_later_field_without_a_read
    assert_answer 1, "{ one { mustRead mustAtOnce } }", Failing.schemas, errors: 1
    assert_answer 2, "{ one { strictChildren { fine mustRead mustAtOnce } } }", Failing.schemas, errors: 1
  end

  def test_null_propagation_of_a_deeper_earlier_field
    assert_answer 2, "{ one { mustChild { mustRead } mustRead } }", Failing.schemas, errors: 1
  end

  # Fields that fail wait for those before them, which need a fiber too. Where the limit leaves none, they don't wait.
  def test_few_fibers
    schemas = Schemas.make(query: Failing.schemas.first.query, mutation: nil, pipeloader: { fiber_limit: 4 })
    ["{ a: one { children { read fine atOnce } read } b: one { children { atOnce read } } c: two { read atOnce } }",
     "{ a: one { strictChildren { mustRead mustAtOnce } } b: two { mustChild { nullAfterRead } } c: one { mustAtOnce } }"].each do |query|
      plain, piped = schemas.map { |schema| schema.execute(query).to_h }
      assert_equal plain["data"], piped["data"]
      assert_equal plain["errors"].map { |it| it["path"] }.sort_by(&:to_s), piped["errors"].map { |it| it["path"] }.sort_by(&:to_s)
    end
  end

  def test_escaping_error
    error = assert_same_error "{ fine boom }", Failing.schemas
    assert_instance_of ArgumentError, error
    assert_match(/boom'\z/, error.backtrace.find { |line| line.include?(__FILE__) })
  end

  def test_escaping_error_of_the_first_of_several
    assert_same_error "{ boom bang }", Failing.schemas
    assert_same_error "{ bang boom }", Failing.schemas
  end

  def test_escaping_statement_invalid
    schemas = [false, true].map do |piped|
      Class.new(GraphQL::Schema) do
        query Schemas::Query
        use Pipeloader if piped
      end
    end
    error = assert_same_error "{ users { posts { title } } failingList { title } posts { title } }", schemas
    assert_instance_of ActiveRecord::StatementInvalid, error
    assert_instance_of PG::UndefinedColumn, error.cause
    assert_match(/SELECT "posts"/, error.sql)
    error = assert_same_error "{ a: post(id: 1) { title } b: post(id: 999) { title } }", schemas
    assert_equal ["Post", "id", "999"], [error.model, error.primary_key, error.id.to_s]
  end

  # A field that ends its object itself raises what else it raises; and a scalar may make null of a value.
  def test_error_of_what_makes_it_null
    code = Class.new(GraphQL::Schema::Scalar) { graphql_name "Code"; def self.coerce_result(value, _) = value == 5 ? raise(KeyError, "no such code") : value.presence }
    thing = Class.new(Schemas::Base) do
      graphql_name "Coded"
      field :codes, [code], null: false
      field :slow, String
      field :bad, code, null: false
      def codes = [nil, 5]
      def slow = ::User.where(id: object.id).load && raise(KeyError, "broken")
      def bad = ""
    end
    root = query_type { field :thing, thing; field :things, [thing]; def thing = ::Post.find(1); def things = ::Post.order(:id).limit(3) }
    schemas = [false, true].map { |piped| Class.new(GraphQL::Schema) { query(root); use(Pipeloader) if piped } }
    ["codes", "slow bad", "bad slow", "codes slow", "bad codes"].each do |fields|
      ["{ thing { #{fields} } }", "{ things { #{fields} } }"].each do |query|
        plain, piped = schemas.map do |schema|
          schema.execute(query).to_h
        rescue KeyError => e
          e.message
        end
        assert_equal plain, piped, query unless Engine::NEXT && fields.include?("slow")
      end
    end
  end

  # What comes after a null that a serial run would not have gone beyond, raises nothing. (On Next it does, in a serial run too.)
  def test_error_below_what_has_become_null
    comment = Class.new(Schemas::Base) { graphql_name "LastComment"; field :id, GraphQL::Types::ID }
    post = Class.new(Schemas::Base) do
      graphql_name "Bursting"
      field :last_comment, comment, null: false
      field :burst, String
      def burst = raise(ArgumentError, "burst #{object.id}")
    end
    posts = query_type { field :none, [post, { null: true }]; field :all, [post, { null: true }]; def none = ::Post.where.missing(:comments).order(:id); def all = ::Post.order(:id) }
    schemas = [false, true].map { |piped| Class.new(GraphQL::Schema) { query(posts); use(Pipeloader) if piped } }
    public_send(Engine::NEXT ? :assert_same_error : :assert_same_answer, "{ none { lastComment { id } burst } }", schemas)
    assert_same_error "{ none { burst lastComment { id } } }", schemas
    assert_same_error "{ all { lastComment { id } burst } }", schemas
  end

  # The answer after an escaped error is as right as ever.
  def test_the_next_answer
    assert_same_error "{ fine boom }", Failing.schemas
    assert_answer 3, "{ posts { title author { name } comments { body commenter { name } } } }"
  end

  def test_returned_and_added_errors
    query = query_type do
      field :returned, String
      field :several, [String, { null: true }]
      field :added, String
      def returned = ::Post.count && GraphQL::ExecutionError.new("returned")
      def several = [::Post.first.title, GraphQL::ExecutionError.new("one of several"), ::Post.last.title]
      def added = ::Post.count && context.add_error(GraphQL::ExecutionError.new("added")) && "value"
    end
    assert_answer 2, "{ returned several added posts { title } }", Schemas.make(query: query), errors: 3
  end

  def test_rescue_from_that_reads
    query = query_type do
      field :fails, String
      def fails = ::Post.find(999)
    end
    schemas = Schemas.make(query: query) do
      rescue_from(ActiveRecord::RecordNotFound) { |_error| raise GraphQL::ExecutionError, "one of #{::Post.count}" }
    end
    assert_answer 2, "{ a: fails b: fails users { posts { title } } }", schemas, errors: 2
  end

  def test_skipped_items
    query = query_type do
      field :some, [String]
      def some = ::Post.order(:id).map { |post| post.comments.exists? ? post.title : context.skip }
    end
    assert_answer 13, "{ some }", Schemas.make(query: query)
  end

  # In a transaction, one failed read fails those after it.
  def test_in_a_transaction
    answer = assert_same_answer_in_a_transaction "{ users { name } failingSql posts { title } tags { name } }"
    assert_match(/current transaction is aborted/, answer["errors"].last["message"])
    assert_equal 3, answer["errors"].size
  end

  # graphql-ruby prepares arguments in a job of their own, so that this field's read comes behind that of the other.
  def test_in_a_transaction_field_with_arguments
    assert_same_answer_in_a_transaction "{ posts { title } failingSql }"
  end

  # A limit: a serial run has read the comments' posts by the time of the failure. Here they are a level further down, and
  # the transaction has ended with the level before.
  def test_in_a_transaction_deeper_reads_of_an_earlier_field_are_lost
    query = "{ comments { body post { title } } failingSql }"
    plain, piped = Schemas.pair.map { |schema| in_rolled_back_transaction { schema.execute(query).to_h } }
    assert_equal [%w[failingSql]], (plain["errors"].map { |error| error["path"] })
    assert_equal [*Array.new(40) { |index| ["comments", index, "post"] }, %w[failingSql]], (piped["errors"].map { |error| error["path"] })
    assert_equal 40, piped["errors"].count { |error| error["message"].include?("current transaction is aborted") }
  end

  # Where nobody rescues, the exception that leaves is a statement's, as serially, and not what it did to the transaction: whether
  # the field that is too late comes before the one that failed or behind it, has siblings, or is an object's of a list.
  def test_in_a_transaction_escaping
    { "{ bad }" => 0, "{ fine bad other }" => 0, "{ late bad }" => 0, "{ late fine bad other }" => 0, "{ users { posts { title } } bad }" => 0,
      "{ users { late } bad }" => 0, "{ users { name late } late with(id: 2) bad other }" => 0, "{ bad late }" => 0, "{ with(id: 1) bad }" => 0 }.each do |query, number|
      error = assert_same_error_in_a_transaction(query, Escaping.schemas)
      assert_instance_of PG::DivisionByZero, error.cause, query
      assert_match(/> #{number}\)/, error.sql, query)
    end
  end

  # An application's own exception, and one that is said by a transaction that the application has heard of.
  def test_in_a_transaction_escaping_otherwise
    assert_same_error_in_a_transaction "{ late boom bad }", Escaping.schemas
    assert_same_error_in_a_transaction "{ rescued late boom }", Escaping.schemas
    assert_same_error_in_a_transaction "{ rescued fine boom }", Escaping.schemas
  end

  # A limit: serially it is the earlier field's. Its second read was never run: the transaction was aborted by then.
  def test_in_a_transaction_escaping_where_both_would_fail
    plain, piped = Escaping.schemas.map { |schema| escaping_in_a_transaction(schema, "{ lateBad bad }") }
    assert_equal [PG::DivisionByZero] * 2, [plain, piped].map { |error| error.cause.class }
    assert_equal ["> 1)", "> 0)"], [plain, piped].map { |error| error.sql.last(4) }
  end

  # What leaves `execute` in a transaction that was open before.
  class Escaping < Schemas::Query
    graphql_name "Query"

    class User < Schemas::User
      graphql_name "EscapingUser"
      field :late, String
      def late = [object.posts.to_a.size, ::Comment.where(commenter_id: object.id).count].inspect
    end

    field :users, [User]
    %i[bad other late late_bad fine rescued boom].each { |name| field name, String }
    field(:with, String) { argument :id, Integer }

    def bad = failing(0)
    def other = ::Tag.order(:id).pluck(:name).first
    def fine = ::Post.find(1).title
    def late = "#{::Post.find(2).title} #{::Comment.find(1).body}"
    def late_bad = "#{::Post.find(2).title} #{failing(1)}"
    def with(id:) = "#{::Post.find(id).title} #{::Comment.find(id).body}"
    def boom = raise(ArgumentError, "boom #{::Post.find(3).title.size.positive?}")

    def rescued
      failing(2)
    rescue ActiveRecord::StatementInvalid
      "rescued"
    end

    def self.schemas
      [false, true].map do |piped|
        Class.new(GraphQL::Schema) do
          query Escaping
          use Pipeloader if piped
        end
      end
    end

    private

    def failing(number) = ::Post.where("1 / (likes - likes) > #{number}").pluck(:title).first
  end

  private

  def assert_same_error_in_a_transaction(query, schemas)
    plain, piped = schemas.map { |schema| escaping_in_a_transaction(schema, query) }
    assert_equal(*[plain, piped].map { |error| [error.class, error.message, error.cause.class, (error.sql if error.respond_to?(:sql))] }, query)
    piped
  end

  def escaping_in_a_transaction(schema, query)
    in_rolled_back_transaction do
      schema.execute(query)
      flunk "nothing left #{query}"
    rescue StandardError => e
      e
    end
  end

  def assert_same_answer_in_a_transaction(query)
    plain, piped = Schemas.pair.map { |schema| in_rolled_back_transaction { schema.execute(query).to_h } }
    assert_equal JSON.generate(plain), JSON.generate(piped)
    piped
  end

  def in_rolled_back_transaction
    result = nil
    ActiveRecord::Base.transaction do
      result = yield
      raise ActiveRecord::Rollback
    end
    result
  end
end

# What graphql-ruby calls besides field resolvers.
class HooksTest < AnswerTest
  Later = Struct.new(:work) do
    def value = work.call
  end

  def test_lazy_values
    query = query_type do
      field :later, Integer
      field :at_once, Integer
      field :late_posts, [Schemas::Post]
      def later = Later.new(-> { ::Post.count })
      def at_once = ::Comment.count
      def late_posts = Later.new(-> { ::Post.order(:id) })
    end
    schemas = Schemas.make(query: query) { lazy_resolve(Later, :value) }
    assert_answer trips_with_lazies(1), "{ a: later atOnce b: later }", schemas
    assert_answer trips_with_lazies(2), "{ latePosts { title author { name } } later posts { title comments { body } } }", schemas
  end

  def test_lazy_values_in_a_list
    post = type(Schemas::Post) do
      field :late_author, Schemas::User
      def late_author = Later.new(-> { object.author })
    end
    query = query_type do
      field :late, [post]
      def late = ::Post.order(:id)
    end
    assert_answer serial_on_next(trips_with_lazies(3)), "{ late { title lateAuthor { name profile { bio } } comments { body commenter { name } } } }",
                  Schemas.make(query: query) { lazy_resolve(Later, :value) }
  end

  def test_resolver_class
    resolver = Class.new(GraphQL::Schema::Resolver) do
      type [Schemas::Comment], null: true
      argument :post_id, GraphQL::Types::ID
      def ready?(**) = ::User.exists?(1)
      def authorized?(post_id:) = ::Post.exists?(post_id)
      def resolve(post_id:) = ::Comment.where(post_id: post_id).order(:id)
    end
    query = query_type { field :notes, resolver: resolver }
    # One round trip for each stage, whatever the number of fields; the commenters.
    assert_answer 4, "{ a: notes(postId: 1) { body commenter { name } } b: notes(postId: 2) { body } c: notes(postId: 999) { body } }",
                  Schemas.make(query: query)
  end

  def test_loads
    resolver = Class.new(GraphQL::Schema::Resolver) do
      type Schemas::Post, null: true
      argument :post_id, GraphQL::Types::ID, loads: Schemas::Post
      def resolve(post:) = post
    end
    query = query_type { field :loaded, resolver: resolver }
    schemas = Schemas.make(query: query) do
      def self.object_from_id(id, _context) = ::Post.find(id)
      def self.resolve_type(_type, object, _context) = ::Comment.exists?(post_id: object.id) ? Schemas::Post : Schemas::User
    end
    assert_answer 3, "{ a: loaded(postId: 1) { title author { name } } b: loaded(postId: 3) { title } users { name } }", schemas
    assert_answer 3, "{ a: loaded(postId: 1) { title author { name } } b: loaded(postId: 999) { title } users { name } }", schemas, errors: 1
  end

  def test_prepare
    query = query_type do
      field :prepared, String do
        argument :id, GraphQL::Types::ID, prepare: ->(id, _context) { ::Post.find(id) }
      end
      def prepared(id:) = id.author&.name
    end
    assert_answer 2, "{ a: prepared(id: 1) b: prepared(id: 2) c: prepared(id: 3) }", Schemas.make(query: query)
  end

  def test_scope_items
    post = type(Schemas::Post) do
      def self.scope_items(items, _context) = items.where(author_id: ::User.order(:id).limit(3).pluck(:id))
    end
    query = query_type do
      field :mine, [post]
      def mine = ::Post.order(:id)
    end
    assert_answer 3, "{ a: mine { title comments { body } } b: mine { id } }", Schemas.make(query: query)
  end

  def test_type_authorized
    post = type(Schemas::Post) do
      def self.authorized?(object, _context) = object.comments.exists?
    end
    query = query_type do
      field :seen, [post, { null: true }]
      field :strict, [post]
      def seen = ::Post.order(:id)
      def strict = ::Post.order(:id)
    end
    schemas = Schemas.make(query: query)
    answer = assert_answer 3, "{ seen { title author { name } } }", schemas
    assert_includes answer["data"]["seen"], nil
    assert_answer 3, "{ seen { title author { name } } users { posts { title } } }", schemas
    assert_answer 2, "{ strict { title } users { name } }", schemas, errors: 1
  end

  def test_unauthorized_object
    post = type(Schemas::Post) do
      def self.authorized?(object, _context) = object.comments.exists?
    end
    query = query_type do
      field :seen, [post, { null: true }]
      def seen = ::Post.order(:id)
    end
    schemas = Schemas.make(query: query) do
      def self.unauthorized_object(error) = raise(GraphQL::ExecutionError, "not post #{error.object.id} of #{::Post.count}")
    end
    assert_same_answer("{ seen { title } }", schemas).then { |answer| assert_operator answer["errors"].size, :>, 1 }
  end

  def test_field_authorized
    field_class = Class.new(GraphQL::Schema::Field) do
      def authorized?(object, _arguments, _context) = object.comments.exists?
    end
    post = type(Schemas::Post) do
      field_class(field_class)
      field :secret, String, resolver_method: :title
      def title = object.title
    end
    query = query_type do
      field :guarded, [post]
      def guarded = ::Post.order(:id)
    end
    assert_answer 2, "{ guarded { secret author { name } } }", Schemas.make(query: query)
  end

  def test_resolve_type
    union = Class.new(GraphQL::Schema::Union) do
      graphql_name "Busy"
      possible_types Schemas::Post, Schemas::User
      def self.resolve_type(object, _context) = ::Comment.exists?(commenter_id: object.id) ? Schemas::User : Schemas::User
    end
    query = query_type do
      field :busy, [union]
      def busy = ::User.order(:id)
    end
    assert_answer serial_on_next(3), "{ busy { __typename ... on User { name posts { title } } } }", Schemas.make(query: query)
  end

  def test_resolve_type_of_an_interface
    named = Module.new do
      include GraphQL::Schema::Interface
      graphql_name "Known"
      field :name, String
    end
    driver = type(Schemas::Base, "Driver") { implements named; field :vehicles, [Schemas::Vehicle] }
    walker = type(Schemas::Base, "Walker") { implements named }
    named.definition_methods { define_method(:resolve_type) { |object, _context| ::Vehicle.exists?(user_id: object.id) ? driver : walker } }
    query = query_type do
      field :known, [named]
      def known = ::User.order(:id)
    end
    assert_answer serial_on_next(3), "{ known { __typename name ... on Driver { vehicles { name } } } }", Schemas.make(query: query) { orphan_types driver, walker }
  end

  def test_field_extension
    extension = Class.new(GraphQL::Schema::FieldExtension) do
      def resolve(object:, arguments:, **) = ::User.exists?(1) ? yield(object, arguments) : nil
      def after_resolve(value:, **) = "#{value} of #{::Post.count}"
    end
    query = query_type do
      field :extended, String, extensions: [extension]
      def extended = ::Comment.count
    end
    assert_answer 3, "{ a: extended b: extended users { posts { comments { body } } } }", Schemas.make(query: query)
  end

  def test_directive
    directive = Class.new(GraphQL::Schema::Directive) do
      graphql_name "ifBusy"
      locations GraphQL::Schema::Directive::FIELD
      def self.include?(_object, _arguments, _context) = ::Comment.exists?
    end
    # The directive; the posts; theirs; the authors.
    assert_answer 4, "{ posts @ifBusy { title author @ifBusy { name } } users { posts { id } } }",
                  Schemas.make { directive(directive) }
  end

  def test_custom_scalar
    scalar = Class.new(GraphQL::Schema::Scalar) do
      graphql_name "UserName"
      def self.coerce_input(value, _context) = ::User.find_by(name: value)&.id
      def self.coerce_result(value, _context) = ::User.find(value).name
    end
    query = query_type do
      field :called, scalar do
        argument :name, scalar
      end
      def called(name:) = name
    end
    schemas = Schemas.make(query: query)
    # A literal is looked up by validation too, a variable before execution: at once.
    assert_same_answer('{ a: called(name: "user 1") b: called(name: "user 2") }', schemas)
    assert_answer 3, "query($name: UserName!) { a: called(name: $name) b: called(name: $name) }", schemas, variables: { "name" => "user 3" }
  end

  # graphql-ruby coerces the items of a list one by one.
  def test_custom_scalar_that_reads_for_its_result
    scalar = Class.new(GraphQL::Schema::Scalar) do
      graphql_name "UserNameById"
      def self.coerce_result(value, _context) = value && ::User.find(value).name
    end
    post = type(Schemas::Post) { field :called, scalar, method: :author_id }
    query = query_type do
      field :called, [post]
      field :called_all, [scalar]
      def called = ::Post.order(:id)
      def called_all = ::User.order(:id).pluck(:id)
    end
    schemas = Schemas.make(query: query)
    assert_answer serial_on_next(2), "{ called { called author { name } } }", schemas
    assert_answer 9, "{ calledAll }", schemas
  end

  # Before execution there are no fibers.
  def test_analyzer
    analyzer = Class.new(GraphQL::Analysis::Analyzer) do
      def result = ::Post.count > 100 ? GraphQL::AnalysisError.new("too many") : nil
    end
    schemas = Schemas.make { query_analyzer analyzer }
    assert_answer 3, "{ posts { title author { name } } }", schemas
    assert_equal 1, alone { schemas.last.execute("{ posts { title author { name } } }") }.size
  end

  def test_visibility
    field_class = Class.new(GraphQL::Schema::Field) { def visible?(_context) = ::Post.exists? }
    query = query_type do
      field_class(field_class)
      field :seen, [Schemas::Post]
      def seen = ::Post.order(:id)
    end
    schemas = Schemas.make(query: query, pipeloader: { compile: false })
    answer = assert_same_answer("{ seen { title author { name } } }", schemas)
    assert_equal 12, answer["data"]["seen"].size
    assert_equal [1, 9], bursts { schemas.last.execute("{ seen { title author { name } } }") }
    refute_empty(alone { schemas.last.execute("{ seen { title } }") })
  end

  # As PerfettoTrace: each fiber has a stack of what has begun on it, and nothing yields where that is empty.
  module Slices
    def slices = Thread.current[:slices] ||= []
    def begin_execute_field(*) = slices.push(:field) && super
    def end_execute_field(*) = slices.pop && super
    def begin_dataloader_source(*) = slices.push(:source) && super
    def end_dataloader_source(*) = slices.pop && super
    def dataloader_fiber_yield(*) = slices.fetch(-1) && super
    def dataloader_fiber_resume(*) = slices.fetch(-1) && super
  end

  def test_a_trace_that_wants_something_to_have_begun
    [true, false].each do |compile|
      schemas = Schemas.make(pipeloader: { compile: compile }) { trace_with(Slices) }
      assert_answer 3, "{ posts { title author { name } commentsCount comments { commenter { name } } } }", schemas
    end
  end

  def test_tracer_that_reads
    tracer = Module.new do
      def execute_multiplex(multiplex:)
        ::Post.count
        super
      end

      def execute_field(field:, query:, ast_node:, arguments:, object:)
        ::Tag.count if field.graphql_name == "posts"
        super
      end
    end
    assert_answer serial_on_next(4), "{ posts { title author { name } } }", Schemas.make { trace_with(tracer) }
  end

  # What is left open when a field parks isn't seen by its siblings.
  def test_dynamic_state
    query = query_type do
      field :popular, Integer
      field :all, Integer
      field :zone, String
      field :now_zone, String
      field :none, Integer
      def popular = ::Post.where(likes: 5..).scoping { ::Post.count * 1000 + ::Post.count }
      def all = ::Post.count
      def none = ::Post.none.scoping { ::User.count + ::Post.count }
      def zone = Time.use_zone("Tokyo") { [::Post.count, Time.zone.name].join(" ") }
      def now_zone = [Time.zone&.name, ::Post.count, Time.zone&.name].join(" ")
    end
    assert_answer 2, "{ popular a: all zone nowZone none b: all }", Schemas.make(query: query)
    assert_nil Time.zone
  end
end

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

class CountersTest < AnswerTest
  def setup = take_first_alias

  def counters(schema, query, **options) = schema.execute(query, **options).context.namespace(:pipeloader).slice(:bursts, :reads, :statements)

  def test_counters
    assert_equal({ bursts: 1, reads: 1, statements: 1 }, counters(Schemas.parked.last, "{ posts { title } }"))
    events = WireCounter.events("burst.pipeloader") { @counters = counters(Schemas.parked.last, "{ posts { author { name } comments { id } } }") }
    assert_equal({ bursts: 2, reads: events.sum { |it| it[:reads].size }, statements: events.sum { |it| it[:statements] } }, @counters)
    assert_operator @counters[:statements], :<, @counters[:reads]
  end

  def test_nothing_to_count
    assert_equal({ bursts: 0, reads: 0, statements: 0 }, counters(Schemas.pair.last, "{ __typename }"))
    assert_empty counters(Schemas.pair.first, "{ posts { title } }")
  end

  def test_each_answer_counts_for_itself
    2.times { assert_equal 2, counters(Schemas.pair.last, "{ posts { author { name } } }")[:bursts] }
  end

  def test_queries_of_a_multiplex_share
    results = Schemas.pair.last.multiplex([{ query: "{ posts { title } }" }, { query: "{ users { name } }" }])
    results.each { |it| assert_equal({ bursts: 1, reads: 2, statements: 2 }, it.context.namespace(:pipeloader)) }
  end

  def test_in_a_mutation
    restoring { assert_equal 3, counters(Schemas.pair.last, "mutation { a: like(id: 1) { author { name } } b: like(id: 4) { author { name } } }")[:bursts] }
  end

  def test_burst_event
    payloads = WireCounter.events("burst.pipeloader") { Schemas.pair.last.execute("{ posts { title auditNotes } }") }
    assert_equal [1, 2], payloads.map { |it| it[:position] }
    payloads.zip([Post.connection, Audit.connection]) do |payload, connection|
      assert_same connection, payload[:connection]
      assert_operator payload[:bytes_sent], :>, 0
      assert_operator payload[:bytes_received], :>, 0
    end
  end

  # Its own duration doesn't contain the wait.
  def test_sql_event_of_a_parked_read
    payloads = WireCounter.events("sql.active_record") { Schemas.parked.last.execute("{ posts { title author { name } } }") }
                          .reject { |it| it[:name] == "SCHEMA" }
    assert_equal [1] + ([2] * 9), payloads.map { |it| it[:pipeloader][:burst] }
    payloads.each { |it| assert_operator it[:pipeloader][:wait], :>, 0 }
  end
end

# Outside a response nothing is different.
class OutsideTest < AnswerTest
  def assert_untouched(&block)
    assert_empty(bursts { assert_equal 0, WireCounter.events("sql.active_record", &block).count { |it| it.key?(:pipeloader) } })
  end

  def test_reads
    assert_untouched { assert_equal 12, Post.includes(:author, :comments).to_a.size + (Post.count - Post.count(:id)) }
  end

  def test_writes_and_transactions
    restoring do
      assert_untouched do
        Post.transaction do
          post = Post.create!(title: "outside")
          post.update!(likes: 3)
          assert_equal 13, Post.count
          Post.transaction(requires_new: true) { post.destroy! && raise(ActiveRecord::Rollback) }
        end
        assert_equal 13, Post.count
        assert_equal 3, Post.find_by!(title: "outside").likes
      end
    end
  end

  def test_after_a_response
    Schemas.pair.last.execute("{ posts { author { name } } }")
    assert_untouched { Post.first.author }
  end

  def test_after_a_response_that_raised
    schema = Schemas.make(query: query_type { field(:boom, String) and def boom = ::Post.count && raise("boom") }).last
    assert_raises(RuntimeError) { schema.execute("{ users { name } boom }") }
    assert_untouched { Post.first.author }
  end

  def test_plain_schema
    assert_untouched { Schemas.pair.first.execute("{ posts { author { name } } }") }
  end

  # What a response left unread, is read by whoever asks: a relation that outlives it.
  def test_relation_that_outlives_its_response
    context = {}
    query = query_type do
      field :keep, Integer
      def keep = (context[:kept] = ::Post.order(:id)) && (context[:post] = ::Post.first).id
    end
    result = Schemas.make(query: query).last.execute("{ keep }", context: context)
    assert_untouched do
      assert_equal 12, result.context[:kept].to_a.size
      assert_equal "user", result.context[:post].author.name[0, 4] if result.context[:post].author
    end
  end

  def test_around_a_response
    ActiveRecord::Base.transaction do
      assert_answer 3, "{ posts { title author { name } comments { body commenter { name } } } }"
      assert_untouched { Post.first.author }
      raise ActiveRecord::Rollback
    end
  end

  # A response sees what its own transaction has written and nobody else has.
  def test_uncommitted_rows
    Post.transaction do
      Post.create!(title: "uncommitted")
      answer = assert_answer 2, "{ posts { title author { name } } }"
      assert_equal "uncommitted", answer["data"]["posts"].last["title"]
      raise ActiveRecord::Rollback
    end
    assert_equal 12, assert_answer(1, "{ posts { title } }")["data"]["posts"].size
  ensure
    restore
  end

  def test_query_cache_around_a_response
    ActiveRecord::Base.cache do
      assert_same_answer "{ posts { title author { name } } }"
      assert_empty(bursts { Schemas.pair.last.execute("{ posts { title author { name } } }") })
    end
    assert_equal 2, bursts { Schemas.pair.last.execute("{ posts { title author { name } } }") }.size
  end
end

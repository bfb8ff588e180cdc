# frozen_string_literal: true

require_relative "../support/answers"

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

  FRAGMENTS_ON_AN_INTERFACE = <<~GRAPHQL
    { things { ...named ... on Car { user { name } } ... on Bike { user { vehicles { name user { profile { bio } } } } } } }
    fragment named on Named { __typename name }
  GRAPHQL

  def test_fragments_on_an_interface = assert_answer(5, FRAGMENTS_ON_AN_INTERFACE)

  # ActiveRecord looks at a table when its model is first used. The reads that are gathered by then wait.
  def test_tables_that_are_first_looked_at_meanwhile
    User.connection_pool.schema_cache.clear!
    [User, Profile].each(&:reset_column_information)
    assert_round_trips(5) { Schemas.pair.last.execute(FRAGMENTS_ON_AN_INTERFACE) }
  end

  # Whether there is such a table, and what its key is, ActiveRecord asks by other statements than for its columns.
  def test_a_model_that_is_used_for_the_first_time
    unused = Class.new(ActiveRecord::Base) { self.table_name = "tags" }
    unused.connection_pool.schema_cache.clear!
    query = query_type do
      field :names, String
      define_method(:names) { unused.find(1).name }
    end
    schema = Schemas.make(query: query).last
    assert_round_trips(1) { schema.execute("{ posts { title } names }") }
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

  def test_a_list_as_a_partial
    skip "this graphql has no Query::Partial" unless GraphQL::Query.method_defined?(:run_partials)

    answers = Schemas.pair.map do |schema|
      query = schema.query_class.new(schema, "{ posts { title failing author { name } } }".sub("failing", "commentsCount"))
      query.run_partials([{ path: ["posts"], object: ::Post.order(:id).first(3), context: {} }]).map(&:to_h)
    end
    assert_equal(*answers.map { |it| JSON.generate(it) })
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

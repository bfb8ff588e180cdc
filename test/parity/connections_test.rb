# frozen_string_literal: true

require_relative "../support/answers"

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

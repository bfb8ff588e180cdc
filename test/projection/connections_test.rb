# frozen_string_literal: true

require_relative "projection_case"

class ConnectionProjectionTest < ProjectionCase
  def test_nodes
    assert_reads({ "works" => %w[id type title] }, "{ worksConnection(first: 3) { nodes { title } } }")
  end

  # (graphql 2.6 asks for one more than the page, to know whether there is a next.)
  def test_edges_with_cursors_and_pages
    assert_reads({ "works" => %w[id type title] }, <<~GRAPHQL)
      { worksConnection(first: 3, after: "Mg") { edges { cursor node { title } } pageInfo { hasNextPage endCursor } } }
    GRAPHQL
  end

  def test_edges_and_nodes_of_one_page
    assert_reads({ "works" => %w[id type title writer_id], "writers" => %w[id bio] }, <<~GRAPHQL)
      { worksConnection(last: 3) { edges { node { title } } nodes { writer { bio } } } }
    GRAPHQL
  end

  def test_of_an_association
    assert_reads({ "works" => %w[id type], "reviews" => %w[id work_id text] }, "{ works { reviewsConnection(first: 2) { nodes { text } } } }")
    assert_reads({ "works" => %w[id type], "reviews" => %w[id work_id text] }, "{ works { reviewsConnection { nodes { text } } } }")
  end

  def connection(name, **options, &block)
    node = Library::Work
    Class.new(GraphQL::Types::Relay::BaseConnection) do
      graphql_name name
      edge_type(node.edge_type, **options)
      class_eval(&block)
    end
  end

  def paged(type)
    schemas do
      field :paged, type, null: false, connection: true
      def paged = ::Work.order(:id)
    end
  end

  # It may ask the nodes anything.
  def test_field_of_the_connections_own
    type = connection("Counted") do
      field :longest, Integer
      def longest = object.nodes.map { |work| work.body.size }.max
    end
    assert_reads({ "works" => [nil] }, "{ paged(first: 2) { longest nodes { title } } }", paged(type))
    assert_reads({ "works" => %w[id type title] }, "{ paged(first: 2) { nodes { title } } }", paged(type))
  end

  def test_field_of_the_connections_own_that_says_what_it_reads
    type = connection("Declared") do
      field :longest, Integer, selects: %i[body]
      field :total, Integer, selects: []
      def longest = object.nodes.map { |work| work.body.size }.max
      def total = object.items.size
    end
    assert_reads({ "works" => [%w[id type title body]] }, "{ paged(first: 2) { longest nodes { title } } }", paged(type))
    answer = assert_same_answer("{ paged(first: 2) { total nodes { title } } }", paged(type))
    assert_equal 12, answer["data"]["paged"]["total"]
  end

  class Looking < GraphQL::Pagination::Connection::Edge
    def node = super.tap(&:body)
  end

  def test_edges_and_pages_of_the_applications
    edges = connection("Edges", edge_class: Looking) { nil }
    assert_reads({ "works" => [nil] }, "{ paged(first: 2) { edges { node { title } } } }", paged(edges))
    pages = connection("Pages") { def page_info = object.tap { |them| them.nodes.each(&:body) } }
    assert_reads({ "works" => [nil] }, "{ paged(first: 2) { nodes { title } pageInfo { endCursor } } }", paged(pages))
  end

  class ByTitle < GraphQL::Pagination::ActiveRecordRelationConnection
    def cursor_for(item) = Base64.strict_encode64(item.summary.to_s)
  end

  # Its cursors may be made of any column.
  def test_connection_class_of_the_applications
    pair = schemas do
      field :paged, Library::Work.connection_type, null: false
      def paged = ByTitle.new(::Work.order(:id))
    end
    assert_reads({ "works" => [nil] }, "{ paged(first: 2) { edges { cursor node { title } } } }", pair)
  end
end

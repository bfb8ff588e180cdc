# frozen_string_literal: true

require_relative "../support/plans"

# Connections of an application's own class, which keep what they have loaded.
class ConnectionTurnsTest < PlanTest
  class Page < GraphQL::Pagination::Connection
    def nodes = load_nodes
    def has_next_page = load_nodes.size == first
    def has_previous_page = load_nodes.empty?
    def cursor_for(item) = "c#{item.id}"
    def total_count = @total_count ||= items.count + Comment.where(post_id: items.map(&:id)).count
    def cleared? = (@nodes = nil).nil?

    private

    def load_nodes = @nodes ||= items.order(:id).limit(first).to_a.tap { |it| Comment.where(post_id: it.map(&:id)).to_a }
  end

  class Failing < Page
    def nodes = raise(GraphQL::ExecutionError, "none of #{items.count}")
  end

  class Private < Page
    private :cleared?
  end

  class Without < Page
    undef_method :cleared?
  end

  class Frozen < Page
    def load_nodes = items.order(:id).limit(first).to_a
  end

  class PostType < Schemas::Base
    graphql_name "TurnsPost"
    field :title, String
    field :words, Integer
    def words = object.comments.to_a.size + object.title.split.size
  end

  class PageType < PostType.connection_type
    graphql_name "TurnsPageConnection"
    edge_type(PostType.edge_type)
    field :total_count, Integer
    field :again, Integer, resolver_method: :total
    field :cleared, GraphQL::Types::Boolean, method: :cleared?
    def total = object.total_count + object.nodes.size
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field(:posts, PageType) { argument :failing, GraphQL::Types::Boolean, required: false }
    def posts(failing: false) = (failing ? Failing : Page).new(Post.all)
  end

  ALL = "nodes { title words } edges { cursor node { words } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } totalCount again"

  def setup
    super
    @schemas = Schemas.make(query: Query)
  end

  def test_what_is_kept_is_loaded_once
    counts = @schemas.map { |schema| asked { schema.execute("{ posts(first: 3) { #{ALL} } }") } }
    assert_operator counts.last, :<=, counts.first
    again = @schemas.map { |schema| asked { schema.execute("{ posts(first: 3) { nodes { title } edges { cursor } pageInfo { endCursor hasNextPage } } }") } }
    assert_equal [2, 2], again
  end

  # The statements that somebody has asked for, whether or not they were sent together.
  def asked(&block)
    count = 0
    ActiveSupport::Notifications.subscribed(->(*, payload) { count += 1 unless payload[:name] == "SCHEMA" }, "sql.active_record", &block)
    count
  end

  def test_parity
    ["{ posts(first: 3) { #{ALL} } }", "{ a: posts(first: 2) { #{ALL} } b: posts(first: 4) { totalCount nodes { words } } }", "{ posts(first: 3) { nodes { title } cleared edges { node { words } } } }",
     "{ posts(failing: true, first: 3) { #{ALL} } }", "{ posts(failing: true) { totalCount pageInfo { endCursor } edges { cursor } } }"].each do |query|
      assert_equal(*@schemas.map { |schema| outcome { schema.execute(query).to_h } })
      assert_includes outcome { @schemas.first.execute(query).to_h }, "data", query
      3.times { assert_equal(*@schemas.map { |schema| outcome { schema.execute(query).to_h } }) }
    end
  end

  # Methods are public where the class itself has them so.
  def test_heirs_that_hide_methods
    [Private, Without].each do |page|
      schemas = paged { page.new(Post.all) }
      answers = schemas.map { |schema| outcome { schema.execute("{ posts(first: 2) { nodes { title } totalCount } }").to_h } }
      assert_equal(*answers)
      assert_includes answers.last, "data"
      raised = schemas.map { |schema| outcome { schema.execute("{ posts(first: 2) { nodes { title } cleared } }").to_h }["raised"] }
      assert_equal(*raised.map { |error| error.flatten.map { |it| it[/\A[^#]*/].strip } })
    end
  end

  def test_frozen_ones
    schemas = paged(connection: false) { Frozen.new(Post.all, first: 2, context: context, arguments: {}).tap(&:first).freeze }
    answers = schemas.map { |schema| outcome { schema.execute("{ posts { nodes { title } pageInfo { hasNextPage } } }").to_h } }
    assert_equal(*answers)
    assert_includes answers.last, "data"
  end

  # One without a context may go into a cache.
  def test_dumped_ones
    schemas = paged { Marshal.load(Marshal.dump(Page.new([1]))) && Page.new(Post.all) }
    answers = schemas.map { |schema| outcome { schema.execute("{ posts(first: 3) { #{ALL} } }").to_h } }
    assert_equal(*answers)
    assert_includes answers.last, "data"
  end

  def paged(**options, &block)
    query = Class.new(Schemas::Base) do
      graphql_name "Query"
      field(:posts, PageType, **options)
      define_method(:posts, &block)
    end
    Schemas.make(query: query)
  end

  def test_classes_of_graphql_rubys_are_left_alone
    made = nil
    query = Class.new(Schemas::Base) do
      graphql_name "Query"
      field :posts, PostType.connection_type
      define_method(:posts) { made = GraphQL::Pagination::ActiveRecordRelationConnection.new(Post.order(:id)) }
    end
    Schemas.make(query: query).each { |schema| assert schema.execute("{ posts(first: 2) { nodes { title } } }").to_h["data"] }
    assert_empty made.singleton_class.ancestors - [made.singleton_class] - made.class.ancestors
  end

  def test_outside_of_a_response
    page = Page.new(Post.all, first: 2, max_page_size: 5, context: GraphQL::Query.new(@schemas.first, "{ __typename }").context)
    assert_equal [2, page.class.ancestors], [page.nodes.size, page.singleton_class.ancestors - [page.singleton_class]]
  end
end

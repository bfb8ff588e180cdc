# frozen_string_literal: true

require_relative "../support/pages"

# Fields of an edge type, or of a connection type, that only compute from the node's columns and the cursor.
class EdgeFieldsTest < PageTest
  MADE = { "{ story" => [Story], "{ loud" => [Story] }.freeze

  # A connection whose edges have a field of that body.
  def self.marked(name, node = Comment, kind: String, null: true, &body)
    edge = type("#{name}Edge", GraphQL::Types::Relay::BaseEdge) do
      node_type node
      field :mark, kind, null: null
      class_exec(&body)
    end
    type("#{name}Connection", GraphQL::Types::Relay::BaseConnection) { graphql_name "#{name}Connection"; edge_type edge }
  end

  def marked(...) = EdgeFieldsTest.marked(...)

  # {name => the field's method}
  PLAIN = {
    column: -> { def mark = object.node.body },
    made_of_a_column: -> { def mark = object.node.body.upcase },
    number: -> { def mark = "#{object.node.score * 2} of #{object.node.id}" },
    column_not_selected: -> { def mark = "story #{object.node.post_id}" },
    null: -> { def mark = object.node.commenter_id ? "by #{object.node.commenter_id}" : nil },
    cursor: -> { def mark = object.cursor },
    made_of_the_cursor: -> { def mark = "#{object.cursor}!" },
    both: -> { def mark = "#{object.cursor} #{object.node.body} #{object.node.score}" },
    constant: -> { def mark = "a text" },
    helper: -> { def mark = shown(object.node.body); def shown(text) = "<#{text}>" }
  }.freeze

  # {name => the field's method, which is graphql-ruby's to run}
  LEFT = {
    association: -> { def mark = object.node.commenter&.name },
    node: -> { def mark = object.node.class.name },
    whole: -> { def mark = object.node.attributes.size.to_s },
    parent: -> { def mark = object.parent.class.name },
    context: -> { def mark = "#{context[:more]} #{object.node.body}" },
    connection: -> { def mark = object.node.score == 3 ? object.cursor : object.parent.to_s.size.to_s },
    read: -> { def mark = Remark.where(id: object.node.id..).count.to_s },
    raised: -> { def mark = raise(GraphQL::ExecutionError, "of #{object.node.id}") }
  }.freeze

  BELOWS = ["edges { mark node { id } }", "edges { cursor node { body } mark a: mark __typename } pageInfo { hasNextPage endCursor }"].freeze
  GIVEN = ["", "(first: 2)", "(first: 1, after: \"MQ\")", "(last: 2)", "(first: 0)"].freeze

  def text_everywhere(schemas, belows = BELOWS, **options)
    some(GIVEN.product(belows).flat_map { |given, below| forms(given, below) }).each { |query| 2.times { text_of_both(query, schemas, **options) } }
  end

  def assert_compiled(schemas, below = BELOWS.last, **options)
    some(GIVEN.first(4).flat_map { |given| forms(given, below) }).each do |query|
      next assert_plan(query, schemas, aside: Story, **options) if query.start_with?("{ loud") && Engine::NEXT

      assert_plan(query, schemas, made: MADE.fetch(query[/\A\{ \w+/], []), **options)
    end
  end

  # A third of the queries; which third depends on the test's name. All of them take minutes.
  def some(queries) = queries.select.with_index(name.sum) { |_, index| (index % 3).zero? }

  PLAIN.each do |name, body|
    define_method(:"test_plain_#{name}") do
      schemas = make_schemas(connection: marked("Plain", &body))
      text_everywhere(schemas)
      BELOWS.each { |below| assert_compiled(schemas, below, errors: :any) }
    end
  end

  LEFT.each do |name, body|
    define_method(:"test_left_#{name}") do
      schemas = make_schemas(connection: marked("Left", &body))
      text_everywhere(schemas, context: { more: 3 })
    end
  end

  def test_types_of_the_value
    { Integer => -> { def mark = object.node.score }, GraphQL::Types::ID => -> { def mark = object.node.id }, GraphQL::Types::Boolean => -> { def mark = object.node.score > 3 },
      [String] => -> { def mark = [object.node.body, object.cursor] }, Float => -> { def mark = object.node.score / 2.0 } }.each do |kind, body|
      schemas = make_schemas(connection: marked("Kind", kind: kind, &body))
      text_everywhere(schemas, BELOWS.first(1))
      assert_compiled(schemas, errors: :any)
    end
  end

  # A value that doesn't fit, or a method that raises, is graphql-ruby's error at its place.
  def test_what_does_not_fit
    [[false, String, -> { def mark = (object.node.body if object.node.commenter_id) }], [true, Integer, -> { def mark = object.node.body }],
     [true, String, -> { def mark = (10 / (object.node.score - 3)).to_s }], [true, Integer, -> { def mark = object.node.commenter_id + 1 }]].each do |null, kind, body|
      text_everywhere(make_schemas(connection: marked("Strict", kind: kind, null: null, &body)), BELOWS.first(1))
    end
  end

  def test_arguments
    connection = marked("Given") { field(:times, String) { argument :n, Integer, required: false }; def mark = object.cursor; def times(n: 2) = object.node.body * n }
    text_everywhere(make_schemas(connection: connection), ["edges { times(n: 1) node { id } }", "edges { a: times b: times(n: 3) node { id } }"])
  end

  # The nodes may stand beside the edges: what these ask of them is then graphql-ruby's.
  def test_nodes_at_another_place
    schemas = make_schemas(connection: marked("Aside") { def mark = object.node.score.to_s })
    text_everywhere(schemas, ["nodes { id } edges { mark }", "edges { mark } nodes { id }", "edges { mark }", "a: edges { node { id } } b: edges { mark }", "nodes { id score } edges { mark cursor }"])
  end

  def test_members_of_an_interface
    named = Module.new { include GraphQL::Schema::Interface; graphql_name "Named"; field :id, GraphQL::Types::ID; def self.resolve_type(*) = Comment }
    edge = marked("Member", named) { def mark = object.node.body }
    schemas = make_schemas(connection: edge, schema: proc { orphan_types(Comment) })
    text_everywhere(schemas)
  end

  def test_guarded_nodes
    seen = type("Seen", Comment) { def self.authorized?(object, _) = object.score > 2 }
    text_everywhere(make_schemas(connection: marked("Guarded", seen) { def mark = "#{object.node.body} #{object.node.post_id}" }))
  end

  def test_a_reader_of_the_model_s_own
    model = Class.new(ActiveRecord::Base) { self.table_name = "comments"; def self.name = "EdgeFieldsTest::Read"; def body = "own #{super}" }
    EdgeFieldsTest.const_set(:Read, model) unless EdgeFieldsTest.const_defined?(:Read, false)
    connection = marked("Own", type("OwnNode") { field :id, GraphQL::Types::ID }) { def mark = object.node.body }
    schemas = make_schemas(connection: connection, root: -> { EdgeFieldsTest::Read.order(:id) })
    ["", "(first: 2)"].each { |given| 2.times { text_of_both("{ many#{given} { edges { mark node { id } } } }", schemas) } }
  end

  def test_an_edge_class_of_the_application
    own = Class.new(GraphQL::Pagination::Connection::Edge) { def cursor = "own" }
    edge = type("OwnedEdge", GraphQL::Types::Relay::BaseEdge) { node_type Comment; field :mark, String; def mark = object.cursor.upcase }
    connection = type("OwnedConnection", GraphQL::Types::Relay::BaseConnection) { graphql_name "OwnedConnection"; edge_type edge, edge_class: own }
    text_everywhere(make_schemas(connection: connection))
  end

  # {what an edge class adds, or changes => whether the edges are as graphql-ruby's}
  EDGES = {
    nothing: [-> {}, true],
    private_method: [-> { attr_accessor :seen; private def helper = 1 }, true],
    module: [-> { include(Module.new { def rank = node.score.to_i + 1 }) }, true],
    class_method: [-> { def self.of(node) = new(node, nil) }, true],
    cursor: [-> { def cursor = "own #{super}" }, false],
    node: [-> { def node = super.tap { |it| it.body = "own" } }, false],
    parent: [-> { def parent = nil }, false],
    initializer: [-> { def initialize(node, connection) = super(node.tap { |it| it.body = "own" }, connection) }, false],
    new: [-> { def self.new(node, connection) = super(node.tap { |it| it.body = "own" }, connection) }, false],
    prepended: [-> { prepend(Module.new { def node = super.tap { |it| it.body = "own" } }) }, false],
    included: [-> { include(Module.new { def cursor = "own" }) }, false],
    missing: [-> { def method_missing(*) = 1; def respond_to_missing?(*) = true }, false],
    respond_to: [-> { def respond_to?(*) = false }, false]
  }.freeze

  # Its own methods are graphql-ruby's to call.
  EDGES.each do |name, (body, plain)|
    define_method(:"test_edge_class_that_has_#{name}") do
      adding = Class.new(GraphQL::Pagination::Connection::Edge) { define_method(:rank) { node.score.to_i * 2 }; class_exec(&body) }
      edge = type("AddingEdge", GraphQL::Types::Relay::BaseEdge) do
        node_type Comment
        field :mark, String
        field :rank, Integer
        field :asked, Integer
        def mark = "#{object.cursor} #{object.node.score}"
        def asked = object.rank
      end
      connection = type("AddingConnection", GraphQL::Types::Relay::BaseConnection) { graphql_name "AddingConnection"; edge_type edge, edge_class: adding }
      schemas = make_schemas(connection: connection)
      belows = [*BELOWS, "edges { rank node { id } }", "edges { asked }", "nodes { id } edges { cursor }"]
      belows.each_with_index { |below, index| forms(GIVEN[index], below).values_at(0, 3).each { |query| 2.times { text_of_both(query, schemas) } } }
      forms("(first: 2)", BELOWS.last).values_at(0, 3).each do |query|
        assert_plan(query, schemas, aside: plain ? nil : { "s" => Story, "m" => Remark }.fetch(query[2]), errors: :any)
      end
    end
  end

  def test_an_edge_class_of_a_returned_connection
    adding, own = [-> { def rank = 1 }, -> { def cursor = "own" }].map { |body| Class.new(GraphQL::Pagination::Connection::Edge) { class_exec(&body) } }
    [adding, own].each do |it|
      text_everywhere(make_schemas(root: -> { GraphQL::Pagination::ActiveRecordRelationConnection.new(Remark.order(:id), edge_class: it) }), ["edges { cursor node { id } }", ALL])
    end
  end

  # A method that is defined anew is seen.
  def test_defined_anew
    connection = marked("Anew") { def mark = object.node.body }
    schemas = make_schemas(connection: connection)
    text_everywhere(schemas, BELOWS.first(1))
    connection.get_field("edges").type.unwrap.class_eval { undef_method(:mark); def mark = object.node.score.to_s }
    text_everywhere(schemas, BELOWS.first(1))
  end

  # And so is one of the node's.
  def test_method_of_the_node_defined_anew
    model = Class.new(ActiveRecord::Base) { self.table_name = "comments"; def self.name = "EdgeFieldsTest::Anew"; def short = body.to_s[0, 3] }
    EdgeFieldsTest.const_set(:Anew, model) unless EdgeFieldsTest.const_defined?(:Anew, false)
    connection = marked("AnewNode", type("AnewOfEdge") { field :id, GraphQL::Types::ID }) { def mark = object.node.short }
    schemas = make_schemas(connection: connection, root: -> { EdgeFieldsTest::Anew.order(:id) })
    2.times do
      3.times { text_of_both("{ many(first: 2) { edges { mark node { id } } } }", schemas) }
      EdgeFieldsTest::Anew.class_eval { undef_method :short; def short = "#{body.to_s[0, 2]}!" }
    end
  end

  def test_field_exact
    schemas = make_schemas(connection: marked("Exact") { def mark = "#{object.node.score} #{object.node.post_id}" }, pipeloader: { field_exact: true })
    text_everywhere(schemas)
  end

  def test_constants_of_a_connection
    connection = type("ConstantConnection", GraphQL::Types::Relay::BaseConnection) do
      edge_type Comment.edge_type
      field :kind, String
      field :limit, Integer
      def kind = "comments"
      def limit = 50
    end
    schemas = make_schemas(connection: connection)
    belows = ["kind nodes { id } limit", "edges { node { id } } a: kind pageInfo { hasNextPage }"]
    text_everywhere(schemas, belows)
    belows.each { |below| assert_compiled(schemas, below) }
  end

  def test_only_the_columns_are_read
    schemas = make_schemas(connection: marked("Narrow") { def mark = object.node.score.to_s })
    query = "{ stories { comments(first: 1) { edges { mark node { id } } } } }"
    schemas.last.execute(query)
    sql = WireCounter.events("sql.active_record") { schemas.last.execute(query) }.last[:sql]
    assert_includes sql, "score"
    refute_includes sql, "body"
  end

  def test_explained
    told = Pipeloader.explain(make_schemas(connection: marked("Told") { def mark = object.node.body }).last, "{ stories { comments(first: 1) { edges { mark node { id } } } } }")
    assert_includes told.to_s, "mark: compiled"
  end
end

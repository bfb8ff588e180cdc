# frozen_string_literal: true

require_relative "../support/pages"

# Relay connections whose nodes, edges and page are written by plans.
class PagesTest < PageTest
  MADE = { "{ story" => [Story], "{ loud" => [Story] }.freeze

  def assert_pages(schemas, given = "", below = ALL, **options)
    forms(given, below).each do |query|
      next assert_plan(query, schemas, aside: Story, **options) if query.start_with?("{ loud") && Engine::NEXT

      assert_plan(query, schemas, made: MADE.fetch(query[/\A\{ \w+/], []), **options)
    end
  end

  # Each by graphql-ruby: but what is below the nodes may be compiled.
  #
  # @param root [Boolean] whether there are records at the root
  def assert_left(schemas, given = "", below = ALL, root: true)
    *owners, many = forms(given, below).first(4)
    owners.each { |query| assert_plan(query, schemas, aside: Story, errors: :any) }
    root ? assert_plan(many, schemas, aside: Remark) : text_of_both(many, schemas)
  end

  def test_all_pages
    schemas = make_schemas
    [nil, 1, 2, 3, 100].product([nil, 1, 2, 7, 100]) do |first, after|
      given = { first: first, after: after && cursor(after).inspect }.compact.map { |it| it.join(": ") }.join(", ")
      assert_pages(schemas, given.empty? ? "" : "(#{given})")
    end
  end

  def test_selections
    schemas = make_schemas
    ["nodes { id }", "nodes { a: id } pageInfo { hasNextPage }", "edges { node { commenter { name posts { title } } } } pageInfo { endCursor }",
     "pageInfo { hasNextPage } edges { cursor a: cursor __typename node { body } } b: pageInfo { startCursor }",
     "... { edges { ...E } } edges { node { score } } __typename", "nodes { __typename }"].each do |below|
      ["", "(first: 2)", "(first: 2, after: \"#{cursor(1)}\")"].each do |given|
        next assert_pages(schemas, given, below) unless below.include?("...E")

        forms(given, below).each { |query| text_of_both("#{query} fragment E on RemarkEdge { cursor node { id } }", schemas) }
      end
    end
  end

  # One statement for all owners; with one for what is below.
  def test_statements
    schemas = make_schemas
    { "{ stories { id comments(first: 2) { nodes { id } pageInfo { hasNextPage } } } }" => 2,
      "{ connected(first: 3) { nodes { comments(first: 2) { edges { node { commenter { name } } } } } pageInfo { hasNextPage } } }" => 3,
      "{ many(first: 2) { nodes { id } pageInfo { hasNextPage hasPreviousPage } } }" => 1 }.each do |query, count|
      schemas.last.execute(query)
      statements = WireCounter.events("sql.active_record") { schemas.last.execute(query) }
      assert_equal count, statements.size, statements.map { |it| it[:sql] }.join("\n")
    end
  end

  def test_only_the_page_and_what_is_below_it
    schemas = make_schemas
    query = "{ many(first: 2) { nodes { id commenter { name } } pageInfo { hasNextPage } } }"
    events = WireCounter.events("sql.active_record") { schemas.last.execute(query) }
    assert_equal [3], events.first[:binds].filter_map { |bind| bind.value if bind.respond_to?(:name) && bind.name == "LIMIT" }
    shown = Remark.order(:id).limit(2).pluck(:commenter_id).uniq.size
    assert_equal shown, PG::TextDecoder::Array.new.decode(events.last[:binds].first.value).size
  end

  # From where nothing begins: graphql-ruby's.
  def test_left_pages
    schemas = make_schemas
    %w[after before].product(["!", cursor(0), cursor(-3), cursor("x"), cursor(10**30)]) { |name, from| assert_left(schemas, "(#{name}: #{from.inspect})", root: false) }
    assert_pages(schemas, "(after: \"\", last: null, before: null)")
  end

  def test_left_selections
    schemas = make_schemas
    ["pageInfo { hasNextPage }", "edges { cursor }", "nodes { id } edges { node { body } }", "__typename", "a: nodes { id } b: nodes { id }"].each do |below|
      forms("(first: 2)", below).each { |query| text_of_both(query, schemas) }
    end
  end

  VARIABLES = "query q($first: Int, $after: String, $last: Int, $before: String, $more: Boolean = true) { stories { comments(first: $first, after: $after, last: $last, before: $before) " \
              "{ edges { cursor node { id } } pageInfo @include(if: $more) { hasNextPage endCursor } } } }"

  def test_variables
    schemas = make_schemas
    [{}, { first: 2 }, { first: 1, after: cursor(2) }, { first: 3, more: false }, { last: 2 }, { first: nil, last: nil }, { before: cursor(3) }, { first: 3, last: 1 }].each do |variables|
      [2, 0].each { |least| text_of_both(VARIABLES, schemas, variables: variables.transform_keys(&:to_s).merge("least" => least)) }
    end
  end

  def test_many_documents_and_threads
    schemas = make_schemas
    pages = (1..20).map { |first| { "first" => first, "after" => (cursor(first % 4) if (first % 4).positive?) } }
    answers = pages.map { |it| schemas.first.execute(VARIABLES, variables: it).to_h }
    found = 4.times.map { Thread.new { pages.map { |it| schemas.last.execute(VARIABLES, variables: it).to_h } } }
    found.each { |thread| assert_equal answers, thread.value }
  end

  def test_page_sizes
    [{ max_page_size: 2 }, { default_page_size: 3 }, { default_page_size: 5, max_page_size: 2 }, { max_page_size: nil }].each do |sizes|
      schemas = make_schemas(options: sizes, root_options: sizes)
      ["", "(first: 1)", "(first: 4)", "(first: 10, after: \"#{cursor(1)}\")"].each { |given| assert_pages(schemas, given) }
    end
    schemas = make_schemas
    schemas.each { |schema| schema.default_max_page_size(2); schema.default_page_size(1) }
    ["", "(first: 1)", "(first: 4)"].each { |given| assert_pages(schemas, given) }
  end

  METHODS = {
    order: -> { def comments = object.comments.reorder(score: :desc, id: :asc) },
    where: -> { def comments = object.comments.where("score > 2") },
    scope: -> { def comments = object.comments.scored(4) },
    reader: -> { def comments = object.comments }
  }.freeze

  METHODS.each do |name, body|
    define_method(:"test_method_#{name}") do
      schemas = make_schemas(&body)
      ["", "(first: 2)", "(first: 2, after: \"#{cursor(1)}\")"].each { |given| assert_pages(schemas, given) }
    end
  end

  def test_arguments_of_its_own
    ["", "(least: 2)", "(first: 2, least: 1)", "(least: 6, first: 1)"].each do |given|
      assert_plan("{ stories { id comments#{given} { #{ALL} } } }", arguments_schemas)
    end
  end

  # (`first` is the connection's, and the method's own is what it says itself.)
  def arguments_schemas
    story = type("Story") do
      field :id, GraphQL::Types::ID
      field(:comments, Comment.connection_type) { argument :least, GraphQL::Types::Int, required: false }
      def comments(least: 4, first: 1) = object.comments.scored(least).where("score > ?", first)
    end
    schemas({ stories: [[story], -> { Story.order(:id) }] })
  end

  def test_through
    tag = type("Tag") { field :name, String }
    schemas = make_schemas { field :tags, tag.connection_type; def tags = object.tags.order(:name, :id) }
    ["", "(first: 1)", "(first: 2, after: \"#{cursor(1)}\")"].each do |given|
      text_of_both("{ stories { id tags#{given} { edges { cursor node { name } } pageInfo { hasNextPage } } } }", schemas)
    end
  end

  def test_back_to_the_owner
    owner = type("Owner") { field :title, String }
    remark = type("Back") { field :body, String; field :story, owner }
    schemas = make_schemas(remark)
    ["{ stories { id comments(first: 2) { nodes { body story { title } } } } }", "{ loud { loud comments { nodes { body story { title } } } } }",
     "{ story { comments(first: 2) { edges { node { story { title } } } } } }", "{ many(first: 3) { nodes { story { title } } } }"].each { |query| text_of_both(query, schemas) }
  end

  def test_connections_in_connections
    schemas = nested_schemas
    below = "{ name stories(first: 2) { nodes { title comments(first: 1) { edges { cursor node { body } } pageInfo { hasNextPage } } } pageInfo { endCursor hasNextPage } } }"
    assert_plan("{ authors #{below} }", schemas)
    assert_equal 3, WireCounter.events("sql.active_record") { schemas.last.execute("{ authors #{below} }") }.size
  end

  def test_nothing_in_it
    schemas = make_schemas { def comments = object.comments.where(score: 100..) }
    ["", "(first: 2)"].each { |given| assert_pages(schemas, given, ALL) if given }
    assert_plan("{ many(first: 2, after: \"#{cursor(5000)}\") { #{ALL} } }", schemas)
    text_of_both("{ many { #{ALL} } }", make_schemas(root: -> { Remark.none }))
    text_of_both("{ many { #{ALL} } }", make_schemas(root: -> {}))
  end

  # A node that doesn't fit, or a server that says no: graphql-ruby's errors, and its nulls.
  def test_what_does_not_fit
    strict = type("Strict") { field :id, GraphQL::Types::ID; field :commenter_id, GraphQL::Types::Int, null: false; field :body, String }
    schemas = make_schemas(strict)
    ["(first: 3)", ""].each do |given|
      forms(given, "edges { node { id commenterId } cursor } pageInfo { hasNextPage }").each { |query| text_of_both(query, schemas) }
    end
    failing = make_schemas(root: -> { Remark.where("1 / (id - id) > 0").order(:id) }) { def comments = object.comments.where("1 / (comments.id - comments.id) > 0") }
    forms("(first: 2)", ALL).each { |query| assert_includes text_of_both(query, failing), "errors" }
  end

  ROOTS = {
    limited: -> { Remark.order(:id).limit(5) },
    offset: -> { Remark.order(:id).offset(2) },
    loaded: -> { Remark.order(:id).load },
    array: -> { Remark.order(:id).to_a },
    distinct: -> { Remark.distinct.order(:id) },
    grouped: -> { Remark.select(:id).group(:id).order(:id) },
    eager: -> { Remark.eager_load(:commenter).order(:id) },
    own: -> { Remark.order(:id).extending(Module.new) },
    made: -> { GraphQL::Pagination::ActiveRecordRelationConnection.new(Remark.order(:id), max_page_size: 2) },
    an_array_s: -> { GraphQL::Pagination::ArrayConnection.new(Remark.order(:id).to_a) },
    subclass: -> { Class.new(GraphQL::Pagination::ActiveRecordRelationConnection) { def cursor_for(item) = "c#{item.id}"; def cursor_for_position(item, _) = cursor_for(item) }.new(Remark.order(:id)) },
    edge_class: -> { GraphQL::Pagination::ActiveRecordRelationConnection.new(Remark.order(:id), edge_class: Class.new(GraphQL::Pagination::Connection::Edge) { def cursor = "own" }) },
    singleton: -> { GraphQL::Pagination::ActiveRecordRelationConnection.new(Remark.order(:id)).tap { |it| def it.has_next_page = true } },
    read: -> { GraphQL::Pagination::ActiveRecordRelationConnection.new(Remark.order(:id), first: 3).tap(&:nodes) },
    association: -> { Story.find(3).comments },
    of_an_association: -> { Story.find(3).comments.order(:id) },
    loaded_association: -> { Story.find(3).comments.load },
    changed_association: -> { Story.find(3).comments.tap { |it| it.build(body: "new") } },
    unsaved_owner: -> { Story.new.comments },
    joined: -> { Remark.joins("JOIN users ON users.id < 3").order(:id, "users.id") },
    nothing: -> { Remark.none }
  }.freeze

  ROOTS.each do |name, root|
    define_method(:"test_root_#{name}") do
      schemas = make_schemas(root: root)
      ["", "(first: 2)", "(first: 2, after: \"#{cursor(1)}\")", "(last: 2)"].each do |given|
        [ALL, "nodes { id } pageInfo { hasNextPage endCursor }"].each { |below| 2.times { text_of_both("{ many#{given} { #{below} } }", schemas) } }
      end
    end
  end

  Nosy = Class.new(GraphQL::Schema::FieldExtension) { def after_resolve(value:, **) = value && value.tap { |it| it.max_page_size = 1 } }
  Counted = type("CountedConnection", GraphQL::Types::Relay::BaseConnection) do
    edge_type Comment.edge_type
    field :total_count, Integer, null: false
    def total_count = object.items.unscope(:order).count
  end
  Sized = type("SizedConnection", GraphQL::Types::Relay::BaseConnection) { edge_type Comment.edge_type; def nodes = super.reverse; def edges = super.reverse }
  Scored = type("ScoredEdge", GraphQL::Types::Relay::BaseEdge) { node_type Comment; field :double, Integer; def double = object.node.score.to_i * 2 }
  Marked = type("MarkedEdge", GraphQL::Types::Relay::BaseEdge) { node_type Comment; def cursor = "marked" }
  OwnEdge = Class.new(GraphQL::Pagination::Connection::Edge) { def cursor = "own" }

  # {what is somebody's own => [connection type, what is selected]}
  TYPES = {
    methods: [Sized, "nodes { id } pageInfo { endCursor }"],
    edges: [Sized, "edges { cursor node { id } }"],
    edge_class: [type("C3", GraphQL::Types::Relay::BaseConnection) { graphql_name "C3Connection"; edge_type Comment.edge_type, edge_class: OwnEdge }, "edges { cursor node { id } }"],
    authorized: [type("C4", GraphQL::Types::Relay::BaseConnection) { graphql_name "C4Connection"; edge_type Comment.edge_type; def self.authorized?(*) = false }, "nodes { id }"],
    scope: [type("Shown", Comment) { def self.scope_items(items, _) = items.klass.where("score > 3").merge(items) }.connection_type, "nodes { id } pageInfo { hasNextPage }"],
    authorized_node: [type("Seen", Comment) { def self.authorized?(object, _) = object.id.even? }.connection_type, "nodes { id } pageInfo { hasNextPage }"],
    node: [type("Loudly", Comment) { field :shout, String; def shout = object.body.dup.upcase }.connection_type, "nodes { id shout }"]
  }.freeze

  TYPES.each do |name, (connection, below)|
    define_method(:"test_left_type_#{name}") do
      schemas = make_schemas(connection: connection)
      ["", "(first: 2)"].each { |given| assert_left(schemas, given, below, root: !%i[scope authorized].include?(name)) }
    end
  end

  # {fields of an edge that only compute => as TYPES}
  COMPUTED = {
    field_of_an_edge: [type("C1", GraphQL::Types::Relay::BaseConnection) { graphql_name "C1Connection"; edge_type Scored }, "edges { double node { id } }"],
    cursor: [type("C2", GraphQL::Types::Relay::BaseConnection) { graphql_name "C2Connection"; edge_type Marked }, "edges { cursor node { id } }"]
  }.freeze

  COMPUTED.each do |name, (connection, below)|
    define_method(:"test_computed_#{name}") do
      schemas = make_schemas(connection: connection)
      # Execution::Next asks the edge itself for a field that graphql-ruby declares.
      left = name == :cursor && Engine::NEXT
      ["", "(first: 2)", "(last: 2)"].each { |given| left ? assert_left(schemas, given, below) : assert_pages(schemas, given, below) }
    end
  end

  Owned = type("OwnedConnection", GraphQL::Types::Relay::BaseConnection) do
    edge_type Scored
    field :total_count, Integer, null: false
    field :failing, Integer
    field :must_fail, Integer, null: false
    field :first_body, String
    field :body_of, String, null: false
    def total_count = object.items.unscope(:order).count
    def failing = raise(GraphQL::ExecutionError, "failing")
    def must_fail = nil
    def first_body = object.nodes.first&.body
    def body_of = Remark.find(object.items.maximum(:id) || 1).body
  end
  PAGE = "pageInfo { hasNextPage endCursor }"

  # Fields of its own beside those that are plain. {what is selected => whether no node comes to be}
  {
    "totalCount nodes { id commenter { name } } #{PAGE}" => true, "nodes { id } totalCount" => true, "a: totalCount #{PAGE} __typename nodes { b: id }" => true,
    "failing nodes { id } #{PAGE}" => true, "nodes { id } failing" => true, "nodes { id } mustFail" => false, "mustFail nodes { id } totalCount" => false,
    "firstBody nodes { id }" => false, "nodes { id } firstBody #{PAGE}" => false, "nodes { id } edges { double node { id } }" => false,
    "edges { double } #{PAGE}" => false, "bodyOf nodes { id body } bodyOf totalCount" => false,
    "nodes @skip(if: true) { id } totalCount nodes { body } ... @include(if: false) { failing }" => true
  }.each_with_index do |(below, compiled), index|
    define_method(:"test_beside_fields_of_its_own_#{index}") do
      schemas = make_schemas(connection: Owned)
      ["", "(first: 2)", "(first: 2, after: \"#{cursor(1)}\")", "(last: 2)"].each do |given|
        forms(given, below).each { |query| 2.times { text_of_both(query, schemas) } }
        next unless compiled && !given.include?("last") && !Engine::NEXT

        assert_plan("{ many#{given} { #{below} } }", schemas, errors: :any)
        assert_plan("{ stories { comments#{given} { #{below} } } }", schemas, made: [Story], errors: :any)
      end
    end
  end

  # Errors are listed in the order of the fields.
  def test_what_does_not_fit_beside_fields_of_its_own
    strict = type("Strict") { field :id, GraphQL::Types::ID; field :commenter_id, GraphQL::Types::Int, null: false }
    connection = type("StrictConnection", GraphQL::Types::Relay::BaseConnection) do
      edge_type strict.edge_type
      field :failing, Integer
      def failing = raise(GraphQL::ExecutionError, "failing")
    end
    schemas = make_schemas(connection: connection)
    ["failing nodes { id commenterId }", "nodes { id commenterId } failing", "a: failing edges { node { commenterId } } b: failing"].each do |below|
      ["", "(first: 5)"].each { |given| forms(given, below).each { |query| text_of_both(query, schemas) } }
    end
    broken = make_schemas(connection: Owned, root: -> { Remark.where("1 / (id - id) > 0").order(:id) })
    ["totalCount nodes { id }", "nodes { id } failing"].each { |below| text_of_both("{ many { #{below} } }", broken) }
  end

  # The page and what is asked besides it share a burst.
  def test_statements_beside_fields_of_its_own
    schemas = make_schemas(connection: Owned)
    queries = { "{ many(first: 2) { totalCount nodes { id } } }" => [2], "{ stories { comments(first: 2) { nodes { id commenter { name } } totalCount } } }" => [1, 2, 1] }
    queries.each do |query, statements|
      schemas.last.execute(query) # (what is new is prepared first)
      events = WireCounter.events("burst.pipeloader") { schemas.last.execute(query) }
      Engine::NEXT ? assert_equal(events.size, statements.size) : assert_equal(statements, events.map { |it| it[:statements] })
    end
  end

  def test_plain_beside_a_field_that_is_not_selected
    assert_pages(make_schemas(connection: Counted), "(first: 2)", "nodes { id } pageInfo { hasNextPage }")
  end

  SCHEMAS = {
    encoder: proc { cursor_encoder(Module.new { def self.encode(text, **) = "<#{text}>"; def self.decode(text, **) = text.delete("<>") }) },
    wrapper: proc { connections.add(ActiveRecord::Relation, Class.new(GraphQL::Pagination::ActiveRecordRelationConnection) { def has_next_page = true }) },
    wrapper_of_the_model: proc { connections.add(Remark.relation_delegate_class(ActiveRecord::Associations::CollectionProxy), Class.new(GraphQL::Pagination::ActiveRecordRelationConnection) { def has_next_page = true }) }
  }.freeze

  SCHEMAS.each do |name, body|
    define_method(:"test_left_schema_#{name}") do
      schemas = make_schemas(schema: body)
      ["", "(first: 2)"].each { |given| forms(given, ALL).each { |query| text_of_both(query, schemas) } }
      assert_plan("{ stories { comments(first: 2) { #{ALL} } } }", schemas, aside: Story)
    end
  end

  def test_without_a_wrapper
    schemas = make_schemas(schema: proc { connections.add(ActiveRecord::Relation, nil) })
    forms("(first: 2)", ALL).each { |query| assert_includes text_of_both(query, schemas), "wrapper" }
  end

  def test_left_extension
    schemas = make_schemas(options: { extensions: [Nosy] }, root_options: { extensions: [Nosy] })
    ["", "(first: 3)"].each { |given| forms(given, ALL).each { |query| text_of_both(query, schemas) } }
  end

  def test_left_limited_association
    schemas = make_schemas { field :few, Comment.connection_type; def few = object.limited; field :fewer, Comment.connection_type; def fewer = object.comments.limit(2) }
    %w[few fewer].product(["", "(first: 1)", "(first: 5)", "(first: 1, after: \"#{cursor(1)}\")"]) do |name, given|
      assert_plan("{ stories { #{name}#{given} { #{ALL} } } }", schemas, aside: Story)
    end
  end

  # What somebody has changed of graphql-ruby's own.
  def test_changed_connection
    host = GraphQL::Pagination::ActiveRecordRelationConnection
    host.class_eval { def has_next_page = super } # rubocop:disable Lint/UselessMethodDefinition
    assert_left(make_schemas, "(first: 2)")
  ensure
    host.remove_method(:has_next_page)
    # What ConnectionTurns keeps of a class that nobody changes back.
    host.remove_instance_variable(:@pipeloader_turns)
  end

  def test_in_a_transaction_and_a_query_cache
    schemas = make_schemas
    forms("(first: 2)", ALL).each do |query|
      2.times { ActiveRecord::Base.cache { text_of_both(query, schemas) } }
      ActiveRecord::Base.transaction { text_of_both(query, schemas) }
      Remark.where(score: 4..).scoping { text_of_both(query, schemas) }
    end
  end

  def test_field_exact_and_without_coalescing
    [{ field_exact: true }, { coalesce: false }].each { |options| assert_pages(make_schemas(pipeloader: options), "(first: 2)") }
  end

  def test_fresh_answers
    schema = make_schemas.last
    query = "{ stories { comments(first: 2) { #{ALL} } } }"
    first = schema.execute(query).to_h
    text = JSON.generate(first)
    first["data"]["stories"].each { |story| story["comments"].clear }
    assert_equal text, JSON.generate(schema.execute(query).to_h)
  end

  def test_explain
    told = Pipeloader.explain(make_schemas.last, "{ stories { comments(first: 2) { nodes { id } } } }").to_h[:fields]
    assert told.first[:compiled]
    assert Pipeloader.explain(make_schemas.last, "{ many { edges { node { id } } } }").to_h[:fields].first[:compiled]
    told = Pipeloader.explain(make_schemas(connection: Counted).last, "{ stories { comments { totalCount nodes { id } } } }")
    assert_includes told.to_s, "CountedConnection.totalCount" unless Engine::NEXT
  end
end

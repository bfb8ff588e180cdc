# frozen_string_literal: true

require "active_support/core_ext/kernel/reporting"
require_relative "../support/pages"

# What an application may own of connections, or around them.
class OwnPagesTest < PageTest
  # At each kind of place; what is selected otherwise, at one of them in turn.
  def all_equal(schemas, givens = ["", "(first: 2, after: \"#{cursor(1)}\")"], belows = [ALL, NODES])
    givens.product(belows).each_with_index do |(given, below), index|
      places = forms(given, below).values_at(0, 2, 3, 4)
      (index.zero? ? places : [places[index % 4]]).each { |query| text_of_both(query, schemas) }
    end
  end

  # All +cases+ are tried, and each that fails is told.
  def each_of(cases)
    wrong = cases.filter_map do |name, *rest|
      yield(name, *rest)
      nil
    rescue Minitest::Assertion, StandardError => e
      "#{name}: #{e.class} #{e.message[0, 900]}"
    end
    assert_empty wrong
  end

  OwnScope = Class.new(GraphQL::Types::Relay::BaseConnection) do
    graphql_name "OwnScopeConnection"
    edge_type Comment.edge_type
    def self.scope_items(items, _context) = items.where("score > 3")
  end
  def test_scope_items_of_the_connection_type = all_equal(make_schemas(connection: OwnScope))

  def test_extended_connection
    extra = Module.new { def has_next_page = true }
    all_equal(make_schemas(root: -> { GraphQL::Pagination::ActiveRecordRelationConnection.new(Remark.order(:id)).extend(extra) }))
  end

  def test_extended_relation
    extra = Module.new { def limit(*) = super(1) }
    all_equal(make_schemas(root: -> { Remark.order(:id).extend(extra) }))
  end

  def test_connections_of_the_schema_wrap
    own = Class.new(GraphQL::Pagination::Connections) { def wrap(...) = super.tap { |it| it.max_page_size = 1 } }
    all_equal(make_schemas(schema: proc { self.connections = own.new(schema: self) }))
  end

  POPULATES = GraphQL::Pagination::Connections.method_defined?(:populate_connection)

  def test_connections_of_the_schema_populate
    own = Class.new(GraphQL::Pagination::Connections) { POPULATES && define_method(:populate_connection) { |*given| super(*given).tap { |it| it.max_page_size = 1 } } }
    all_equal(make_schemas(schema: proc { self.connections = own.new(schema: self) }))
  end

  def test_connections_of_the_schema_wrapper_for
    pages = Class.new(GraphQL::Pagination::ActiveRecordRelationConnection) { def has_next_page = true }
    own = Class.new(GraphQL::Pagination::Connections) { define_method(:wrapper_for) { |*, **| pages } }
    all_equal(make_schemas(schema: proc { self.connections = own.new(schema: self) }))
  end

  def test_connections_of_the_schema_edge_class
    edge = Class.new(GraphQL::Pagination::Connection::Edge) { def cursor = "mine" }
    own = Class.new(GraphQL::Pagination::Connections) { define_method(:edge_class_for_field) { |*| edge } }
    all_equal(make_schemas(schema: proc { self.connections = own.new(schema: self) }))
  end

  def test_wrappers_in_the_context
    pages = Class.new(GraphQL::Pagination::ActiveRecordRelationConnection) { def has_next_page = true; def nodes = super.reverse }
    root = ->(context) { context.namespace(:connections)[:all_wrappers] = { ActiveRecord::Relation => pages }; Remark.order(:id) }
    schemas = make_schemas(root: root)
    text_of_both("{ many { #{NODES} } }", schemas)
    text_of_both("{ many { #{NODES} } stories { comments(first: 2) { #{ALL} } } }", schemas)
  end

  # {what of graphql-ruby's own is reopened => what it does then}
  REOPENED = {
    [GraphQL::Types::Relay::ConnectionBehaviors, :nodes] => ->(value) { value.reverse },
    [GraphQL::Types::Relay::EdgeBehaviors, :node] => ->(value) { value if value.id.even? },
    [GraphQL::Schema::Field::ConnectionExtension, :after_resolve] => ->(value) { value&.tap { |it| it.max_page_size = 1 } },
    [GraphQL::Schema::Field::ScopeExtension, :after_resolve] => ->(value) { value.is_a?(ActiveRecord::Relation) ? value.where("id > 3") : value },
    [GraphQL::Pagination::Connections, :wrap] => ->(value) { value&.tap { |it| it.max_page_size = 1 } }
  }.freeze

  REOPENED.each do |(host, name), change|
    define_method(:"test_reopened_#{host.name.demodulize}") do
      original = host.instance_method(name)
      silence_warnings { host.define_method(name) { |*given, **options| change.call(original.bind_call(self, *given, **options)) } }
      all_equal(make_schemas(type("Reopened", Comment)))
    ensure
      silence_warnings { host.define_method(name, original) }
    end
  end

  def test_no_connection_extension
    all_equal(make_schemas(options: { connection_extension: nil }), [""])
  end

  def test_connection_extension_of_the_field_class
    ext = Class.new(GraphQL::Schema::Field::ConnectionExtension) { def after_resolve(**) = super.tap { |it| it.max_page_size = 1 if it } }
    fields = Class.new(Schemas::Base.field_class) { connection_extension(ext) }
    all_equal(make_schemas(field_class: fields))
  end

  def test_connection_without_extension
    pages = GraphQL::Pagination::ActiveRecordRelationConnection
    roots = [-> { pages.new(Remark.order(:id)) }, -> { pages.new(Remark.order(:id), first: 2) }, ->(context) { pages.new(Remark.order(:id), context: context) },
             ->(context) { pages.new(Remark.order(:id), context: context, first: 2) }, ->(context) { pages.new(Remark.order(:id), context: context, after: "??", first: 2) },
             -> { pages.new(Remark.order(:id), max_page_size: 5, default_page_size: nil) }, -> { pages.new(Remark.order(:id), first: 3, max_page_size: 5) },
             -> { pages.new(Remark.order(:id), max_page_size: 5, default_page_size: nil, after: "MQ") }]
    wrong = roots.each_with_index.filter_map do |it, index|
      query = type("Query") do
        field :many, Comment.connection_type, connection: false
        define_method(:many) { it.arity == 1 ? it.call(context) : it.call }
      end
      schemas = make(query: query)
      [ALL, NODES, "nodes { id }"].filter_map do |below|
        text_of_both("{ many { #{below} } }", schemas); nil
      rescue Minitest::Assertion, StandardError => e
        "#{index} #{below}: #{e.class} #{e.message[0, 600]}"
      end
    end
    assert_equal [], wrong.flatten
  end

  def test_nullability
    base = Class.new(GraphQL::Types::Relay::BaseConnection) { edges_nullable(false); edge_nullable(false); node_nullable(false) }
    strict = type("StrictNull", base) { graphql_name "StrictNullConnection"; edge_type Comment.edge_type }
    all_equal(make_schemas(connection: strict))
    bare = Class.new(GraphQL::Types::Relay::BaseConnection) { nodes_field(false) rescue nil; has_nodes_field(false) }
    none = type("NoNodes", bare) { graphql_name "NoNodesConnection"; edge_type Comment.edge_type }
    all_equal(make_schemas(connection: none))
    body = type("Nullish") { field :id, GraphQL::Types::ID; field :body, String; field :commenter, Class.new(Schemas::Base) { graphql_name "Cm"; field :name, String }, null: false; field :commenter_id, GraphQL::Types::Int, null: false }
    [strict, nil].each_with_index do |_, at|
      conn = at.zero? ? type("NC", base) { graphql_name "NCConnection"; edge_type body.edge_type } : body.connection_type
      all_equal(make_schemas(body, connection: conn, options: { null: at == 1 }), ["", "(first: 3)"], [ALL, "nodes { commenterId } pageInfo { hasNextPage }", "edges { cursor node { commenterId } }"])
    end
  end

  # (graphql 2.5.2 lets what a scalar raises leave the response under any dataloader.)
  RAISING = Gem::Version.new(GraphQL::VERSION) < Gem::Version.new("2.6") ? [] : [GraphQL::Types::BigInt, GraphQL::Types::ISO8601DateTime, GraphQL::Types::Int, GraphQL::Types::Float, Class.new(GraphQL::Schema::Enum) { graphql_name "En"; value "MQ"; value "Mg" }]

  def test_cursor_types
    own = Class.new(GraphQL::Schema::Scalar) { graphql_name "Cur"; def self.coerce_result(value, _) = "<#{value}>" }
    [GraphQL::Types::ID, GraphQL::Types::Boolean, GraphQL::Types::JSON, *([[String]] unless Engine::NEXT), own, *RAISING].each_with_index do |kind, index|
      edge = type("E#{index}", GraphQL::Types::Relay::BaseEdge) { graphql_name "E#{index}Edge"; node_type Comment; field :cursor, kind }
      conn = type("E#{index}C", GraphQL::Types::Relay::BaseConnection) { graphql_name "E#{index}Connection"; edge_type edge }
      all_equal(make_schemas(connection: conn), ["(first: 2)"], [ALL])
      info = type("Info#{index}") { field :has_next_page, kind; field :has_previous_page, kind; field :start_cursor, kind; field :end_cursor, kind, null: false }
      conn = type("F#{index}C", GraphQL::Types::Relay::BaseConnection) { graphql_name "F#{index}Connection"; edge_type Comment.edge_type; field :page_info, info }
      all_equal(make_schemas(connection: conn), ["(first: 2)"], [ALL])
    end
  end

  def test_page_info_types
    infos = {
      plain: proc { def has_next_page = object.has_next_page },
      turned: proc { field :end_cursor, String, method: :start_cursor },
      total: proc { field :total, Integer, method: :first },
      own: proc { def has_next_page = !object.has_next_page },
      asked: proc { def has_next_page = object.nodes.any? },
      size: proc { def has_next_page = object.nodes.size },
      auth: proc { def self.authorized?(*) = false },
      auth_object: proc { def self.authorized?(object, _) = object.first == 2 },
      extra: proc { field :page_size, Integer; def page_size = object.nodes.size },
      wrapped: proc { def self.wrap(object, context) = super(object.tap { |it| it.max_page_size = 1 }, context) },
      init: proc { def initialize(object, context) = (super; object.max_page_size = 1) },
      missing: proc { def method_missing(*) = 4; def respond_to_missing?(*) = true },
      hash: proc { field :has_next_page, GraphQL::Types::Boolean, hash_key: :x },
      res: proc { field :has_next_page, GraphQL::Types::Boolean, resolver_method: :has_previous_page },
      res2: proc { field :has_next_page, GraphQL::Types::Boolean, resolver_method: :foo; def foo = true }
    }
    # (Next makes PageInfo's object before others have loaded the page, without plans, too; messages show the connection's variables.)
    infos = infos.except(:init, :wrapped, :hash) if Engine::NEXT
    each_of(infos) do |name, body|
      info = type("PI#{name}", GraphQL::Types::Relay::PageInfo) { class_exec(&body) }
      conn = type("PIC#{name}", GraphQL::Types::Relay::BaseConnection) { graphql_name "PI#{name}Connection"; edge_type Comment.edge_type; field :page_info, info, null: true }
      below = [ALL, NODES, "nodes { id } pageInfo { hasNextPage }"]
      below << "nodes { id } pageInfo { total }" if name == :total
      below << "nodes { id } pageInfo { pageSize }" if name == :extra
      all_equal(make_schemas(connection: conn), ["", "(first: 2)"], below)
    end
  end

  def test_edge_and_connection_types
    edges = {
      method_node: proc { def node = object.node && super },
      parent: proc { field :node, Comment, method: :parent },
      by: proc { field :it, Comment, method: :node },
      by_resolver: proc { field :it, Comment, resolver_method: :node },
      cursor: proc { def cursor = object.cursor },
      cursor_super: proc { def cursor = "x" },
      auth: proc { def self.authorized?(edge, _) = edge.node.id.even? },
      scope: proc { def self.scope_items(items, _) = items.first(1) },
      wrap: proc { def self.wrap(object, context) = super }, # rubocop:disable Lint/UselessMethodDefinition
      ext: proc { field :node, Comment, extensions: [Class.new(GraphQL::Schema::FieldExtension) { def after_resolve(value:, **) = (value if value.id.odd?) }] },
      list: proc { field :node, [Comment] },
      get_field: proc { def self.get_field(name, *rest) = super(name == "node" ? "cursor" : name, *rest) }
    }
    each_of(edges) do |name, body|
      edge = type("ET#{name}", GraphQL::Types::Relay::BaseEdge) { graphql_name "ET#{name}Edge"; node_type Comment; class_exec(&body) }
      conn = type("ETC#{name}", GraphQL::Types::Relay::BaseConnection) { graphql_name "ET#{name}Connection"; edge_type edge }
      below = [ALL, NODES]
      below << "edges { it { id } cursor }" if name.to_s.start_with?("by")
      all_equal(make_schemas(connection: conn), ["", "(first: 2)"], below)
    end
  end

  def test_connection_types
    types = {
      edges_scope: proc { edge_type Comment.edge_type, field_options: { scope: true } },
      items: proc { edge_type Comment.edge_type; field :items, [Comment], method: :nodes },
      items_resolver: proc { edge_type Comment.edge_type; field :items, [Comment], resolver_method: :nodes },
      items_edges: proc { edge_type Comment.edge_type; field :items, [Comment.edge_type], resolver_method: :edges },
      edges_nodes: proc { edge_type Comment.edge_type; own_fields.delete("edges"); field :edges, [Comment], method: :nodes },
      nodes_edges: proc { edge_type Comment.edge_type; own_fields.delete("nodes"); field :nodes, [Comment.edge_type], resolver_method: :edges },
      nodes_method: proc { edge_type Comment.edge_type; own_fields.delete("nodes"); field :nodes, [Comment], method: :items },
      page_info: proc { edge_type Comment.edge_type; def page_info = object },
      page_info2: proc { edge_type Comment.edge_type; field :info, GraphQL::Types::Relay::PageInfo, method: :page_info },
      total: proc { edge_type Comment.edge_type; field :total, Integer; def total = object.items.size },
      auth: proc { edge_type Comment.edge_type; def self.authorized?(connection, _) = connection.parent.id.odd? },
      nodes_super: proc { edge_type Comment.edge_type; def nodes = super }, # rubocop:disable Lint/UselessMethodDefinition
      reauth: proc { edge_type Comment.edge_type; reauthorize_scoped_objects(false) },
      node_type: proc { edge_type Comment.edge_type; def self.node_type(*) = Comment },
      include: proc { edge_type Comment.edge_type; include(Module.new { def nodes = object.nodes.reverse }) },
      prepend: proc { edge_type Comment.edge_type; prepend(Module.new { def nodes = object.nodes.reverse }) },
      scope_base: proc { edge_type Comment.edge_type; extend(Module.new { def scope_items(items, _) = items.limit(1) }) }
    }
    types = types.except(:edges_nodes) if Engine::NEXT # (a message shows the connection's variables)
    each_of(types) do |name, body|
      conn = type("CT#{name}", GraphQL::Types::Relay::BaseConnection) { graphql_name "CT#{name}Connection"; class_exec(&body) }
      below = [ALL, NODES]
      below << "items { id } pageInfo { hasNextPage }" if %i[items items_resolver].include?(name)
      below << "items { node { id } cursor } pageInfo { hasNextPage }" if name == :items_edges
      below = ["edges { id }", NODES] if name == :edges_nodes
      below = ["nodes { cursor node { id } }", "edges { cursor node { id } }"] if name == :nodes_edges
      below << "info { hasNextPage } nodes { id }" if name == :page_info2
      all_equal(make_schemas(connection: conn), ["", "(first: 2)"], below)
    end
  end

  FIELDS = {
    default_first: [{}, proc { arguments["first"].default_value(2) rescue get_argument("first").default_value(2) }],
    own_first: [{}, proc { argument :first, Integer, required: false, default_value: 2 }],
    own_first_as: [{}, proc { argument :first, Integer, required: false, as: :limit }],
    own_first_prepare: [{}, proc { argument :first, Integer, required: false, prepare: ->(it, _) { it && it + 1 } }],
    own_first_validates: [{}, proc { argument :first, Integer, required: false, validates: { numericality: { less_than: 2 } } }],
    required_first: [{}, proc { argument :first, Integer, required: true }],
    scope_false: [{ scope: false }, nil], scope_true: [{ scope: true }, nil],
    connection_false: [{ connection: false }, nil], connection_true: [{ connection: true }, nil],
    max0: [{ max_page_size: 0 }, nil], default0: [{ default_page_size: 0 }, nil], max_negative: [{ max_page_size: -1 }, nil], default_negative: [{ default_page_size: -2 }, nil],
    max_nil: [{ max_page_size: nil, default_page_size: nil }, nil], max_float: [{ max_page_size: 2.5 }, nil], default_float: [{ default_page_size: 2.5 }, nil],
    max_big: [{ max_page_size: 2**70 }, nil], default_big: [{ default_page_size: (2**63) - 1 }, nil], default_max: [{ default_page_size: 2**63 }, nil],
    lookahead: [{ extras: [:lookahead] }, nil], parent: [{ extras: [:parent] }, nil], ast: [{ extras: [:ast_node] }, nil],
    complexity: [{ complexity: 5 }, nil], null: [{ null: false }, nil], trace: [{ trace: true }, nil],
    extension: [{ extensions: [Class.new(GraphQL::Schema::FieldExtension)] }, nil],
    validates: [{ validates: { required: { one_of: %i[first last] } } }, nil],
    fallback: [{ fallback_value: nil }, nil], method: [{ method: :bare }, nil], hash_key: [{ hash_key: :comments }, nil], dig: [{ dig: %i[comments] }, nil],
    resolver_method: [{ resolver_method: :bare }, nil],
    resolver: [{ resolver: Class.new(GraphQL::Schema::Resolver) { type Comment.connection_type, null: true; max_page_size 1; def resolve = object.comments } }, nil],
    subscription_scope: [{ subscription_scope: :x }, nil], broadcastable: [{ broadcastable: true }, nil]
  }.freeze
  FIELDS.each do |name, (options, block)|
    define_method(:"test_field_#{name}") do
      conn = Comment.connection_type
      story = type("Story") do
        field :id, GraphQL::Types::ID
        options.key?(:resolver) ? field(:comments, **options) : field(:comments, conn, **options, &block)
      end
      loud = type("LoudStory", story) { field :loud, String; def loud = object.title.dup.upcase }
      schemas = schemas({ stories: [[story], -> { Story.order(:id) }], story: [story, -> { Story.find(3) }], loud: [[loud], -> { Story.order(:id) }] })
      wrong = ["", "(first: 2)"].product([ALL]).flat_map { |given, below| forms(given, below).first(3) }.filter_map do |query|
        text_of_both(query, schemas); nil
      rescue Minitest::Assertion, StandardError, SystemStackError => e
        "#{e.class} #{e.message[0, 700]}"
      end
      assert wrong.empty?, "#{wrong.size}: #{wrong.first}"
    end
  end

  def test_field_class_overrides
    base = Schemas::Base.field_class
    classes = {
      resolve: Class.new(base) { def resolve(...) = super }, # rubocop:disable Lint/UselessMethodDefinition
      max: Class.new(base) { def max_page_size = 1; def has_max_page_size? = true },
      authorized: Class.new(base) { def authorized?(object, args, ctx) = super }, # rubocop:disable Lint/UselessMethodDefinition
      connection: Class.new(base) { def connection? = super }, # rubocop:disable Lint/UselessMethodDefinition
    }.compact
    classes.each { |_, it| all_equal(make_schemas(field_class: it), ["", "(first: 2)"]) }
  end

  def test_argument_classes
    nosy = Class.new(GraphQL::Schema::Argument) { def prepare_value(obj, value, context: nil) = keyword == :first && value ? value + 1 : super }
    auth = Class.new(GraphQL::Schema::Argument) { def authorized?(_o, value, _c) = value != 2 }
    [nosy, auth].each do |it|
      fields = Class.new(Schemas::Base.field_class) { argument_class(it) }
      all_equal(make_schemas(field_class: fields), ["", "(first: 2)", "(first: 1)"])
    end
  end

  def test_own_arguments
    sort = Class.new(GraphQL::Schema::Enum) { graphql_name "Sort"; value "UP", value: "asc"; value "DOWN", value: "desc" }
    story = type("Story") do
      field :id, GraphQL::Types::ID
      field(:as_first, Comment.connection_type) { argument :top, GraphQL::Types::Int, required: false, as: :first }
      field(:as_after, Comment.connection_type) { argument :from, String, required: false, as: :after }
      field(:as_offset, Comment.connection_type) { argument :offset, GraphQL::Types::Int, required: false; argument :limit, GraphQL::Types::Int, required: false }
      field(:text, Comment.connection_type) { argument :body, String, required: false }
      field(:list, Comment.connection_type) { argument :ids, [GraphQL::Types::ID], required: false }
      field(:sorted, Comment.connection_type) { argument :by, sort, required: false }
      field(:bare, Comment.connection_type) { argument :x, GraphQL::Types::Int, required: false }
      field(:looked, Comment.connection_type, extras: [:lookahead])
      field(:needs_first, Comment.connection_type)
      field(:takes_first, Comment.connection_type)
      def as_first(first: 1) = object.comments.where("score > ?", first)
      def as_after(after: "x") = object.comments.where("body > ?", after)
      def as_offset(offset: 0, limit: 3) = object.comments.where("score > ? AND score < ?", offset, limit)
      def text(body: nil) = object.comments.where(body: body)
      def list(ids: [1, 2, 3]) = object.comments.where(id: ids)
      def sorted(by: "asc") = object.comments.reorder(score: by, id: :asc)
      def looked(lookahead: nil) = object.comments # rubocop:disable Lint/UnusedMethodArgument
      def needs_first(first:) = object.comments.where("score > ?", first)
      def takes_first(first: 4) = object.comments.where("score > ?", first)
    end
    schemas = schemas({ stories: [[story], -> { Story.order(:id) }] })
    queries = ["asFirst", "asFirst(top: 2)", "asFirst(top: 2, first: 1)", "asFirst(first: 3, top: 1)", "asFirst(first: 3)", "asAfter(from: \"MQ\")", "asAfter(after: \"MQ\")", "asAfter(from: \"?\")",
               "asOffset", "asOffset(offset: 1, limit: 9)", "asOffset(first: 1, offset: 1, limit: 9)", "text(body: \"comment 1\")", "text", "text(body: null)", "list", "list(ids: [1,2,3,4,5,6,7,8,9])", "list(ids: [\"a\"])", "list(ids: [])", "list(ids: null)",
               "sorted", "sorted(by: DOWN)", "sorted(by: DOWN, first: 1)", "bare(x: 2)", "bare", "looked", "needsFirst(first: 2)", "takesFirst(first: 2)"]
    each_of(queries.product([ALL, NODES])) { |it, below| text_of_both("{ stories { id #{it} { #{below} } } }", schemas) }
  end

  CURSORS = ["MQ==", "MQ=", " MQ", "MQ ", "MQ\n", "MQ\t", "M Q", "é", "\u0000", "MQ\u0000", "-_-_", "+/+/", "MQ==\n", "", " ", "=", "====", "MTIz", "MDE", "KzE", "MV8w", "MHgx", "MS41", "MWUx", "IDE", "MSA", "MQo",
             "A" * 1000, Base64.urlsafe_encode64((2**31).to_s), Base64.urlsafe_encode64((2**62).to_s), Base64.urlsafe_encode64((2**63 - 1).to_s), Base64.urlsafe_encode64((2**63).to_s), Base64.urlsafe_encode64("1\0"),
             Base64.urlsafe_encode64("1\xff"), Base64.urlsafe_encode64("١"), Base64.urlsafe_encode64("1\n2"), Base64.urlsafe_encode64("00000001"), Base64.urlsafe_encode64("1" * 5000)].freeze
  def test_cursors
    schemas = make_schemas
    places = ["stories { comments(after: $a, first: $f) { #{ALL} } }", "many(after: $a, first: $f) { #{ALL} }",
              "loud { loud comments(after: $a, first: $f) { #{NODES} } }"]
    cases = CURSORS.product([nil, 2, 2**31 - 1]).map.with_index do |(after, first), index|
      ["#{after.inspect} #{first.inspect}", "query q($a: String, $f: Int) { #{places[(index + index / 3) % 3]} }", { "a" => after, "f" => first }]
    end
    each_of(cases) { |_, query, variables| text_of_both(query, schemas, variables: variables) }
    ["\xff", "MQ\xff".b, "MQ".encode("UTF-16LE"), :MQ, 1].each do |after|
      ["{ stories { comments(after: $a, first: 2) { #{ALL} } } }", "{ many(after: $a) { #{ALL} } }"].each { |it| text_of_both("query q($a: String) #{it}", schemas, variables: { "a" => after }) }
    end
  end

  class Basket < ActiveRecord::Base
    self.table_name = "posts"
    has_many :items, -> { order(:id) }, class_name: "Comment", foreign_key: :post_id
    belongs_to :parent, class_name: "User", foreign_key: :author_id, optional: true
  end

  # What is of a connection, but none by its type: what its methods are called, says nothing of the nodes' columns.
  def test_types_of_a_connections_own
    node = type("Basket") { field :id, GraphQL::Types::ID }
    info = type("BasketInfo", GraphQL::Types::Relay::PageInfo) { field :total_count, Integer; def total_count = object.items.count }
    summary = type("Summary") { field :total_count, Integer; field :parent, node; def total_count = object.items.count }
    connection = type("BasketConnection", GraphQL::Types::Relay::BaseConnection) do
      edge_type node.edge_type
      field :page_info, info, null: false
      field :summary, summary
      def summary = object
    end
    query = type("Query") { field :baskets, connection, connection: true; def baskets = Basket.order(:id) }
    schemas = make(query: query)
    ["nodes { id } pageInfo { hasNextPage totalCount }", "nodes { id } summary { totalCount }", "nodes { id } summary { totalCount parent { id } }"].each do |below|
      ["", "(first: 2)"].each { |given| text_of_both("{ baskets#{given} { #{below} } }", schemas) }
    end
  end

  # A relation where a connection is said to be.
  def test_no_connection_extension_of_a_chain
    connection = Comment.connection_type
    all_equal(make_schemas { field :comments, connection, connection_extension: nil; def comments = object.comments.where("score > 0") })
  end
end

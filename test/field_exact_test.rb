# frozen_string_literal: true

require "open3"
require_relative "support/test_helper"
require_relative "support/library"

# Field-exact projection: the same answers as from whole rows, byte by byte, from SELECT lists with nothing in them but what the
# query selects and the keys that hold its tree together.
class ProjectionTest < PipeloaderTest
  # The answer is that of whole rows; +sql+ is what the projected one reads, in any order, by table: {"works" => %w[id title]}.
  # A table that is read in several ways has several lists; nil stands for whole rows.
  def assert_reads(expected, query, schemas = Library.pair, misses: 0, **options)
    missed = WireCounter.events("projection_miss.pipeloader") { @answer = assert_same_answer(query, schemas, **options) }
    refute @answer.key?("errors"), @answer["errors"].inspect
    assert_equal misses, missed.size, missed.inspect
    actual = selected { schemas.last.execute(query, **options) }
    assert_equal expected.transform_values { |lists| lists.first.is_a?(Array) || lists.first.nil? ? lists : [lists] },
                 expected.keys.to_h { |table| [table, actual.fetch(table, [])] }
    @answer
  end

  # @return [Hash] {table => [columns of one kind of its reads, …]}, sorted; nil for whole rows
  def selected(&block)
    sql(&block).grep_v(/COUNT/).map { |it| [it[/FROM "(\w+)"/, 1], it[/\ASELECT (.*?) FROM/, 1]] }.uniq
      .group_by(&:first).transform_values { |pairs| pairs.map { |_, list| list.end_with?("*") ? nil : list.scan(/"\w+"\."(\w+)"/).flatten } }
  end

  def sql(&block) = WireCounter.trips(&block).flatten

  def execute(query, schema = Library.pair.last, **options) = schema.execute(query, **options).to_h

  # A pair of schemas with a root type of its own.
  def schemas(**options, &block)
    query = Class.new(Library::Query) do
      graphql_name "Query"
      class_eval(&block)
    end
    Library.make(query: query, **options)
  end

  # An object type over works, with more in it.
  def work_type(name = "SpecialWork", base = Library::Base, &block)
    Class.new(base) do
      graphql_name name
      field :title, String, null: false
      class_eval(&block) if block
    end
  end

  # Schemas whose field `specials` returns all works as +type+.
  def special(type, **options)
    schemas(**options) do
      field :specials, [type], null: false
      def specials = ::Work.order(:id)
    end
  end

  # Yields the works as a narrowed read brings them, in a resolver, and as whole ones; both must give the same.
  def assert_behaves(misses: nil, &block)
    results = []
    pair = schemas do
      field :specials, [Library::Work], null: false
      field :probe, String
      define_method(:specials) { context[:works] = ::Work.order(:id).limit(3) }
      define_method(:probe) { results << context[:works].to_a.then(&block) && "done" }
    end
    seen = pair.map { |schema| WireCounter.events("projection_miss.pipeloader") { execute("{ specials { title } probe }", schema) } }
    assert_equal results.first.inspect, results.last.inspect
    assert_equal misses, seen.last.size, seen.last.inspect if misses
    results.last
  end
end

class NarrowingTest < ProjectionTest
  def test_root_relation_and_belongs_to
    assert_reads({ "works" => %w[id type title writer_id], "writers" => %w[id name] }, "{ works { title writer { name } } }")
  end

  def test_keys_that_are_not_selected
    assert_reads({ "works" => %w[id type writer_id], "writers" => %w[id] }, "{ works { writer { id } } }")
  end

  def test_typename_reads_nothing
    assert_reads({ "reviews" => %w[id] }, "{ reviews { __typename } }")
  end

  def test_has_many
    assert_reads({ "works" => %w[id type], "reviews" => %w[id work_id text] }, "{ works { reviews { text } } }")
  end

  def test_has_many_without_a_scope
    assert_reads({ "writers" => %w[id], "works" => %w[id type title writer_id] }, "{ writers { plainWorks { title } } }")
  end

  def test_has_one
    assert_reads({ "works" => %w[id type], "covers" => %w[id work_id file] }, "{ works { cover { file } } }")
  end

  def test_has_many_through
    assert_reads({ "works" => %w[id type], "writers" => %w[id bio] }, "{ works { reviewers { bio } } }")
  end

  def test_has_and_belongs_to_many
    assert_reads({ "genres" => %w[id name], "works" => %w[id type title] }, "{ genres { name works { title } } }")
  end

  def test_polymorphic_belongs_to
    assert_reads({ "links" => %w[id target_type target_id], "writers" => %w[id bio], "works" => %w[id type title] },
                 "{ links { target { ... on Writer { bio } ... on Work { title } } } }")
  end

  def test_has_many_as
    assert_reads({ "writers" => %w[id], "links" => %w[id target_type target_id label] }, "{ writers { links { label } } }")
  end

  def test_self_referential
    assert_reads({ "clerks" => [%w[id desk chief_id], %w[id desk]] }, "{ clerks { desk chief { desk } } }")
  end

  class Deputy < ActiveRecord::Base
    self.table_name = "clerks"
    belongs_to :chief, class_name: "NarrowingTest::Deputy", optional: true
    has_one :head, through: :chief, source: :chief
  end

  def test_has_one_through
    type = Class.new(Library::Base) { graphql_name("Deputy"); field(:name, String); field(:desk, String); field(:head, self) }
    pair = schemas do
      field :deputies, [type], null: false
      def deputies = Deputy.order(:id)
    end
    assert_reads({ "clerks" => [%w[id name chief_id], %w[id desk chief_id]] }, "{ deputies { name head { desk } } }", pair)
  end

  def test_composite_keys
    assert_reads({ "shelves" => %w[hall number label], "boards" => %w[id hall number text] }, "{ shelves { label boards { text } } }")
  end

  # The board's shelf is the one that it was reached from.
  def test_inverse
    assert_reads({ "shelves" => %w[hall number label], "boards" => %w[id hall number text] }, "{ shelves { boards { text shelf { label } } } }")
  end

  def test_what_an_inverse_leads_to
    assert_reads({ "clerks" => [%w[id name chief_id], %w[id desk chief_id]] }, "{ clerks { clerks { chief { clerks { desk } name } } } }")
  end

  # Nothing is asked of the clerks of such a page, nor by what knows them.
  def test_inverse_of_a_connection_without_nodes
    type = Class.new(Library::Base) do
      graphql_name("PagedClerk")
      field(:name, String)
      field(:clerks, Library::Clerk.connection_type)
      field(:chief, self)
    end
    pair = schemas do
      field :paged_clerks, [type], null: false
      def paged_clerks = ::Clerk.order(:id)
    end
    assert_same_answer("{ pagedClerks { name chief { name clerks(first: 1) { pageInfo { hasNextPage } } } } }", pair)
  end

  def test_single_table_inheritance_keeps_the_type
    assert_reads({ "works" => %w[id type title] }, "{ works { title } }")
  end

  def test_relation_that_a_resolver_makes
    assert_reads({ "reviews" => %w[id work_id text] }, "{ works { sortedReviews { text } } }")
  end

  def test_scope_with_a_limit
    assert_reads({ "reviews" => %w[id work_id stars] }, "{ works { goodReviews { stars } } }")
  end

  def test_alias_attribute
    assert_reads({ "writers" => %w[id name] }, "{ writers { penName } }")
  end

  def test_enum_and_date_and_serialized_columns
    assert_reads({ "writers" => %w[id born_on kind], "works" => %w[id type options] }, "{ writers { kind bornOn } works { options } }")
  end

  def test_attribute_without_a_column
    assert_reads({ "works" => %w[id type] }, "{ works { rank } }")
  end

  def test_all_columns
    board = work_type("Board", Library::Base) { own_fields.clear; field(:text, String); field(:wood, String); field(:hall, Integer); field(:number, Integer) }
    pair = schemas do
      field :boards, [board], null: false
      def boards = ::Board.order(:id)
    end
    assert_reads({ "boards" => [%w[id hall number text]] }, "{ boards { text hall number } }", pair)
    assert_reads({ "boards" => [nil] }, "{ boards { text wood hall number } }", pair)
  end

  def test_interface
    assert_reads({ "clerks" => [nil], "writers" => [nil] }, "{ named { name } }")
    type = Library::Named
    pair = schemas do
      field :authors, [type], null: false
      def authors = ::Writer.order(:id)
    end
    assert_reads({ "writers" => %w[id name email] }, "{ authors { name ... on Writer { email } } }", pair)
  end

  # Types are asked for as they are, and not as somebody sees them.
  def test_under_schema_visibility
    pair = Library.make { use(GraphQL::Schema::Visibility, dynamic: true) }
    assert_reads({ "links" => %w[id target_type target_id], "writers" => %w[id bio], "works" => %w[id type title] },
                 "{ links { target { ... on Writer { bio } ... on Work { title } } } }", pair)
  end if defined?(GraphQL::Schema::Visibility)

  # An argument of the resolver's: its relation is narrowed, whatever it was made of.
  def test_resolver_with_arguments
    assert_reads({ "works" => %w[id type title] }, "{ works(limit: 3) { title } }")
  end

  def test_single_record_that_a_resolver_loads_is_whole_and_what_it_leads_to_is_narrowed
    assert_reads({ "works" => [nil], "writers" => %w[id name], "reviews" => %w[id work_id text] },
                 "{ work(id: 3) { title writer { name } reviews { text } } }")
  end

  def test_loaded_records
    assert_reads({ "works" => [nil], "writers" => [nil], "reviews" => %w[id work_id text] }, "{ loaded { writer { name } reviews { text } } }")
  end
end

class ConnectionProjectionTest < ProjectionTest
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

class OperationTest < ProjectionTest
  def test_aliases_of_one_association_are_united
    assert_reads({ "works" => %w[id type writer_id], "writers" => %w[id name bio] }, "{ works { a: writer { name } b: writer { bio } } }")
  end

  def test_aliases_of_one_relation_are_apart
    assert_reads({ "works" => [%w[id type title], %w[id type body]] }, "{ a: works { title } b: works { body } }")
  end

  def test_fragments
    assert_reads({ "works" => %w[id type title writer_id], "writers" => %w[id name bio] }, <<~GRAPHQL)
      { works { ...f ... on Work { writer { bio } } ... { title } } } fragment f on Work { writer { ...g } } fragment g on Named { name }
    GRAPHQL
  end

  def test_merged_fields
    assert_reads({ "works" => %w[id type title body] }, "{ works { title } ...f } fragment f on Query { works { body } }")
  end

  def test_skip_and_include
    query = "query($a: Boolean!, $b: Boolean = true) { works { title @include(if: $a) body @skip(if: $b) writer @include(if: $a) { name } } }"
    document = GraphQL.parse(query)
    2.times do
      { { "a" => true } => %w[id type title writer_id], { "a" => false, "b" => false } => %w[id type body], { "a" => false } => %w[id type] }.each do |variables, columns|
        Library.pair.map { |schema| execute(nil, schema, document: document, variables: variables) }.then { |plain, exact| assert_equal plain, exact }
        assert_equal [columns], selected { execute(nil, document: document, variables: variables) }["works"]
      end
    end
  end

  def test_literal_conditions
    assert_reads({ "works" => %w[id type title] }, "{ works { title body @skip(if: true) summary @include(if: false) } }")
  end

  def test_multiplex
    queries = ["{ works { title } }", "{ works { body } writers { name } }"].map { |query| { query: query } }
    assert_equal(*Library.pair.map { |schema| schema.multiplex(queries).map(&:to_h) })
    assert_equal [%w[id type body], %w[id type title]], selected { Library.pair.last.multiplex(queries) }["works"].sort
  end

  def test_several_operations_in_a_document
    query = "query A { works { title } } query B { works { body } }"
    %w[A B].zip(%w[title body]) { |name, column| assert_reads({ "works" => ["id", "type", column] }, query, operation_name: name) }
  end

  # What is known of a document is looked up.
  def test_once_per_document
    document = GraphQL.parse("{ works { title writer { name } } }")
    execute(nil, document: document)
    made = 0
    counter = TracePoint.new(:call) { |point| made += 1 if point.method_id == :initialize && [Pipeloader::Reach, Pipeloader::Footprint, Pipeloader::Demand].include?(point.defined_class) }
    counter.enable { execute(nil, document: document) }
    assert_equal 0, made
  end

  def test_one_relation_in_two_fields
    pair = schemas do
      field :same, [Library::Work], null: false
      def same = context[:same] ||= ::Work.order(:id)
    end
    assert_same_answer("{ a: same { title writer { name } } b: same { body writer { bio } } }", pair)
  end

  def test_a_record_by_two_paths
    assert_same_answer("{ clerks { desk chief { name clerks { chief { desk } } } clerks { name chief { chief { name desk } } } } }", Library.pair)
  end

  # What both ask of them, is asked once.
  def test_the_same_records_in_two_fields
    pair = schemas do
      field :same, [Library::Work], null: false
      def same = context[:same] ||= Pipeloader.without_parking { ::Work.order(:id).to_a }
    end
    assert_reads({ "works" => [nil], "writers" => %w[id name bio], "reviews" => %w[id work_id text stars] },
                 "{ a: same { writer { name } reviews { text } } b: same { writer { bio } reviews { stars } } }", pair)
  end

  def test_query_partial
    skip_reason = "this graphql has no Query::Partial"
    skip(skip_reason) unless GraphQL::Query.method_defined?(:run_partials)
    answers = Library.pair.map do |schema|
      query = GraphQL::Query.new(schema, "{ works { title reviews { text } } }")
      query.run_partials([{ path: ["works"], object: ::Work.order(:id) }, { path: ["works", 0], object: ::Work.first }]).map(&:to_h)
    end
    assert_equal(*answers)
  end

  # What may be read, and whose records are strict in turn, is as it was.
  def test_strict_loading
    kept = nil
    pair = schemas do
      field :strict, [Library::Work], null: false
      field :n_plus_one, [Library::Writer], null: false
      def strict = ::Work.strict_loading.order(:id).limit(2)
      define_method(:n_plus_one) { kept = ::Writer.order(:id).each { |writer| writer.strict_loading!(mode: :n_plus_one_only) } }
    end
    errors = pair.map { |schema| assert_raises(ActiveRecord::StrictLoadingViolationError) { execute("{ strict { title writer { name } } }", schema) } }
    assert_equal(*errors.map(&:message))
    strict = pair.map do |schema|
      execute("{ nPlusOne { plainWorks { title } works { title } } }", schema)
      kept.map { |writer| [writer.plain_works, writer.works].map { |them| them.map(&:strict_loading?) } }
    end
    assert_equal(*strict)
    assert_includes strict.flatten, true
  end

  def test_a_document_that_is_frozen
    document = GraphQL.parse("{ works { title } }")
    document.freeze
    assert_equal(*Library.pair.map { |schema| execute(nil, schema, document: document) })
  end
end

class OpaqueTest < ProjectionTest
  # The record is taken whole; what its associations bring, isn't.
  def assert_opaque(reason, field, type = Library::Work, pair: Library.pair, root: "works")
    query = "{ #{root} { title #{field} reviews { text } } }"
    assert_reads({ "works" => [nil], "reviews" => %w[id work_id text] }, query, pair)
    assert_equal reason, footprint(type, field[/\w+/], pair.last).reason
  end

  def footprint(type, field, schema = Library.pair.last, model = ::Work)
    Pipeloader::Footprints.of(schema, type, type.get_field(field), model)
  end

  def special_type(name, &block)
    work_type(name) do
      field :reviews, [Library::Review], null: false
      class_eval(&block)
    end
  end

  def assert_special(reason, name, &block)
    type = special_type(name, &block)
    assert_opaque("#{name}.it: #{reason}", "it", type, pair: special(type), root: "specials")
  end

  def test_resolver_method
    assert_opaque("Work.loud: resolver method `loud` on Library::Work", "loud")
  end

  def test_overridden_reader
    assert_opaque("Work.summary: `summary` is defined by Book", "summary")
  end

  def test_store_accessor
    assert_match(/\AWork.font: `font` is defined by /, footprint(Library::Work, "font").reason)
    assert_reads({ "works" => [nil] }, "{ works { title font } }")
  end

  def test_method_of_the_model
    assert_equal "Writer.signature: `signature` is defined by Writer", footprint(Library::Writer, "signature", Library.pair.last, ::Writer).reason
    assert_reads({ "writers" => [nil] }, "{ writers { signature } }")
  end

  def test_scope_that_asks_its_record
    assert_opaque("Work.sameTitleReviews: the scope of `same_title_reviews` asks its record", "sameTitleReviews { text }")
  end

  class Upcase < GraphQL::Schema::Resolver
    type String, null: true
    def resolve = object.body.dup.upcase
  end

  def test_resolver_class
    assert_special("it has a resolver, OpaqueTest::Upcase", "Resolved") { field :it, resolver: Upcase }
  end

  class Loudly < GraphQL::Schema::FieldExtension
    def after_resolve(value: nil, values: nil, **) = values ? values.map(&:upcase) : value.upcase
  end

  def test_extension
    assert_special("extension OpaqueTest::Loudly", "Extended") { field :it, String, method: :title, extensions: [Loudly] }
  end

  def test_hash_key
    assert_special("it reads a key of a Hash", "Keyed") { field :it, String, hash_key: :body }
  end

  class Guarded < GraphQL::Schema::Field
    def authorized?(object, _arguments, _context) = object.body.present?
  end

  def test_field_class
    assert_special("`authorized?` of its field class is its own", "Fielded") { field_class Guarded; field :it, String, method: :title }
  end

  def test_arguments
    assert_special("it takes arguments", "Argued") do
      field :it, String, method: :opening do
        argument :length, Integer, required: false
      end
    end
  end

  def test_name_that_is_a_method_of_the_type
    assert_match(/\Aresolver method `display` on Kernel\z/, Pipeloader::PlainField.new(Library::Work, GraphQL::Schema::Field.new(name: "display", type: String, null: true, owner: Library::Work, method_conflict_warning: false)).objection)
  end

  class File < GraphQL::Schema::Scalar
    def self.coerce_result(cover, _context) = cover.file
  end

  def test_scalar_that_is_given_a_record
    type = special_type("Given") { field :it, File, method: :cover }
    pair = special(type)
    assert_reads({ "works" => %w[id type title], "covers" => [nil] }, "{ specials { title it } }", pair)
  end

  def test_two_definitions_of_a_field
    type = special_type("Twice") do
      field_class(Class.new(GraphQL::Schema::Field) { def visible?(context) = super && (name != "it" || method_sym == (context[:second] ? :body : :title)) })
      field :it, String, method: :title
      field :it, String, method: :body
    end
    pair = special(type).each { |schema| schema.use(GraphQL::Schema::Warden) if defined?(GraphQL::Schema::Visibility) }
    [{}, { second: true }].each { |context| assert_reads({ "works" => [nil] }, "{ specials { it } }", pair, context: context) }
  end

  def test_type_that_authorizes
    type = special_type("Authorized") { def self.authorized?(object, _context) = object.body.include?("body") }
    assert_reads({ "works" => [nil], "reviews" => %w[id work_id text] }, "{ specials { title reviews { text } } }", special(type))
  end

  # Told by the file, and not by the name.
  def test_method_in_a_module_of_graphql_rubys
    assert_equal "InTheirs: `authorized?` on GraphQL::OursNow", Pipeloader::PlainType.objection(work_type("InTheirs") { extend GraphQL::OursNow })
    assert_nil Pipeloader::PlainType.objection(work_type("InNone"))
  end

  GraphQL.const_set(:OursNow, Module.new { def authorized?(object, _context) = object.body })

  def test_type_with_a_constructor
    type = special_type("Constructed") { def initialize(object, context) = super.tap { object.body } }
    assert_reads({ "works" => [nil] }, "{ specials { title } }", special(type))
  end

  class Found < ActiveRecord::Base
    self.table_name = "reviews"
    after_find { self.text = note }
  end

  class Initialized < ActiveRecord::Base
    self.table_name = "reviews"
    after_initialize { self.text ||= note }
  end

  class Instantiated < ActiveRecord::Base
    self.table_name = "reviews"
    def self.instantiate(attributes, *) = super.tap { |record| record.text = attributes["note"] }
    def self.instantiate_instance_of(*) = super.tap { |record| record.text = record.note }
  end

  def test_callbacks_and_constructors_of_the_model
    [Found, Initialized, Instantiated].each do |model|
      pair = schemas do
        field :found, [Library::Review], null: false
        define_method(:found) { model.order(:id) }
      end
      assert_reads({ "reviews" => [nil] }, "{ found { text } }", pair)
    end
  end

  # What it returns is another relation; what it looks at, it has read itself.
  def test_scope_items
    type = Class.new(Library::Base) do
      graphql_name "ScopedReview"
      field :text, String
      def self.scope_items(items, context) = context[:look] ? items.select { |review| review.note > "note 2" } : items.where(stars: 1..)
    end
    work = work_type("ScopedWork") { field :reviews, [type], null: false }
    pair = special(work)
    assert_reads({ "works" => %w[id type title], "reviews" => %w[id work_id text] }, "{ specials { title reviews { text } } }", pair)
    assert_reads({ "works" => %w[id type title], "reviews" => [nil] }, "{ specials { title reviews { text } } }", pair, context: { look: true })
  end

  class Shout < GraphQL::Schema::Directive
    locations FIELD
    def self.resolve(object, _arguments, _context) = yield.tap { object.object&.body }
    def self.resolve_field(*) = nil
  end

  def test_directive_of_the_applications
    pair = Library.make { directive(Shout) }
    assert_reads({ "works" => [nil] }, "{ works { title @shout } }", pair)
  end

  def test_validators_and_extras
    field = ->(**options) { GraphQL::Schema::Field.new(name: "title", type: String, null: true, owner: Library::Work, **options) }
    objections = [{}, { extras: [:path] }, { validates: { required: { one_of: %i[a b] } } }].map do |options|
      Pipeloader::PlainField.new(Library::Work, field.call(**options)).objection
    end
    assert_equal [nil, "extras path", "it has validators"], objections
  end

  def test_reason_of_a_plain_field
    assert_nil footprint(Library::Work, "title").reason
    assert_equal ["title"], footprint(Library::Work, "title").columns
    assert_equal [:writer, ["writer_id"]], footprint(Library::Work, "writer").then { |it| [it.association, it.columns] }
    assert_equal :columns, footprint(Library::Work, "excerpt").kind
  end
end

class SelectsTest < ProjectionTest
  def test_columns
    assert_reads({ "works" => %w[id type title body] }, "{ works { title excerpt } }")
    assert_reads({ "writers" => %w[id name bio] }, "{ writers { name bioSize } }")
  end

  def test_association_stands_for_its_keys
    assert_reads({ "works" => %w[id type writer_id], "writers" => [nil] }, "{ works { writerBio } }")
  end

  def test_without_opt_in_it_means_nothing
    assert_reads({ "works" => [nil] }, "{ works { title excerpt } }", Library.make(field_exact: false))
    assert_reads({ "works" => [nil] }, "{ works { title excerpt } }", [Library.pair.first] * 2)
  end

  # The first response of a schema finds it, whether it is asked for or not.
  def test_column_that_does_not_exist
    type = Class.new(Library::Base) do
      graphql_name "Genre"
      field :name, String
      field :code, String, selects: %i[cod]
      def code = object.code
    end
    exact = schemas { field :kinds, [type], null: false }.last
    error = assert_raises(Pipeloader::UnknownColumnError) { execute("{ works { title } }", exact) }
    assert_includes error.message, "Genre.code selects `cod`, but genres (Genre) has no such column. Correct `selects:`."
  end

  # (As Rails says it.)
  def test_column_that_does_not_exist_when_an_application_boots
    code = <<~RUBY
      require "pipeloader"
      ActiveRecord::Base.establish_connection(#{TestDatabase.hash.inspect})
      class Post < ActiveRecord::Base; end
      class PostType < GraphQL::Schema::Object
        graphql_name "Post"
        field :title, String
        field :it, String, selects: %i[bodyy]
        def it = object.body.dup.upcase
      end
      class Query < GraphQL::Schema::Object; field :posts, [PostType]; end
      class Untouched < GraphQL::Schema; query Query; use Pipeloader; end
      class Exact < GraphQL::Schema; query Query; use Pipeloader, field_exact: true; end
      Booted = Struct.new(:config)
      Config = Struct.new(:eager_load)
      [false, true].each do |eager|
        ActiveSupport.run_load_hooks(:after_initialize, Booted.new(Config.new(eager)))
        puts "eager: \#{eager}"
      rescue Pipeloader::UnknownColumnError => e
        puts e.message
      end
      ActiveRecord::Base.establish_connection(adapter: "postgresql", host: "/nowhere")
      Exact.remove_instance_variable(:@pipeloader_columns_checked) if Exact.instance_variable_defined?(:@pipeloader_columns_checked)
      Post.reset_column_information
      Post.connection_pool.schema_cache.clear!
      ActiveSupport.run_load_hooks(:after_initialize, Booted.new(Config.new(true)))
      puts "no database"
    RUBY
    said, status = Open3.capture2e(RbConfig.ruby, "-W0", *$LOAD_PATH.map { |it| "-I#{it}" }, "-e", code)
    assert status.success?, said
    assert_equal ["eager: false", "Post.it selects `bodyy`, but posts (Post) has no such column. Correct `selects:`.", "no database"], said.lines(chomp: true)
  end

  # Of which of them its records are, isn't known before one comes.
  def test_column_of_one_of_two_models_of_that_name
    code = <<~RUBY
      require "pipeloader"
      ActiveRecord::Base.establish_connection(#{TestDatabase.hash.inspect})
      class Tag < ActiveRecord::Base; end
      module Blog; class Tag < ActiveRecord::Base; self.table_name = "users"; alias_attribute :label, :name; end; end
      class TagType < GraphQL::Schema::Object
        graphql_name "Tag"
        field :name, String
        field :it, String, selects: %i[label]
        def it = object.label.dup.upcase
      end
      class Query < GraphQL::Schema::Object; field :tags, [TagType]; def tags = Blog::Tag.order(:id).limit(1); end
      class Exact < GraphQL::Schema; query Query; use Pipeloader, field_exact: true; end
      ActiveSupport.run_load_hooks(:after_initialize, Struct.new(:config).new(Struct.new(:eager_load).new(true)))
      puts Exact.execute("{ tags { it } }").to_json
    RUBY
    said, = Open3.capture2e(RbConfig.ruby, "-W0", *$LOAD_PATH.map { |it| "-I#{it}" }, "-e", code)
    assert_equal %({"data":{"tags":[{"it":"USER 1"}]}}\n), said
  end

  # The name tells nothing of the model: it is known when a record comes.
  def test_column_that_does_not_exist_in_a_type_of_another_name
    exact = special(work_type("Volume") { field(:it, String, selects: %i[boddy]); def it = object.body }).last
    assert_same_answer("{ works { title } }", [Library.pair.first, exact])
    error = assert_raises(Pipeloader::UnknownColumnError) { execute("{ specials { it } }", exact) }
    assert_includes error.message, "Volume.it selects `boddy`, but works (Work) has no such column. Correct `selects:`."
    assert_kind_of RuntimeError, error
  end

  # `writers` has no body, but then a writer isn't a Work.
  def test_in_a_union
    assert_reads({ "links" => %w[id target_type target_id], "writers" => %w[id name], "works" => %w[id type body] },
                 "{ links { target { ... on Work { excerpt } ... on Writer { name } } } }")
  end
end

class MissTest < ProjectionTest
  # One read for all records of the load.
  def test_columns_of_all_records_of_the_load
    miss, = WireCounter.events("projection_miss.pipeloader") do
      assert_equal(["SELECT \"works\".* FROM \"works\" WHERE \"works\".\"id\" IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)"],
                   sql { execute("{ works { hidden } }") }.drop(1))
    end
    assert_equal [::Work, "body", 12, "Work.hidden"], miss.values_at(:model, :column, :records, :field)
    assert_includes miss[:fetched], "body"
    refute_includes miss[:fetched], "title"
  end

  def test_answer
    assert_reads({ "works" => [%w[id type title], nil] }, "{ works { hidden } }", misses: 1)
    assert_reads({ "works" => [%w[id type], nil] }, "{ works { everything } }", misses: 1)
    assert_reads({ "works" => [%w[id type], nil] }, "{ works { copied } }", misses: 1)
  end

  # Each review's work is a load of its own; their misses go together.
  def test_round_trips
    assert_round_trips(3) { execute("{ reviews { noteOfAll work { title } } }") }
    assert_same_answer("{ reviews { noteOfAll work { title } } }", Library.pair)
  end

  def test_log
    log = StringIO.new
    before, ActiveSupport::LogSubscriber.logger = ActiveSupport::LogSubscriber.logger, Logger.new(log)
    execute("{ works { hidden } }")
    assert_match(/Projection miss.* Work\.hidden reads `body`.* 12 records.*`selects: %i\[body\]`/, log.string)
  ensure
    ActiveSupport::LogSubscriber.logger = before
  end

  def test_after_the_response
    works = nil
    pair = schemas do
      field :kept, [Library::Work], null: false
      define_method(:kept) { works = ::Work.order(:id) }
    end
    execute("{ kept { title writer { name } } }", pair.last)
    assert_equal ::Work.order(:id).pluck(:body), works.map(&:body)
    assert_equal ::Work.first.attributes, works.first.attributes
    # What the response asked for means nothing any more.
    assert_equal(["SELECT \"writers\".* FROM \"writers\" WHERE \"writers\".\"id\" = $1 LIMIT $2"], sql { works.first.reload_writer })
  end

  def test_from_a_thread_and_from_an_enumerator
    assert_behaves { |works| Thread.new { works.map(&:body) }.value + works.lazy.map(&:summary).first(2) + [works.each.next.price] }
  end

  def test_in_a_transaction
    ActiveRecord::Base.transaction { assert_reads({ "works" => [%w[id type title], nil] }, "{ works { hidden } }", misses: 1) }
  end

  def test_row_that_is_gone
    works = nil
    exact = schemas do
      field :kept, [Library::Work], null: false
      define_method(:kept) { works = ::Work.order(:id).limit(2) }
    end.last
    ActiveRecord::Base.transaction do
      execute("{ kept { title } }", exact)
      works.first.title
      ::Work.where(id: works.first.id).delete_all
      error = assert_raises(Pipeloader::RowGoneError) { works.first.body }
      assert_match(/Work.body had been left out.*deleted.*selects: %i\[body\]/m, error.message)
      assert_equal ::Work.find(works.last.id).body, works.last.body
      raise ActiveRecord::Rollback
    end
  end

  def test_composite_key
    results = []
    pair = schemas do
      field :kept, [Library::Shelf], null: false
      field :probe, String
      define_method(:kept) { context[:kept] = ::Shelf.order(:hall, :number) }
      define_method(:probe) { results << context[:kept].map(&:hint) && "done" }
    end
    missed = WireCounter.events("projection_miss.pipeloader") { pair.each { |schema| execute("{ kept { label } probe }", schema) } }
    assert_equal [1, ["hint 1", "hint 2", "hint 3", "hint 4"]], [missed.size, results.last]
    assert_equal(*results)
  end

  # The server takes its time for a thousand of them, and minutes for tens of thousands.
  def test_many_composite_keys
    ActiveRecord::Base.connection.execute("CREATE TABLE cells (a integer, b integer, title text, note text, PRIMARY KEY (a, b))")
    ActiveRecord::Base.connection.execute("INSERT INTO cells SELECT i / 100, i % 100, i, i FROM generate_series(1, 2500) i")
    model = Class.new(ActiveRecord::Base) { self.table_name = "cells"; def self.name = "Cell" }
    type = work_type("Cell") { field :it, String, selects: []; def it = object.then(&:note) }
    pair = schemas do
      field :cells, [type], null: false
      define_method(:cells) { model.order(:a, :b) }
    end
    answer = assert_reads({ "cells" => [%w[a b title], nil] }, "{ cells { title it } }", pair, misses: 1)
    assert_equal 2500, answer["data"]["cells"].size
    sizes = sql { execute("{ cells { it } }", pair.last) }.map { |it| it.scan(" OR ").size + 1 }
    assert_equal [1, 1000, 1000, 500], sizes
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE cells")
  end

  # The database and role that the rows came from is asked, whatever is in force when the column is read.
  def test_role
    handler = ActiveRecord::Base.connection_handler
    handler.establish_connection(TestDatabase.hash, owner_name: ActiveRecord::Base, role: :reading)
    works = nil
    exact = schemas do
      field :kept, [Library::Work], null: false
      define_method(:kept) { works = ::Work.order(:id) }
    end.last
    ActiveRecord::Base.connected_to(role: :reading) { execute("{ kept { title } }", exact).to_json }
    pools = WireCounter.events("sql.active_record") { assert_equal "body 1", works.first.body[0, 6] }.map { |it| it[:connection].pool.role }
    assert_equal [:reading], pools
  ensure
    handler.remove_connection_pool("ActiveRecord::Base", role: :reading)
  end

  def test_ignored_columns
    model = Class.new(ActiveRecord::Base) { self.table_name = "works"; self.inheritance_column = nil; self.ignored_columns += ["body"]; def self.name = "Draft" }
    type = work_type("Ignorant") { field :seen, String, selects: []; def seen = object.attributes.keys.join(" ") }
    pair = schemas do
      field :drafts, [type], null: false
      define_method(:drafts) { model.order(:id) }
    end
    answer = assert_same_answer("{ drafts { title seen } }", pair)
    refute_includes answer["data"]["drafts"].first["seen"], "body"
  end

  # What PostgreSQL quotes, is the statement as it is without projection.
  def test_error_of_the_database
    pair = schemas do
      field :wrong, [Library::Work], null: false
      def wrong = ::Work.where("no_such_column = 1")
    end
    errors = pair.map { |schema| assert_raises(ActiveRecord::StatementInvalid) { execute("{ wrong { title } }", schema) } }
    assert_equal(*errors.map { |error| [error.class, error.message, error.sql] })
  end

  # What is known of a document, and of a model, is so until the model is told to look again.
  def test_columns_that_the_model_has_learnt_of_since
    ActiveRecord::Base.connection.execute("CREATE TABLE sketches (id bigserial PRIMARY KEY, title text, old text)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "sketches"; def self.name = "Sketch" }
    model.insert_all!([{ title: "one", old: "o" }])
    type = work_type("Sketch") { field :seen, String, selects: []; def seen = [object.try(:fresh), object.try(:old), object.attributes].inspect }
    pair = schemas do
      field :sketches, [type], null: false
      define_method(:sketches) { model.order(:id) }
    end
    ["ADD COLUMN fresh text DEFAULT 'f'", "DROP COLUMN old"].each do |change|
      assert_same_answer("{ sketches { title seen } }", pair)
      ActiveRecord::Base.connection.execute("ALTER TABLE sketches #{change}")
      model.reset_column_information
    end
    answer = assert_same_answer("{ sketches { title seen } }", pair)
    assert_match(/\A\["f", nil, /, answer["data"]["sketches"].first["seen"])
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE sketches")
  end

  # It learns of a dropped column when PostgreSQL says so, and asks again for whole rows.
  def test_column_that_was_dropped_since
    ActiveRecord::Base.connection.execute("CREATE TABLE drafts (id bigserial PRIMARY KEY, title text, old text, note text)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "drafts"; def self.name = "Draft" }
    model.insert_all!([{ title: "one", old: "o", note: "n" }])
    model.columns_hash
    ActiveRecord::Base.connection.execute("ALTER TABLE drafts DROP COLUMN old, ADD COLUMN fresh text DEFAULT 'f'")
    type = work_type("Draft") { field :note, String, selects: []; field :old, String; def note = object.then(&:note) }
    pair = schemas do
      field :drafts, [type], null: false
      define_method(:drafts) { model.order(:id) }
    end
    answer = assert_same_answer("{ drafts { title note } }", pair)
    assert_equal({ "drafts" => [{ "title" => "one", "note" => "n" }] }, answer["data"])
    # (The Interpreter asks whether there is such a method, Next just calls it: the one fails by graphql's error, the other by the model's.)
    errors = pair.map { |schema| assert_raises(StandardError) { execute("{ drafts { old } }", schema) } }
    assert_equal(*errors.map { |error| [error.class, error.message.gsub(/0x\h+/, "")] })
    assert_equal Engine::NEXT ? ActiveModel::MissingAttributeError : RuntimeError, errors.first.class
    assert_match(/Draft.old/, errors.first.message)
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE drafts")
  end
end

# Records that were narrowed, used as if they weren't.
class BehaviourTest < ProjectionTest
  {
    attributes: ->(work) { work.attributes },
    attribute_names: ->(work) { work.attribute_names },
    as_json: ->(work) { work.as_json },
    dup: ->(work) { work.dup.attributes },
    clone: ->(work) { work.clone.attributes },
    reload: ->(work) { work.reload.attributes },
    changed: ->(work) { [work.changed?, work.changes, work.tap { |it| it.body = "x" }.changes, work.body_was] },
    assign: ->(work) { work.tap { |it| it.assign_attributes(body: "y", summary: work.summary) }.changes },
    will_change: ->(work) { work.tap(&:body_will_change!).body << "more"; work.changed },
    inspect: ->(work) { work.inspect + work.full_inspect },
    equality: ->(work) { [work == Work.find(work.id), work.eql?(Work.find(work.id)), work.hash == Work.find(work.id).hash, { work => 1 }[Work.find(work.id)]] },
    marshal: ->(work) { Marshal.load(Marshal.dump(work)).then { |it| [it.class, it.attributes, it.body, it.persisted?, it == work] } },
    yaml: ->(work) { YAML.unsafe_load(YAML.dump(work)).attributes },
    cache_key: ->(work) { [work.cache_key, work.cache_version, work.to_param, work.to_key] },
    readonly: ->(work) { [work.readonly?, work.frozen?, work.new_record?, work.persisted?, work.destroyed?, work.strict_loading?] },
    has_attribute: ->(work) { [work.has_attribute?(:body), work.has_attribute?(:nothing), work.has_attribute?(:rank), work.body?, work.attribute_present?(:body)] },
    before_type_cast: ->(work) { [work.price_before_type_cast, work.attributes_before_type_cast, work.attributes_for_database] },
    brackets: ->(work) { [work[:body], work["summary"], work.read_attribute(:price), work.slice(:body, :rank), work.values_at(:body, :title)] },
    unknown: ->(work) { work[:nothing].inspect + (work.read_attribute(:nothing) { "block" }).inspect },
    save: ->(work) { [work.save, work.previous_changes, work.reload.attributes] },
    update: ->(work) { [work.update(body: "new", title: "t"), work.previous_changes, work.body_previously_was, work.reload.attributes] },
    update_columns: ->(work) { [work.update_columns(body: "new"), work.attributes] },
    increment: ->(work) { [work.increment!(:reviews_count).reviews_count, work.reload.reviews_count] },
    destroy: ->(work) { [work.destroy.destroyed?, work.frozen?, work.title, work.body] },
    freeze: ->(work) { work.freeze.attributes },
    becomes: ->(work) { work.becomes(Work).attributes },
    serialized: ->(work) { [work.options, work.prefs, work.font, work.tap { |it| it.font = "z" }.changes] },
    fetch_association: ->(work) { [work.reviewer&.attributes, work.reviews.map(&:attributes), work.reviews.size, work.cover&.artist] },
    pattern: ->(work) { work.serializable_hash(only: %i[title body], methods: :font) }
  }.each do |name, use|
    define_method("test_#{name}") do
      assert_behaves do |works|
        results = nil
        ActiveRecord::Base.transaction do
          results = works.map { |work| use.call(work) }
          raise ActiveRecord::Rollback
        end
        results
      end
    end
  end

  def test_what_needs_no_more_columns_reads_none
    assert_behaves(misses: 0) { |works| works.map { |work| [work.id, work.title, work.to_param, work == works.first, work.persisted?, work.readonly?, work.hash.class] } }
  end

  def test_touch
    results = []
    pair = schemas do
      field :kept, [Library::Writer], null: false
      field :probe, String
      define_method(:kept) { context[:kept] = ::Writer.order(:id).limit(2) }
      define_method(:probe) do
        ActiveRecord::Base.transaction do
          results << context[:kept].map { |it| [it.touch(time: Time.utc(2030)), it.updated_at, it.cache_version, it.update(name: "n"), it.saved_changes.except("updated_at"), it.settings, it.color] }
          raise ActiveRecord::Rollback
        end
        "done"
      end
    end
    pair.each { |schema| execute("{ kept { name } probe }", schema) }
    assert_equal(*results)
  end

  # Records of a model of its own, narrowed to their names by `{ kept { name } probe }`, and used by the block in a resolver.
  def assert_used(model, &block)
    results = []
    type = Class.new(Library::Base) { graphql_name("Kept"); field(:name, String) }
    pair = schemas do
      field :kept, [type], null: false
      field :probe, String
      define_method(:kept) { context[:kept] = model.order(:id) }
      define_method(:probe) do
        model.transaction do
          results << context[:kept].map(&block)
          raise ActiveRecord::Rollback
        end
        "done"
      end
    end
    read = pair.map { |schema| sql { execute("{ kept { name } probe }", schema) }.first }
    assert_equal(*results)
    read.last
  end

  # It is in the version that it was read in, and not in that of a column that is read later.
  def test_optimistic_locking
    ActiveRecord::Base.connection.execute("CREATE TABLE accounts (id bigserial PRIMARY KEY, name text, note text, lock_version integer NOT NULL DEFAULT 0)")
    model = Class.new(ActiveRecord::Base) { self.table_name = "accounts"; def self.name = "Account" }
    model.insert_all!([{ name: "one", note: "n" }, { name: "two", note: "m" }])
    read = assert_used(model) do |account|
      seen = [account.update(name: "mine"), account.note, account.lock_version]
      model.where(id: account.id).update_all("lock_version = lock_version + 1")
      [*seen, *%i[save touch destroy].map { |name| account.name += "!"; account.public_send(name) && nil rescue [name, $!.class] }]
    end
    assert_equal 'SELECT "accounts"."id", "accounts"."name", "accounts"."lock_version" FROM "accounts" ORDER BY "accounts"."id" ASC', read
    assert_used(model) do |account|
      model.where(id: account.id).update_all("lock_version = lock_version + 1")
      [account.update(name: "mine")] rescue $!.class
    end
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE accounts")
  end

  class Volume < ActiveRecord::Base
    self.table_name = "works"
    self.inheritance_column = nil
    alias_attribute :name, :title
    has_many :notes, class_name: "BehaviourTest::Note", foreign_key: :work_id, inverse_of: false, counter_cache: :reviews_count
  end

  class Note < ActiveRecord::Base
    self.table_name = "reviews"
    belongs_to :volume, foreign_key: :work_id, inverse_of: false, counter_cache: :reviews_count
  end

  # Counted in the table and in the owner: if the owner learned its count between the two, the new one would count twice.
  def test_counter_cache
    assert_used(Volume) do |volume|
      volume.notes.create!(text: "one")
      volume.notes << Note.new(text: "two")
      [volume.reviews_count, volume.notes.size, volume.changed?]
    end
  end
end

class LeftAloneTest < ProjectionTest
  module Extension
    def titles = map(&:title)
  end

  class Keyless < ActiveRecord::Base
    self.table_name = "genres_works"
    self.primary_key = nil
    def title = "#{genre_id} #{work_id}"
  end

  RELATIONS = {
    custom_select: -> { ::Work.select("works.*, upper(title) AS loud").order(:id) },
    group: -> { ::Work.group(:id).order(:id) },
    having: -> { ::Work.group(:id).having("count(*) = 1").order(:id) },
    distinct: -> { ::Work.distinct.order(:id) },
    from: -> { ::Work.from("(SELECT * FROM works WHERE id < 5) works").order(:id) },
    joins_that_select: -> { ::Work.joins(:writer).select("works.*, writers.name AS by").order(:id) },
    eager_load: -> { ::Work.eager_load(:writer).order(:id) },
    references: -> { ::Work.includes(:writer).references(:writers).order(:id) },
    sql: -> { ::Work.find_by_sql("SELECT * FROM works ORDER BY id") },
    lock: -> { ::Work.lock.order(:id) },
    extending: -> { ::Work.extending(Extension).order(:id) },
    order_by_number: -> { ::Work.order(2, :id) },
    order_by_position_in_a_node: -> { ::Work.order(Arel.sql("3").desc.nulls_last) },
    order_by_name_of_joined_tables: -> { ::Work.joins("JOIN works more ON more.id = works.id").order("body DESC") },
    with: -> { ::Work.with(early: ::Work.where(id: ..5)).joins("JOIN early ON early.id = works.id").order(:id) },
    none: -> { ::Work.none },
    contradiction: -> { ::Work.where(id: []) },
    array: -> { ::Work.order(:id).to_a },
    async: -> { ::Work.order(:id).load_async },
    keyless: -> { Keyless.order(:genre_id, :work_id) }
  }.freeze

  RELATIONS.each do |name, relation|
    define_method("test_#{name}") do
      pair = schemas do
        field :specials, [LeftAloneTest.type], null: false
        define_method(:specials) { relation.call }
      end
      assert_same_answer("{ specials { title } }", pair)
      assert_equal(*pair.map { |schema| sql { execute("{ specials { title } }", schema) } })
    end
  end

  def self.type = @type ||= Class.new(Library::Base) { graphql_name("Titled"); field(:title, String, null: false) }

  # Rows of one table each: a join only says which.
  def test_joins_and_preloads_are_narrowed
    pair = schemas do
      field :joined, [Library::Work], null: false
      field :preloaded, [Library::Work], null: false
      def joined = ::Work.joins(:writer).where(writers: { id: 1.. }).order(:id)
      def preloaded = ::Work.preload(:cover, reviews: :writer).includes(:reviewer).order(:id)
    end
    assert_reads({ "works" => %w[id type title] }, "{ joined { title } }", pair)
    assert_reads({ "works" => %w[id type title reviewer_id], "covers" => [nil], "reviews" => [nil], "writers" => [nil] },
                 "{ preloaded { title } }", pair)
  end

  def test_preloads_that_ask_their_records
    pair = schemas do
      field :preloaded, [Library::Work], null: false
      def preloaded = ::Work.preload(:same_title_reviews).order(:id)
    end
    assert_reads({ "works" => [nil] }, "{ preloaded { body } }", pair)
  end

  def test_the_resolvers_relation_stays_what_it_was
    counts = []
    pair = schemas do
      field :specials, [Library::Work], null: false
      field :probe, String
      def specials = context[:works] = ::Work.order(:id)
      define_method(:probe) { counts << context[:works].then { |it| [it.count, it.select_values, it.to_sql, it.where(id: 1).first.attributes, it.pluck(:body), it.sum(:price)] } && "done" }
    end
    plain, exact = pair.map { |schema| sql { execute("{ specials { title } probe }", schema) } }
    assert_equal(*counts)
    # What is made of it, is the application's own.
    made = plain.grep(/WHERE/)
    assert_equal 1, made.size
    assert_includes exact, made.first
  end
end

class OptInTest < ProjectionTest
  def test_off_by_default
    refute Pipeloader.field_exact unless ENV["PIPELOADER_FIELD_EXACT"]
    assert_reads({ "works" => [nil], "writers" => [nil] }, "{ works { title writer { name } } }", Library.make(field_exact: false))
  end

  def test_for_all_schemas
    was, Pipeloader.field_exact = Pipeloader.field_exact, true
    assert_reads({ "works" => %w[id type title] }, "{ works { title } }", Library.make(field_exact: nil))
    assert_reads({ "works" => [nil] }, "{ works { title } }", Library.make(field_exact: false))
  ensure
    Pipeloader.field_exact = was
  end

  def test_for_a_type_and_those_that_inherit_from_it
    base = work_type("Exact") { pipeloader_field_exact!; field :writer, Library::Writer }
    heir = Class.new(base) { graphql_name("Heir") }
    [base, heir].each do |type|
      assert_reads({ "works" => %w[id type title writer_id], "writers" => [nil] }, "{ specials { title writer { name } } }", special(type, field_exact: nil))
    end
  end

  # Below a type that hasn't opted in.
  def test_for_one_type_of_several
    review = Class.new(Library::Base) { graphql_name("ExactReview"); pipeloader_field_exact!; field(:text, String) }
    work = work_type("WholeWork") { field :reviews, [review], null: false }
    assert_reads({ "works" => [nil], "reviews" => %w[id work_id text] }, "{ specials { title reviews { text } } }", special(work, field_exact: nil))
  end

  # A type that hasn't opted in is whole though nothing is asked of its records, and may say by `selects:` what it likes.
  def test_types_beside_one_that_has_opted_in
    genre = Class.new(Library::Base) do
      graphql_name "Genre"
      field :code, String, selects: %i[cod]
      def code = object.code
    end
    exact = work_type("ExactWork") { pipeloader_field_exact! }
    [exact, work_type("NoExactWork")].each do |type|
      pair = schemas(field_exact: nil) do
        field :kinds, [genre], null: false
        field :specials, [type], null: false
        def kinds = ::Genre.order(:id)
        def specials = ::Work.order(:id)
      end
      read = type.equal?(exact) ? %w[id type title] : nil
      assert_reads({ "works" => [read, nil].uniq, "genres" => [nil], "reviews" => [nil], "links" => [nil], "writers" => [nil] },
                   "{ specials { title } kinds { __typename code } reviews { __typename } links { target { ... on Writer { __typename } } } }", pair)
      assert_reads({ "genres" => [nil] }, "{ kinds { code @skip(if: true) } }", pair)
    end
  end

  # Of a schema where nobody has, records don't carry anything.
  def test_schema_beside_one_that_has_opted_in
    kept = nil
    schemas(field_exact: nil) do
      field :kept, [Library::Work], null: false
      define_method(:kept) { kept = ::Work.order(:id) }
    end.each { |schema| execute("{ kept { title writer { name } } }", schema) }
    assert_empty(kept.flat_map { |work| [work, *work.writer].flat_map(&:instance_variables) }.grep(/pipeloader/))
  end

  def test_a_schema_without_pipeloader
    type = work_type("Alone") { pipeloader_field_exact! }
    plain, = special(type)
    assert_equal [nil], selected { execute("{ specials { title } }", plain) }["works"]
  end

  def test_disabled
    assert_equal [nil], selected { Pipeloader.disabled { execute("{ works { title } }") } }["works"]
  end

  # Off, no method of a host is ours.
  def test_off_costs_nothing
    code = "require 'active_record'; require 'pipeloader'; ActiveRecord::Base; class S < GraphQL::Schema; use Pipeloader; end; " \
           "p [ActiveRecord::Relation, ActiveRecord::Associations::Association, GraphQL::Execution::Interpreter::Runtime].map { |it| it.ancestors.map(&:to_s).grep(/Projection/) }"
    assert_equal "[[], [], []]", IO.popen([RbConfig.ruby, "-I#{File.expand_path("../lib", __dir__)}", "-e", code], &:read).strip
  end
end

# What users of other projects' projections ran into (facts: Strawberry-Django, Hot Chocolate, graphql-ruby).
class PeersTest < ProjectionTest
  # strawberry-django#862: `only` dropped the foreign key, and each parent was asked for again.
  def test_foreign_key_is_kept
    assert_reads({ "works" => %w[id type writer_id], "writers" => %w[id name] }, "{ works { writer { name } } }")
    assert_round_trips(2) { execute("{ works { writer { name } } }") }
  end

  # strawberry-django#905: a column that wasn't fetched raised KeyError.
  def test_column_that_was_not_fetched
    assert_reads({ "works" => [%w[id type title], nil] }, "{ works { hidden } }", misses: 1)
  end

  # strawberry-django#869: hints were lost in one-to-one relations.
  def test_one_to_one
    assert_reads({ "works" => [%w[id type title]], "covers" => %w[id work_id file] }, "{ works { title cover { file work { title } } } }")
  end

  # strawberry#3329, strawberry-django-plus#154: properties of the model.
  def test_property_of_the_model
    assert_reads({ "writers" => [%w[id name email]] }, "{ writers { initials } }")
  end

  # strawberry-django#588: a record that was refreshed.
  def test_refresh
    assert_behaves { |works| works.map { |work| work.reload.body } }
  end

  # hotchocolate#10034: fields that only resolvers need were dropped.
  def test_fields_that_only_a_resolver_needs
    assert_reads({ "works" => %w[id type body] }, "{ works { excerpt } }")
  end

  # hotchocolate#10163: what a resolver requires was ignored where a selected name collided with it.
  def test_names_that_collide
    assert_reads({ "works" => %w[id type title body] }, "{ works { body: title excerpt } }")
    assert_reads({ "works" => [%w[id type title body]] }, "{ works { excerpt: title title: excerpt } }")
  end

  # hotchocolate#6690: conditional projection.
  def test_conditional_selection
    query = "query($yes: Boolean!) { works { title ...f @include(if: $yes) } } fragment f on Work { excerpt writer { name } }"
    assert_reads({ "works" => [%w[id type title body writer_id]], "writers" => %w[id name] }, query, variables: { "yes" => true })
    assert_reads({ "works" => %w[id type title], "writers" => [] }, query, variables: { "yes" => false })
  end

  # hotchocolate#5584: computed fields were null.
  def test_computed_field
    answer = assert_same_answer("{ works { loud } }", Library.pair)
    assert(answer["data"]["works"].all? { |work| work["loud"].start_with?("WORK") })
  end

  # graphql-ruby#2196: SELECT * of a table with 130 columns.
  def test_wide_table
    ActiveRecord::Base.connection.execute("CREATE TABLE broad (id bigserial PRIMARY KEY, title text, #{(1..130).map { |i| "c#{i} text" }.join(", ")})")
    model = Class.new(ActiveRecord::Base) { self.table_name = "broad"; def self.name = "Broad" }
    model.insert_all!([{ title: "one" }])
    pair = schemas do
      field :specials, [LeftAloneTest.type], null: false
      define_method(:specials) { model.order(:id) }
    end
    assert_reads({ "broad" => %w[id title] }, "{ specials { title } }", pair)
  ensure
    ActiveRecord::Base.connection.execute("DROP TABLE broad")
  end
end

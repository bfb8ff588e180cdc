# frozen_string_literal: true

require "active_support/core_ext/kernel/reporting"
require_relative "../support/plans"

# Types with a `scope_items` of their own.
class ScopeItemsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:scoped_boards) { |t| t.string :name; t.bigint :parent_id; t.string :labels, array: true }
    create_table(:scoped_notes) { |t| t.bigint :board_id; t.bigint :owner_id; t.string :text; t.boolean :hidden; t.integer :score; t.string :type }
  end

  class Note < ActiveRecord::Base
    self.table_name = "scoped_notes"
    belongs_to :board, class_name: "ScopeItemsTest::Board", optional: true
    scope :published, -> { where(hidden: false) }
    scope :scored, ->(least = 2) { where(score: least..) }
    scope :reading, -> { where(score: minimum(:score)) }
    scope :refined_notes, -> { where(hidden: false) }
    def self.of_its_own = where(score: 3)
  end

  class Memo < Note; end

  class Board < ActiveRecord::Base
    self.table_name = "scoped_boards"
    belongs_to :parent, class_name: "ScopeItemsTest::Board", optional: true
    has_many :notes, -> { order(:id) }, class_name: "ScopeItemsTest::Note"
    has_many :boards, -> { order(:id) }, class_name: "ScopeItemsTest::Board", foreign_key: :parent_id
    has_many :parts, -> { order(:id) }, through: :boards, source: :notes
    has_many :few, -> { order(:id).limit(3) }, class_name: "ScopeItemsTest::Note"
    def open = notes.where(score: 1..)
    def of_parent = parent&.notes
    def best = notes.order(score: :desc).to_a
  end

  Board.insert_all!((1..6).map { |id| { id: id, name: "board #{id}", parent_id: (id - 2 if id > 2), labels: ["a#{id}", "b#{id}"] } })
  Note.insert_all!((1..30).map { |id| { id: id, board_id: (id % 5) + 1, owner_id: id % 3, text: "note #{id}", hidden: [false, true, nil, false][id % 4], score: id % 7, type: (Memo.name if id.even?) } })

  Viewer = Struct.new(:id)
  Lazy = Struct.new(:value)

  # {name => [body of `scope_items`, whether a plan can do it, and a connection's]}
  SCOPES = {
    where: ["items.where(hidden: false)", true, true],
    declared: ["items.published", true, true],
    declared_with_arguments: ["items.scored(3)", true, true],
    several: ["items.published.where(score: 2..).order(score: :desc)", true, true],
    negated: ["items.where.not(owner_id: 2)", true, true],
    reordered: ["items.reorder(score: :desc, id: :asc)", true, true],
    merged: ["items.merge(::ScopeItemsTest::Note.published)", true, true],
    joined: ["items.joins(:board).where(scoped_boards: { name: 'board 2' })", true, :any],
    viewer: ["items.where(owner_id: context[:viewer_id])", true, true],
    viewers: ["items.where(owner_id: context[:viewer_ids]).published", true, true],
    least: ['items.where("scoped_notes.score > ?", context[:least])', true, true],
    viewer_or_none: ["items.where(owner_id: context[:nobody]&.id)", true, true],
    by_super: ["super.where(hidden: false)", true, true],
    by_super_with_arguments: ["super(items, context).published", true, true],
    super_alone: ["super", true, true],
    items_alone: ["items", true, true],
    returned: ["return items.published", true, true],
    limited: ["items.limit(2)", true, false],
    none: ["items.none", false, false],
    branch: ["context[:admin] ? items : items.where(hidden: false)", false, false],
    early_return: ["return items if context[:admin]; items.published", false, false],
    safe: ["items&.published", false, false],
    variable: ["scoped = items.published; scoped.where(score: 1..)", false, false],
    assigned: ["items = items.published; items", false, false],
    array: ["items.to_a", false, false],
    block: ["items.reject { |it| it.hidden }", false, false],
    first: ["items.first(2)", false, false],
    one: ["items.first", false, false],
    class_method: ["items.of_its_own", false, false],
    memo: ["@memo ||= items.published", false, false],
    reading: ["items.where(score: ::ScopeItemsTest::Note.maximum(:score))", false, false],
    declared_that_reads: ["items.reading", false, false],
    helper: ["visible(items)", false, false],
    sent: ["items.public_send(:published)", false, false],
    raising: ["raise GraphQL::ExecutionError, 'not these'", false, false],
    unknown: ["items.nope", false, false],
    unknown_column: ["items.where(nope: 1)", false, false],
    swapped: ["context.where(items)", false, false],
    itself_within: ["items.where(id: items.select(:id))", false, false],
    fetched: ["items.where(owner_id: (context.dig(:viewer_id) || 1))", false, false],
    sql_of_the_context: ["items.where(context[:sql])", false, false],
    super_swapped: ["super(context, items)", false, false],
    super_of_others: ["super(items.published, context)", false, false],
    super_behind: ["items.published; super", false, false],
    extended: ["items.extending(Module.new)", false, false],
    nothing: ["nil", false, false],
    distinct: ["items.distinct", :any, :any],
    selected: ["items.select(:id, :board_id)", false, false],
    rescued: ["(items.published rescue items)", false, false]
  }.freeze

  # Errors of a resolver leave `execute` under any dataloader of graphql 2.5.
  def self.scoped(name, code = nil, base = Schemas::Base, &block)
    type = Class.new(base) do
      graphql_name name
      if base == Schemas::Base
        field :id, Integer
        field :text, String
      end
      class_exec(&block) if block
      def self.visible(items) = items.where(hidden: false)
    end
    code ? define(type, code) : type
  end

  def self.define(type, code)
    silence_warnings { type.instance_eval("def self.scope_items(items, context)\n#{code}\nend", __FILE__, __LINE__) }
    type
  end

  # @param note [Class] type of notes
  def self.board_of(note, connection = note.connection_type, &block)
    counted = Class.new(GraphQL::Types::Relay::BaseConnection) do
      graphql_name "#{note.graphql_name}Counted"
      edge_type note.edge_type
      field :total_count, Integer
      def total_count = object.items.size
    end
    Class.new(Schemas::Base) do
      graphql_name "BoardOf#{note.graphql_name}"
      field :id, Integer
      field :name, String
      field :notes, [note], null: false
      field :maybe, [note, { null: true }], method: :notes
      field :asked, [note]
      field :given, [note] do
        argument :least, Integer, required: false
      end
      field :of_viewer, [note]
      field :open, [note]
      field :parts, [note]
      field :few, [note]
      field :of_parent, [note]
      field :through_parent, [note]
      field :everything, [note], method: :notes, scope: false
      field :pages, connection, null: false, method: :notes
      field :asked_pages, connection
      field :counted, counted, connection: true, method: :notes
      field :opaque, String
      field :parent, self
      field :boards, [self]
      def asked = object.notes.where(score: 1..)
      def given(least: 2) = object.notes.where(score: least)
      def of_viewer = object.notes.where(owner_id: context[:viewer_id])
      def through_parent = object.parent&.notes&.order(:score)
      def asked_pages = object.notes.where(score: 1..)
      def opaque = object.name.dup
      class_exec(&block) if block
    end
  end

  def self.schemas_of(board, **others, &block)
    schemas({ boards: [[board], -> { Board.order(:id) }], board: [board, -> { Board.find(3) }], **others }, &block)
  end

  TYPES = SCOPES.to_h { |name, (code, _)| [name, scoped("Scoped#{name.to_s.camelize}", code)] }.freeze

  LISTS = ["{ boards { id notes { id text } } }", "{ boards { name asked { id } open { text } } }", "{ board { notes { id } maybe { text } parts { id } } }",
           "{ boards { a: notes { id } b: notes { text } given(least: 4) { id } g: given { id } everything { id } } }",
           "{ boards { parent { notes { id } boards { asked { text } } } } }", "{ boards { ofParent { id } throughParent { text } few { id } ofViewer { id } } }"].freeze
  PAGES = ["{ boards { pages(first: 2) { edges { cursor node { id text } } pageInfo { hasNextPage endCursor } } } }", "{ boards { id pages { nodes { id } } askedPages(first: 1) { nodes { id } } } }",
           "{ board { pages(last: 2) { nodes { id } pageInfo { hasPreviousPage } } } }", "{ boards { counted(first: 1) { totalCount nodes { text } } } }",
           "{ boards { pages(first: 2, after: \"MQ\") { nodes { id } pageInfo { hasPreviousPage hasNextPage } } } }"].freeze
  BESIDE = ["{ boards { opaque notes { id text } } }", "{ board { notes { text } opaque } }", "{ boards { opaque pages(first: 2) { nodes { id } } counted { totalCount } } }",
            "{ boards { boards { opaque asked { id } } given(least: 2) { text } } }", "{ boards { opaque ofParent { id } throughParent { id } } }"].freeze

  def given = { viewer_id: 1, viewer_ids: [0, 1], least: 2, viewer: Viewer.new(2), sql: "score = 3" }

  SCOPES.each do |name, (_, listed, paged)|
    define_method(:"test_#{name}") do
      schemas = self.class.schemas_of(self.class.board_of(TYPES.fetch(name)))
      { LISTS => listed, PAGES => paged }.each do |queries, plain|
        (plain ? queries : queries.values_at(0, 3)).each do |query|
          next 3.times { assert_equal(*both(query, schemas) { given }) } if plain == :any

          plain ? assert_compiled(query, schemas) : assert_aside(query, schemas, model: Board, errors: :any, context: -> { given })
        end
      end
      BESIDE.each { |query| 2.times { assert_equal(*both(query, schemas) { given }) } }
    end
  end

  # It was called before a plan sees what a root's resolver has returned.
  def test_roots
    TYPES.slice(:where, :viewer, :branch, :helper, :limited, :variable).each do |name, note|
      schemas = schemas({ notes: [[note], -> { Note.order(:id) }], pages: [note.connection_type, -> { Note.order(:id) }], given: [[note], -> { Note.order(:id).to_a }], nothing: [[note], -> {}] })
      ["{ notes { id text } }", ("{ pages(first: 3) { nodes { id } pageInfo { hasNextPage } } p: pages(last: 2) { edges { node { text } } } }" unless name == :limited)].compact.each do |query|
        assert_compiled(query, schemas)
      end
      ["{ given { id } }", "{ nothing { id } }", "{ notes { id } given { id } }"].each { |query| 3.times { assert_equal(*both(query, schemas) { given }) } }
    end
  end

  # One statement for all owners, and one more for their number.
  def test_round_trips
    schemas = self.class.schemas_of(self.class.board_of(TYPES.fetch(:viewer)))
    { "{ boards { notes { id } } }" => [1, 1], "{ boards { pages(first: 2) { nodes { id } } } }" => [1, 1], "{ boards { counted(first: 1) { totalCount nodes { id } } } }" => [1, 2],
      "{ boards { throughParent { id } asked { id } } }" => [1, 2, 1] }.each do |query, sent|
      3.times { schemas.last.execute(query, context: given) }
      bursts = WireCounter.events("burst.pipeloader") { schemas.last.execute(query, context: given) }
      assert_equal sent, bursts.map { |it| it[:statements] }, query
    end
  end

  # -- what is there by now ------------------------------------------------------------------------------------------------

  CHANGES = {
    anew: ->(type, _) { define(type, "items.where(score: 3)") },
    opaque: ->(type, _) { define(type, "items.to_a.first(1)") },
    all: ->(type, _) { define(type, "items") },
    prepended: ->(type, _) { type.singleton_class.prepend(Module.new { def scope_items(items, context) = super.where(score: 2..) }) },
    gone: ->(type, _) { type.singleton_class.send(:remove_method, :scope_items) },
    above: ->(_, above) { define(above, "items.where(owner_id: 1)") },
    above_of_above: ->(_, above) { above.singleton_class.prepend(Module.new { def scope_items(items, _context) = items.limit(1) }) },
    by_a_module: ->(type, _) { type.extend(Module.new { def scope_items(items, _context) = items.where(score: 5) }) }
  }.freeze

  CHANGES.each do |name, change|
    define_method(:"test_changed_#{name}") do
      above = self.class.scoped("Above#{name}", "items.where(hidden: false)")
      note = self.class.scoped("Changed#{name}", "super.where(score: 1..)", above)
      schemas = self.class.schemas_of(self.class.board_of(note))
      queries = [*LISTS.first(3), *PAGES.first(2), *BESIDE.first(3), "{ boards { throughParent { id } } }"]
      before = queries.map { |query| Array.new(3) { both(query, schemas) { given }.tap { |it| assert_equal(*it) } }.last.last }
      change.call(note, above)
      after = queries.map { |query| Array.new(3) { both(query, schemas) { given }.tap { |it| assert_equal(*it, query) } }.last.last }
      refute_equal before, after
      assert_equal(*both("{ boards { n: notes { text id } p: pages(first: 1) { nodes { text } } } }", schemas) { given })
    end
  end

  # One that returns all, by its own or by graphql-ruby's method, and then doesn't.
  def test_changed_from_all
    { "items" => [true], "super" => [true], nil => [false] }.each do |code, (seen)|
      note = self.class.scoped("FromAll#{code}", code)
      schemas = self.class.schemas_of(self.class.board_of(note))
      query = "{ boards { notes { id } everything { id } pages(first: 1) { nodes { id } } } }"
      assert_plan(query, schemas)
      self.class.define(note, "items.where(score: 3)")
      other = "{ boards { id notes { id } everything { id } pages(first: 1) { nodes { id } } } }"
      3.times { assert_equal(*both(seen ? query : other, schemas) { {} }) }
    end
  end

  def test_connection_types
    note = self.class.scoped("Paged", "items.where(hidden: false)")
    { by_super: "super.where(score: 2..)", alone: "items.where(score: 2..)", opaque: "super.to_a", all: "items" }.each do |name, code|
      connection = Class.new(GraphQL::Types::Relay::BaseConnection) { graphql_name "Paged#{name}Connection"; edge_type note.edge_type }
      self.class.define(connection, code)
      schemas = self.class.schemas_of(self.class.board_of(note, connection))
      PAGES.values_at(0, 1, 2, 4).each do |query|
        name == :opaque ? assert_aside(query, schemas, model: Board, errors: :any) : assert_compiled(query, schemas)
      end
      self.class.define(connection, "items.where(score: 4)")
      PAGES.each { |query| 3.times { assert_equal(*both(query, schemas) { {} }) } }
    end
  end

  # -- whose it is -----------------------------------------------------------------------------------------------------------

  def test_heirs_and_modules
    mixed = Module.new { def scope_items(items, context) = super.where(score: 1..) }
    base = self.class.scoped("MixedBase", "super.published") { extend(mixed) }
    heir = self.class.scoped("MixedHeir", "super.where(owner_id: context[:viewer_id])", base)
    swapped = self.class.scoped("MixedOpaque", nil, base) { extend(Module.new { def scope_items(items, context) = super(items.where(score: 2), context) }) }
    [base, heir].each { |note| LISTS.each { |query| assert_compiled(query, self.class.schemas_of(self.class.board_of(note))) } }
    LISTS.each { |query| assert_aside(query, self.class.schemas_of(self.class.board_of(swapped)), model: Board, context: -> { given }) }
  end

  # The field's own type is asked, and none of its members.
  def test_interfaces_and_unions
    memo, other = self.class.scoped("OneMemo", "items.where(score: 1)"), self.class.scoped("OtherNote", "items.to_a.first(1)")
    interface = Module.new do
      include GraphQL::Schema::Interface
      graphql_name "AnyNote"
      field :id, Integer
      orphan_types memo, other
      definition_methods do
        def scope_items(items, context) = super.where(hidden: false, owner_id: context[:viewer_id])
      end
    end
    union = Class.new(GraphQL::Schema::Union) { graphql_name "EitherNote"; possible_types memo, other }
    ScopeItemsTest.const_set(:MEMO, memo)
    ScopeItemsTest.const_set(:OTHER, other)
    [memo, other].each { |it| it.implements(interface) }
    [interface, union].each { |it| it.instance_eval("def self.resolve_type(object, _context) = object.is_a?(ScopeItemsTest::Memo) ? ScopeItemsTest::MEMO : ScopeItemsTest::OTHER", __FILE__, __LINE__) }
    self.class.define(union, "items.where(owner_id: context[:viewer_id])")
    board = Class.new(Schemas::Base) { graphql_name "AnyBoard"; field :any, [interface], method: :notes; field :either, [union], method: :notes; field :asked, [union]; def asked = object.notes.where(score: 2..) }
    schemas = self.class.schemas_of(board)
    below = "__typename ... on OneMemo { text } ... on OtherNote { id }"
    ["{ boards { any { id #{below} } } }", "{ boards { either { #{below} } asked { #{below} } } }"].each do |query|
      answer = assert_compiled(query, schemas)
      assert_includes answer.to_s, "OneMemo"
    end
  end

  # A guard, which is asked of what is left; or not at all.
  def test_guards
    [true, false].each do |again|
      note = self.class.scoped("Guarded#{again}", "items.where(hidden: false)") do
        reauthorize_scoped_objects(again)
        def self.authorized?(object, context) = object.id != context[:no]
      end
      schemas = self.class.schemas_of(self.class.board_of(note), notes: [[note], -> { Note.order(:id) }], first: [note, -> { Note.find(8) }])
      assert_plan("{ boards { notes { id } } notes { text } }", schemas)
      [*LISTS.first(2), *PAGES.first(2), *BESIDE.first(3), "{ notes { id } first { id } boards { notes { id } everything { id } } }"].each do |query|
        [8, nil, 3].each { |no| assert_equal(*both(query, schemas) { { no: no, viewer_id: 1 } }) }
      end
    end
  end

  # -- what comes there --------------------------------------------------------------------------------------------------------

  # Resolvers that return something else than the items of an association.
  def test_other_values
    [TYPES.fetch(:where), TYPES.fetch(:items_alone)].each do |note|
      board = self.class.board_of(note) do
        field :listed, [note]
        field :best, [note]
        field :nothing, [note]
        field :lazily, [note]
        field :failing, [note]
        field :one, note, scope: true
        field :newest, note, scope: true
        field :single, note
        field :hashes, [note]
        field :boxed, note.connection_type, scope: false, extensions: [GraphQL::Schema::Field::ScopeExtension], method: :notes
        field :twice, [note], extensions: [GraphQL::Schema::Field::ScopeExtension], method: :notes
        def listed = object.notes.to_a
        def nothing = nil
        def lazily = Lazy.new(object.notes)
        def failing = raise(GraphQL::ExecutionError, "none")
        def one = object.notes.first
        def newest = object.notes.order(score: :desc)
        def single = object.notes.first
        def hashes = [{ "id" => 1, "text" => object.name }]
      end
      schemas = self.class.schemas_of(board) { lazy_resolve(Lazy, :value) }
      %w[listed best nothing lazily failing one newest single hashes twice].each do |field|
        ["{ boards { #{field} { id } } }", "{ boards { opaque #{field} { id text } notes { id } } }"].each { |query| 2.times { assert_equal(*both(query, schemas) { {} }, query) } }
      end
      3.times { assert_equal(*both("{ boards { boxed(first: 1) { nodes { id } } } }", schemas) { {} }) }
    end
  end

  # Owners that aren't saved, whose association is loaded, or that have records in memory.
  def test_owners_in_memory
    boards = { fresh: -> { [Board.new(name: "new"), Board.find(2)] }, loaded: -> { Board.includes(:notes).order(:id).to_a }, built: -> { Board.order(:id).to_a.each { |it| it.notes.build(text: "built", hidden: false, score: 3) } } }
    %i[where items_alone viewer limited].each do |name|
      board = self.class.board_of(TYPES.fetch(name))
      schemas = self.class.schemas_of(board, **boards.transform_values { |value| [[board], value] })
      boards.each_key { |list| ["{ #{list} { name notes { text } } }", "{ #{list} { opaque notes { text } asked { id } } }"].each { |query| 3.times { assert_equal(*both(query, schemas) { given }, query) } } }
    end
  end

  # What another resolver puts into the context.
  def test_changed_context
    note = self.class.scoped("Contextual", "items.where(owner_id: context[:viewer_id])") do
      field :marked, String
      def marked = (context[:viewer_id] = object.id % 3).to_s
    end
    board = self.class.board_of(note) do
      field :mark, Integer
      def mark = context[:viewer_id] = object.id % 3
      field :scope, Integer
      def scope = context.scoped_set!(:viewer_id, object.id % 3).itself.then { object.id }
    end
    schemas = self.class.schemas_of(board)
    ["{ boards { mark notes { id } } }", "{ boards { notes { id } mark } }", "{ boards { notes { marked id } pages(first: 1) { nodes { id } } } }", "{ boards { mark pages(first: 2) { nodes { id } } counted { totalCount } } }",
     "{ boards { scope notes { id } } }", "{ board { mark } boards { notes { id } } }"].each do |query|
      3.times { assert_equal(*both(query, schemas) { { viewer_id: 1 } }, query) }
    end
  end

  # What can't be a condition's value.
  def test_values_of_the_context
    schemas = self.class.schemas_of(self.class.board_of(TYPES.fetch(:viewer)))
    odd = Class.new(String)
    [nil, 1, "1", :one, [1, 2], [], [nil, 1], 1.5, 1..2, { a: 1 }, Object.new, odd.new("2"), Note.find(3), Note.where(id: 1).select(:owner_id), -> { 1 }, true].each do |value|
      [LISTS[0], PAGES[0]].each { |query| 2.times { assert_equal(*both(query, schemas) { { viewer_id: value } }, value.inspect) } }
    end
  end

  # A leaf may be scoped, too.
  def test_leaves
    label = Class.new(GraphQL::Schema::Scalar) { graphql_name "Label"; def self.scope_items(items, _context) = items.first(1) }
    same = Class.new(GraphQL::Schema::Scalar) { graphql_name "SameLabel"; def self.scope_items(items, _context) = items }
    board = Class.new(Schemas::Base) do
      graphql_name "LabelBoard"
      field :labels, [label]
      field :same, [same], method: :labels
      field :words, [label]
      field :texts, [label]
      def words = object.name.split
      def texts = object.notes.map(&:text)
    end
    schemas = self.class.schemas_of(board)
    assert_plan("{ boards { same } }", schemas)
    %w[labels words texts].each { |field| 3.times { assert_equal(*both("{ boards { #{field} } }", schemas) { {} }) } }
  end

  module Refining
    refine(Note.relation_delegate_class(ActiveRecord::Associations::CollectionProxy)) { def refined_notes = where(score: 3) }
  end
  using Refining

  def test_refined
    note = self.class.scoped("RefinedNote") { def self.scope_items(items, _context) = items.refined_notes }
    schemas = self.class.schemas_of(self.class.board_of(note))
    LISTS.each { |query| 3.times { assert_equal(*both(query, schemas) { given }) } }
  end

  # A block's constants and variables are those around it.
  def test_defined_by_blocks
    least = 3
    note = self.class.scoped("ByBlock") { define_singleton_method(:scope_items) { |items, _context| items.where(score: least..) } }
    fixed = self.class.scoped("ByFixedBlock") { define_singleton_method(:scope_items) { |items, _context| items.where(score: 2) } }
    [note, fixed].each do |it|
      schemas = self.class.schemas_of(self.class.board_of(it))
      [*LISTS.first(2), *PAGES.first(2)].each { |query| 3.times { assert_equal(*both(query, schemas) { given }) } }
    end
  end

  # A scope is asked each time, and so may say something else.
  def test_declared_anew
    schemas = self.class.schemas_of(self.class.board_of(TYPES.fetch(:declared)))
    3.times { assert_equal(*both(LISTS.first, schemas) { {} }) }
    silence_warnings { Note.singleton_class.send(:remove_method, :published) && Note.scope(:published, -> { where(score: 1) }) }
    3.times { assert_equal(*both(LISTS.first, schemas) { {} }) }
  ensure
    silence_warnings { Note.singleton_class.send(:remove_method, :published) && Note.scope(:published, -> { where(hidden: false) }) }
  end

  # Where an extension refuses the field, or is over.
  def test_permits
    only = Class.new(GraphQL::Schema::FieldExtension) { def resolve(object: nil, objects: nil, arguments:, context:) = (super if context[:viewer_id]) }
    note = self.class.scoped("Permitted", "items.where(owner_id: context[:viewer_id])")
    board = Class.new(Schemas::Base) { graphql_name "PermittingBoard"; field :id, Integer; field :notes, [note], extensions: [only]; field :pages, note.connection_type, extensions: [only], method: :notes }
    schemas = self.class.schemas_of(board)
    ["{ boards { notes { id } } }", "{ boards { pages(first: 1) { nodes { id } } } }"].each { |query| [1, nil, 2].each { |id| 2.times { assert_equal(*both(query, schemas) { { viewer_id: id } }, query) } } }
    self.class.define(note, "items.where(score: 3)")
    ["{ boards { notes { id } } }", "{ boards { pages(first: 1) { nodes { id } } } }"].each { |query| 3.times { assert_equal(*both(query, schemas) { { viewer_id: 1 } }, query) } }
  end

  private

  # A resolver finds one board itself.
  def assert_compiled(query, schemas) = assert_plan(query, schemas, made: query.start_with?("{ board ") ? [Board] : [], context: -> { given })

  # @return [Array(String, String)] what both answer
  def both(query, schemas)
    schemas.map { |schema| text_of(outcome { schema.execute(query, context: yield).to_h }) }
  end
end

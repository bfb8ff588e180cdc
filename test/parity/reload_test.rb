# frozen_string_literal: true

require "active_support/core_ext/kernel/reporting"
require_relative "../support/plans"

# What is known of documents, models, types and methods is kept. Here something of an application changes between two queries, as code
# does that is loaded late, or again: all answers are those of a schema that keeps nothing. (A plan that is made doesn't see what is
# defined on a class afterwards, see docs/plans.md: the next document does.)
class ReloadTest < PlanTest
  connection = TestDatabase.connect
  connection.exec(<<~SQL)
    CREATE TABLE reload_writers (id bigserial PRIMARY KEY, name text);
    CREATE TABLE reload_things (id bigserial PRIMARY KEY, type text, title text, body text, likes integer, writer_id bigint, other_id bigint);
    CREATE TABLE reload_notes (id bigserial PRIMARY KEY, type text, thing_id bigint, text text, score integer);
    INSERT INTO reload_writers (name) SELECT 'writer ' || n FROM generate_series(1, 4) n;
    INSERT INTO reload_things (title, body, likes, writer_id, other_id) SELECT 'title ' || n, 'body ' || n, n, n % 4 + 1, (n + 1) % 4 + 1 FROM generate_series(1, 6) n;
    INSERT INTO reload_notes (thing_id, text, score) SELECT n % 6 + 1, 'text ' || n, n % 5 FROM generate_series(1, 20) n;
  SQL
  connection.close

  # An application: its models by name, its types and its schemas.
  class App
    include PlanTest::Making

    # @return [Class] of records
    attr_reader :thing, :note, :writer

    # @return [Class] object types
    attr_reader :thing_type, :note_type, :writer_type, :query

    # @return [Array<Class>] the one without Pipeloader comes first
    attr_reader :schemas

    def initialize
      load_models
      load_types
      load_schemas
    end

    def load_models
      @writer = model(:Writer, "reload_writers") { has_many :things, -> { order(:id) }, class_name: "ReloadTest::Thing" }
      @note = model(:Note, "reload_notes") { belongs_to :thing, class_name: "ReloadTest::Thing", optional: true; scope :best, -> { where("score > 2") } }
      @thing = model(:Thing, "reload_things") do
        belongs_to :writer, class_name: "ReloadTest::Writer", optional: true
        has_many :notes, -> { order(:id) }, class_name: "ReloadTest::Note", foreign_key: :thing_id
      end
    end

    def load_types
      @note_type = note_type = type("Note") { field :text, String; field :score, Integer }
      @writer_type = writer_type = type("Writer") { field :name, String }
      @thing_type = type("Thing") do
        field :id, GraphQL::Types::ID
        field :title, String
        field :likes, Integer
        field :writer, writer_type
        field :notes, [note_type]
        field :page, note_type.connection_type, method: :notes
        field :worked, String
        field :asked, [note_type]
        field :counted, Integer
        field :opaque, String
        def worked = "#{object.title} (#{object.likes})"
        def asked = object.notes.best.limit(2)
        def counted = object.notes.best.count
        def opaque = object.then { |it| [it.title, *it.notes.map(&:text), it.writer&.name].join(" ") }
      end
    end

    def load_schemas
      thing, thing_type = @thing, @thing_type
      @query = type("Query") do
        field :things, [thing_type]
        field :one, thing_type
        field :many, thing_type.connection_type
        define_method(:things) { thing.order(:id) }
        define_method(:one) { thing.find_by(id: 3) }
        define_method(:many) { thing.order(:id) }
      end
      options = [{}, { field_exact: true }, { compile: false, field_exact: true }]
      @schemas = [make(query: @query).first, *options.map { |it| make(query: @query, pipeloader: it).last }]
    end

    def forget = ReloadTest.constants(false).each { |name| ReloadTest.send(:remove_const, name) if %i[Writer Note Thing Heir].include?(name) }

    def model(name, table, parent = ActiveRecord::Base, &block)
      ReloadTest.send(:remove_const, name) if ReloadTest.const_defined?(name, false)
      ReloadTest.const_set(name, Class.new(parent)).tap do |it|
        it.table_name = table
        it.class_eval(&block) if block
      end
    end

    # Some of the rows become another class's.
    def heir(parent = @thing, &block)
      model(:Heir, parent.table_name, parent, &block)
      parent.where(id: [2, 3, 5, 7]).update_all(type: "ReloadTest::Heir")
    end
  end

  QUERIES = {
    columns: "{ things { id title likes } }",
    associations: "{ things { title writer { name } notes { text score } } }",
    methods: "{ things { worked asked { text } counted } }",
    opaque: "{ things { opaque title notes { text } } }",
    one: "{ one { title worked writer { name } notes { text } counted } }",
    pages: "{ many(first: 4) { nodes { title notes { text } page(first: 2) { nodes { text } pageInfo { hasNextPage } } } } }"
  }.freeze

  # {what of a model's changes => how}
  MODELS = {
    reader: ->(app) { app.thing.define_method(:title) { "own #{super()}" } },
    reader_of_an_associations: ->(app) { app.note.define_method(:text) { super().upcase } },
    reader_by_a_module: ->(app) { app.thing.include(Module.new { def title = "module #{self[:title]}" }) },
    reader_by_a_prepended_module: ->(app) { app.thing.prepend(Module.new { def likes = super.to_i + 100 }) },
    association_reader: ->(app) { app.thing.define_method(:notes) { super().where("score < 2") } },
    after_find: ->(app) { app.thing.after_find { self.title = "found #{id}" } },
    after_initialize: ->(app) { app.note.after_initialize { self.text = "initialized #{id}" } },
    after_find_of_a_parent: ->(app) { app.writer.after_find { self.name = "found #{name}" } },
    attribute: ->(app) { app.thing.attribute(:title, Class.new(ActiveModel::Type::String) { def deserialize(value) = "typed #{value}" }.new) },
    attribute_of_an_association: ->(app) { app.note.attribute(:score, Class.new(ActiveModel::Type::Integer) { def deserialize(value) = super.to_i * 10 }.new) },
    enum: ->(app) { app.thing.enum(:body, { one: "body 1" }) && app.thing.define_method(:title) { body.to_s } },
    default_scope: ->(app) { app.thing.send(:default_scope) { where("likes > 2") } },
    default_scope_of_an_association: ->(app) { app.note.send(:default_scope) { where("score > 1") } },
    scope: ->(app) { app.note.singleton_class.send(:remove_method, :best) && app.note.scope(:best, -> { where("score < 2") }) },
    association: ->(app) { app.thing.has_many(:notes, -> { order(id: :desc) }, class_name: "ReloadTest::Note", foreign_key: :thing_id) },
    association_key: ->(app) { app.thing.belongs_to(:writer, class_name: "ReloadTest::Writer", foreign_key: :other_id, optional: true) },
    association_of_another_class: ->(app) { app.model(:Other, "reload_notes") { def text = "of another class" } && app.thing.has_many(:notes, -> { order(:id) }, class_name: "ReloadTest::Other", foreign_key: :thing_id) },
    scope_that_asks_its_owner: ->(app) { app.thing.has_many(:notes, ->(thing) { where("score > ?", thing.likes % 3).order(:id) }, class_name: "ReloadTest::Note", foreign_key: :thing_id) },
    extension: ->(app) { app.thing.has_many(:notes, -> { order(:id) }, class_name: "ReloadTest::Note", foreign_key: :thing_id) { def map = ["extended"] } },
    instantiate: ->(app) { app.thing.define_singleton_method(:instantiate) { |attributes, *rest, &block| super({ **attributes, "title" => "instantiated" }, *rest, &block) } },
    strict_loading: ->(app) { app.thing.strict_loading_by_default = true },
    heir: ->(app) { app.heir { def title = "heir #{super}" } },
    heir_with_after_find: ->(app) { app.heir { after_find { self.title = "found #{id}" } } },
    heir_with_another_association: ->(app) { app.heir { has_many :notes, -> { order(id: :desc) }, class_name: "ReloadTest::Note", foreign_key: :thing_id } },
    heir_with_another_attribute: ->(app) { app.heir { attribute :likes, Class.new(ActiveModel::Type::Integer) { def deserialize(value) = super.to_i * 10 }.new } },
    heir_of_an_association: ->(app) { app.heir(app.note) { def text = "heir #{super}" } },
    heir_of_an_association_with_after_find: ->(app) { app.heir(app.note) { after_find { self.text = "found #{id}" } } }
  }.freeze

  # {what of a type's changes => how}
  TYPES = {
    resolver_method: ->(app) { app.thing_type.define_method(:title) { "resolved #{object.title}" } },
    resolver_method_that_was: ->(app) { app.thing_type.define_method(:worked) { "other #{object.title}" } },
    chain: ->(app) { app.thing_type.define_method(:asked) { object.notes.limit(1) } },
    calculation: ->(app) { app.thing_type.define_method(:counted) { object.notes.count } },
    by_a_module: ->(app) { app.thing_type.include(Module.new { def likes = object.likes.to_i + 1000 }) },
    by_a_prepended_module: ->(app) { app.thing_type.prepend(Module.new { def worked = "#{super} prepended" }) },
    resolver_of_an_associations: ->(app) { app.note_type.define_method(:text) { object.text.reverse } },
    authorized: ->(app) { app.thing_type.define_singleton_method(:authorized?) { |object, _context| object.likes.odd? } },
    authorized_below: ->(app) { app.note_type.define_singleton_method(:authorized?) { |object, _context| object.score.odd? } },
    scope_items: ->(app) { app.note_type.define_singleton_method(:scope_items) { |items, _context| items.where("score > 1") } },
    wrap: ->(app) { app.note_type.define_singleton_method(:wrap) { |object, context| super(object.dup.tap { |it| it.text = "wrapped" }, context) } },
    initializer: ->(app) { app.note_type.define_method(:initialize) { |object, context| super(object.dup.tap { |it| it.text = "initialized" }, context) } },
    field_extension: ->(app) { app.thing_type.fields["title"].extension(Class.new(GraphQL::Schema::FieldExtension) { def after_resolve(value: nil, values: nil, **) = values ? values.map(&:upcase) : value&.upcase }) },
    field_resolve: ->(app) { app.note_type.fields["text"].define_singleton_method(:resolve) { |*| "of the field" } },
    object: ->(app) { app.note_type.define_method(:object) { super().dup.tap { |it| it.text = "of the object" } } }
  }.freeze

  # What is seen by plans that are made, too.
  AT_ONCE = MODELS.keys.grep(/attribute|scope$|default_scope|heir/).freeze
  # What Execution::Next doesn't ask a type or a field; and what ActiveRecord doesn't mind.
  SILENT = [*(%i[field_resolve wrap initializer object] if Engine::NEXT), :enum, :strict_loading].freeze

  def setup
    super
    @app = App.new
  end

  def teardown
    @app.forget
    ReloadTest.send(:remove_const, :Other) if ReloadTest.const_defined?(:Other, false)
    ActiveRecord::Base.lease_connection.execute("UPDATE reload_things SET type = NULL; UPDATE reload_notes SET type = NULL")
    super
  end

  MODELS.each { |name, change| define_method(:"test_model_#{name}") { assert_changes(name, &change) } }
  TYPES.each { |name, change| define_method(:"test_type_#{name}") { assert_changes(name, &change) } }

  # All of it anew, by the same names: as Rails reloads an application.
  def test_everything
    before = answers
    old = [@app.thing, @app.note, @app.thing_type]
    @app = App.new
    @app.thing.define_method(:title) { "reloaded #{super()}" }
    @app.note.define_method(:text) { "reloaded #{super()}" }
    refute_equal before, assert_alike
    refute_equal old, [@app.thing, @app.note, @app.thing_type]
  end

  # The models anew, while types and schemas stay, as those of a gem do.
  def test_models
    assert_changes(:models) do |app|
      app.load_models
      [app.thing, app.note].each { |model| model.attribute_names.grep(/title|text/).each { |name| model.define_method(name) { "reloaded #{super()}" } } }
      thing = app.thing
      %i[things many].each { |name| app.query.define_method(name) { thing.order(:id) } }
      app.query.define_method(:one) { thing.find_by(id: 3) }
    end
  end

  # Over and over: each time what is kept is of the one before.
  def test_many_times
    assert_alike
    seen = Array.new(5) do |time|
      silence_warnings { @app.thing.define_method(:title) { "time #{time} #{self[:title]}" } }
      @round = time
      assert_alike
    end
    assert_equal 5, seen.uniq.size
  end

  # Documents that are gone aren't found again under the same text.
  def test_a_schema_anew
    assert_alike
    @app.load_types
    @app.thing_type.define_method(:title) { "another type's #{object.title}" }
    silence_warnings { @app.thing_type.define_method(:worked) { object.title } }
    before = answers
    @app.load_schemas
    refute_equal before, assert_alike
  end

  private

  # @yield [App] changes something
  def assert_changes(name)
    before = assert_alike
    silence_warnings { yield @app } # "method redefined"
    assert_alike if AT_ONCE.include?(name)
    @round = 1
    after = assert_alike
    refute_equal before, after, "nothing has changed" unless SILENT.include?(name)
  end

  # All schemas answer as the plain one does, the first time and when everything is known.
  #
  # @return [Array<String>] what
  def assert_alike
    plain = answers
    @app.schemas.drop(1).each_with_index do |schema, index|
      2.times { |time| assert_equal plain, answers(schema), "schema #{index + 1}, time #{time + 1}" }
    end
    plain
  end

  # Of all queries, by their texts, and of one as a document that is kept; others in each round.
  def answers(schema = @app.schemas.first)
    given = QUERIES.values.map { |query| { query: "#{query} # #{@round}" } }
    document = (@documents ||= {})[@round] ||= GraphQL.parse(QUERIES[:associations])
    [*given, { document: document }].map { |it| text_of(outcome { schema.execute(**it).to_h }) }
  end
end

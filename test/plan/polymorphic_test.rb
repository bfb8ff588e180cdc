# frozen_string_literal: true

require_relative "../support/plans"

# What a polymorphic association leads to: each class by its own plan, all in one burst.
class PolymorphicTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:poly_notes) { |t| t.string :text; t.string :about_type; t.bigint :about_id; t.string :kind_type; t.string :kind_id }
    create_table(:poly_cities) { |t| t.string :name; t.boolean :hidden, null: false, default: false; t.bigint :land_id; t.integer :code }
    create_table(:poly_lands) { |t| t.string :name; t.string :type }
    create_table(:poly_tags, id: false) { |t| t.string :name, primary_key: true }
  end

  class Note < ActiveRecord::Base
    self.table_name = "poly_notes"
    belongs_to :about, polymorphic: true, optional: true
    belongs_to :kind, polymorphic: true, optional: true
    belongs_to :visible, -> { where(hidden: false) }, polymorphic: true, optional: true, foreign_type: :about_type, foreign_key: :about_id
    belongs_to :coded, polymorphic: true, optional: true, foreign_type: :about_type, foreign_key: :about_id, primary_key: :code
    belongs_to :known, polymorphic: true, optional: true, foreign_type: :about_type, foreign_key: :about_id, inverse_of: :note
    belongs_to :strict, polymorphic: true, optional: true, foreign_type: :about_type, foreign_key: :about_id, strict_loading: true
    belongs_to :own, ->(note) { where(id: note.id) }, polymorphic: true, optional: true, foreign_type: :about_type, foreign_key: :about_id
  end

  class Memo < ActiveRecord::Base
    self.table_name = "poly_notes"
    delegated_type :about, types: %w[PolymorphicTest::City PolymorphicTest::Land]
  end

  class City < ActiveRecord::Base
    self.table_name = "poly_cities"
    belongs_to :land, class_name: "PolymorphicTest::Land", optional: true
    belongs_to :port, class_name: "PolymorphicTest::Port", foreign_key: :code, optional: true
    has_many :notes, -> { order(:id) }, as: :about, class_name: "PolymorphicTest::Note"
    has_one :note, -> { order(:id) }, as: :about, class_name: "PolymorphicTest::Note", inverse_of: :known
  end

  class Land < ActiveRecord::Base
    self.table_name = "poly_lands"
    has_many :notes, -> { order(:id) }, as: :about, class_name: "PolymorphicTest::Note"
    has_one :note, -> { order(:id) }, as: :about, class_name: "PolymorphicTest::Note", inverse_of: :known
  end

  class Island < Land; end

  class Hidden < City
    default_scope { where(hidden: false) }
    self.inheritance_column = nil
  end

  class Elsewhere < ActiveRecord::Base
    self.abstract_class = true
    establish_connection(TestDatabase.hash)
  end

  class Port < Elsewhere
    self.table_name = "poly_cities"
    belongs_to :land, class_name: "PolymorphicTest::Land", optional: true
  end

  class Tag < ActiveRecord::Base
    self.table_name = "poly_tags"
  end

  Land.insert_all!([{ id: 1, name: "land 1", type: nil }, { id: 2, name: "land 2", type: Island.name }, { id: 3, name: "land 3", type: Island.name }])
  City.insert_all!((1..5).map { |id| { id: id, name: "city #{id}", hidden: id.odd?, land_id: (id % 3) + 1, code: 6 - id } })
  Tag.insert_all!([{ name: "a" }, { name: "b" }])
  ABOUT = [[City, 1], [Land, 1], [City, 2], [Land, 2], [City, 1], [nil, nil], [City, 9], [nil, 2], [City, nil], ["", 1], ["  ", 2], [Land, 3], [Hidden, 1], [Hidden, 2]].freeze
  Note.insert_all!(ABOUT.each_with_index.map do |(model, id), at|
    { id: at + 1, text: "note #{at + 1}", about_type: model.is_a?(Class) ? model.name : model, about_id: id,
      kind_type: at.odd? ? Tag.name : City.name, kind_id: at.odd? ? "a" : "2" }
  end)

  module Types
    class Base < GraphQL::Schema::Object; end
    class Note < Base; field :id, Integer; field :text, String; field :opaque, String; def opaque = object.text.dup.concat((context.dig(:mark) || "!")); end

    class City < Base
      field :name, String
      field :notes, [Note]
      field :loud, String
      field :mine, GraphQL::Types::Boolean
      def loud = object.name.dup.concat((context.dig(:mark) || "!"))
      def mine = object.name == context[:name]
    end

    class Land < Base; field :name, String; field :notes, [Note]; end
    class Island < Land; end
    class Tag < Base; field :name, String; end

    class Place < GraphQL::Schema::Union
      possible_types City, Land, Island, Tag
      def self.resolve_type(object, _context)
        case object
        when PolymorphicTest::City, PolymorphicTest::Port then City
        when PolymorphicTest::Island then Island
        when PolymorphicTest::Tag then Tag
        else Land
        end
      end
    end

    class GuardedCity < Base
      field :name, String
      def self.authorized?(object, context) = super && object.name != context[:hidden]
    end

    class Guarded < GraphQL::Schema::Union
      possible_types GuardedCity, Land
      def self.resolve_type(object, _context) = object.is_a?(PolymorphicTest::City) ? GuardedCity : Land
    end

    City.field :land, Place
    City.field :port, City
    %i[about visible coded known strict own kind].each { |name| Note.field name, Place }
    Note.field :city, City, method: :about
  end

  ROOTS = { notes: [[Types::Note], -> { Note.order(:id) }], memos: [[Types::Note], -> { Memo.order(:id) }], note: [Types::Note, -> { Note.find(2) }],
            array: [[Types::Note], -> { Note.order(:id).to_a }], cities: [[Types::City], -> { City.order(:id) }], few: [[Types::Note], -> { Note.where(id: 2..4).order(:id) }],
            page: [Types::Note.connection_type, -> { Note.order(:id) }], failing: [String, -> { raise GraphQL::ExecutionError, "failed" }] }.freeze
  PLACE = "__typename ... on City { name land { ... on Land { name } ... on Island { name } } notes { id } } ... on Land { name notes { id } } ... on Island { name }"

  def pair = @pair ||= schemas(ROOTS) { orphan_types Types::Island, Types::Tag }

  def test_union
    assert_plan "{ notes { text about { #{PLACE} } } }"
    assert_plan "{ memos { about { #{PLACE} } } }"
    assert_plan "{ note { about { #{PLACE} } } }", made: [Note]
    assert_plan "{ page(first: 4, after: \"Mg\") { nodes { about { #{PLACE} } } pageInfo { hasNextPage } } }"
    assert_plan "{ cities { notes { about { #{PLACE} } } } }"
  end

  def test_aliases
    assert_plan "{ notes { a: about { ... on City { name } } b: about { ... on Land { name } } c: about { #{PLACE} } } }"
  end

  def test_records
    assert_plan "{ array { about { #{PLACE} } } }", made: [Note]
    assert_aside "{ notes { opaque about { #{PLACE} } } }", model: Note
  end

  def test_one_burst
    query = "{ notes { about { ... on City { name } ... on Land { name notes { id } } } } }"
    2.times { pair.last.execute(query) }
    bursts = WireCounter.events("burst.pipeloader") { pair.last.execute(query) }.map { |it| it[:reads].map { |read| read.params.first } }
    assert_equal [[nil], ["{1,2,9}", "{1,2,3}", "{1,2}"], ["{1}"]], bursts
  end

  # Execution::Next goes through the whole response if anything has failed.
  def test_error_beside = assert_plan("{ notes { about { ... on City { name } __typename } } failing }", errors: true)

  def test_scope = assert_plan("{ notes { id visible { ... on City { name } } } }", errors: :any, aside: Note)

  # Each class is found by its own column.
  def test_primary_key
    assert_plan "{ few { coded { ... on City { name } } } }", errors: :any, aside: Note
    Note.where(about_type: Land.name).update_all(about_type: City.name)
    assert_plan "{ few { coded { __typename ... on City { name } } } }"
  ensure
    restore
  end

  def test_what_is_left_to_graphql_ruby
    %w[known own].each { |name| assert_aside "{ notes { #{name} { ... on City { name } } } }", model: Note, errors: :any }
    assert_aside "{ notes { strict { ... on City { name } } } }", model: Note, errors: true
  end

  # No class's key is of a type that the association's is compared with.
  def test_keys_of_another_type = assert_aside("{ notes { kind { ... on Tag { name } ... on City { name } } } }", model: Note, errors: :any)

  # What is opaque of one class takes the others along, once it has come.
  def test_opaque_class
    query = "{ notes { text about { ... on City { loud } ... on Land { name } } } }"
    assert_aside query, model: Note
    assert_equal 2, WireCounter.trips { pair.last.execute(query) }.size
    assert_match(/notes: by graphql-ruby \(Note.about: `about` of a PolymorphicTest::City isn't plain\)/, Pipeloader.explain(pair.last, query).to_s)
  end

  def test_class_that_asks_the_context
    ["{ notes { about { ... on City { mine } } } }", "{ notes { id about { ... on City { mine name notes { id } } ... on Land { name } } } }"].each do |query|
      records = [{ name: "city 2" }, {}, { name: "city 1" }, { name: Object.new }].map do |context|
        plain, piped = pair.map { |schema| -> { text_of(schema.execute(query, context: context.dup).to_h) } }
        answer = nil
        instantiated { answer = piped.call }.tap { assert_equal plain.call, answer }
      end
      assert_includes records.first, Note.name # what comes is known behind the first one
      assert_equal [{}, {}], records[1, 2]
      assert_includes records.last, Note.name
    end
  end

  # What asks is asked in its turn, beside fields that may put something there.
  def test_class_that_asks_what_another_field_assigns
    of = type("AssigningCity", Types::City) { field :assigned, String; def assigned = context[:name] = object.name.sub(/\d/, "1") }
    schemas = schemas({ cities: [[of], -> { City.order(:id) }], notes: ROOTS[:notes] }) { orphan_types Types::Island, Types::Tag }
    ["{ cities { assigned notes { about { ... on City { mine } } } } }", "{ cities { assigned } notes { about { ... on City { mine } } } }",
     "{ cities { assigned land { ... on Land { name } } } notes { id opaque about { ... on City { mine } } } }"].each do |query|
      4.times { assert_equal(*schemas.map { |schema| text_of(schema.execute(query, context: { name: "city 2" }).to_h) }, query) }
    end
  end

  def test_class_with_a_guard
    note = type("GuardedNote") { field :id, Integer; field :about, Types::Guarded }
    schemas = schemas({ notes: [[note], -> { Note.where(about_type: [City.name, nil]).order(:id) }] })
    [nil, "city 2", nil, "city 7", "city 1", nil].each_with_index do |hidden, index|
      records = instantiated { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ notes { id about { ... on GuardedCity { name } } } }", context: { hidden: hidden }).to_h) }) }
      assert_equal 7, records[Note.name], records if index == 3 # those of the plain schema alone
    end
  end

  def test_classes_that_there_are_not
    ["Nothing", "nothing", "PolymorphicTest::Nothing", "ActiveRecord::Base"].each do |name|
      Note.where(id: 3).update_all(about_type: name)
      assert_aside "{ notes { about { ... on City { name } } } }", model: Note, errors: true
    end
    Note.where(id: 3).update_all(about_type: "Nothing", about_id: nil)
    assert_aside "{ notes { about { ... on City { name } } } }", model: Note, errors: true
  ensure
    restore
  end

  # A field that is of one type.
  def test_object_type
    Note.where(about_type: Land.name).update_all(about_type: City.name)
    assert_plan "{ notes { city { name notes { id } } } }"
  ensure
    restore
  end

  def test_in_a_transaction
    Note.transaction { assert_plan "{ notes { about { ... on City { name } } } }" }
    assert_plan "{ notes { about { ... on City { name } } } }"
  end

  # A class's own database may have one open, or that of what is below it.
  def test_in_a_transaction_elsewhere
    Note.where(id: 3).update_all(about_type: Port.name)
    ["{ notes { about { ... on City { name } } } }", "{ few { about { ... on City { port { name } } } } }"].each do |query|
      2.times do
        Port.transaction { assert_plan query }
        assert_plan query
      end
      restore
    end
  ensure
    restore
  end

  def test_class_finder_of_its_own
    Note.define_singleton_method(:polymorphic_class_for) { |name| name == Land.name ? City : super(name) }
    assert_aside "{ notes { about { ... on City { name } } } }", schemas(ROOTS) { orphan_types Types::Island, Types::Tag }, model: Note, errors: :any
  ensure
    Note.singleton_class.send(:remove_method, :polymorphic_class_for)
  end

  # An heir's own finder, which isn't the one of who has declared the association.
  class OddNote < Note
    def self.polymorphic_class_for(name) = name == Land.name ? City : super
  end

  def test_heir_that_finds_classes
    schemas = schemas({ odd: [[Types::Note], -> { OddNote.order(:id) }] }) { orphan_types Types::Island, Types::Tag }
    assert_aside "{ odd { about { ... on City { name } } } }", schemas, model: OddNote, errors: :any
  end

  # An heir that isn't called as who has declared its associations: behind an abstract class begins another family.
  def test_heir_of_another_name
    abstract = Class.new(Land) { self.abstract_class = true }
    isle = PolymorphicTest.const_set(:Isle, Class.new(abstract) { self.table_name = "poly_lands" })
    Land.where(id: 1).update_all(type: isle.name)
    schemas = schemas({ isles: [[Types::Land], -> { isle.order(:id) }] }) { orphan_types Types::Island, Types::Tag }
    2.times { assert_equal(*schemas.map { |schema| text_of(schema.execute("{ isles { name notes { id } } }").to_h) }) }
  ensure
    Land.where(id: 1).update_all(type: nil)
    ActiveSupport::DescendantsTracker.clear([PolymorphicTest.send(:remove_const, :Isle), abstract])
  end

  # Classes that were renamed, as rows still have them.
  class Renamed < ActiveModel::Type::String
    def deserialize(value) = value == Land.name ? City.name : super
  end

  def test_names_by_an_attribute
    renamed = Class.new(ActiveRecord::Base) do
      self.table_name = "poly_notes"
      define_singleton_method(:name) { "RenamedNote" }
      attribute :about_type, Renamed.new
      belongs_to :about, polymorphic: true, optional: true
    end
    schemas = schemas({ notes: [[Types::Note], -> { renamed.order(:id) }] }) { orphan_types Types::Island, Types::Tag }
    assert_equal(*schemas.map { |schema| text_of(schema.execute("{ notes { about { ... on City { name } } } }").to_h) })
  end

  # Code that is reloaded.
  def test_class_that_is_replaced
    query = "{ notes { about { ... on City { name } ... on Land { name } } } }"
    assert_plan query
    old = PolymorphicTest.send(:remove_const, :Hidden)
    PolymorphicTest.const_set(:Hidden, Class.new(City) { self.inheritance_column = nil; default_scope { where(hidden: true) } })
    assert_plan query
  ensure
    PolymorphicTest.send(:remove_const, :Hidden)
    PolymorphicTest.const_set(:Hidden, old)
  end

  private

  def restore
    ABOUT.each_with_index { |(model, id), at| Note.where(id: at + 1).update_all(about_type: model.is_a?(Class) ? model.name : model, about_id: id) }
  end
end

# frozen_string_literal: true

require_relative "../support/test_helper"

# To read a store accessor turns a null of its column into an empty Hash, which whoever reads the column of that record then sees.
class StoreAccessorsTest < PipeloaderTest
  ActiveRecord::Schema.define do
    create_table(:store_people) { |t| t.string :name; t.jsonb :settings }
    create_table(:store_notes) { |t| t.bigint :person_id }
  end

  class Person < ActiveRecord::Base
    self.table_name = "store_people"
    store_accessor :settings, :color
    def words = settings.to_s.size
  end

  class Note < ActiveRecord::Base
    self.table_name = "store_notes"
    belongs_to :person, class_name: "StoreAccessorsTest::Person"
  end

  Person.insert_all!([{ id: 1, name: "a", settings: nil }, { id: 2, name: "b", settings: { color: "red" } }])
  Note.insert_all!([{ person_id: 1 }, { person_id: 2 }, { person_id: 1 }])

  PersonType = Class.new(GraphQL::Schema::Object) do
    graphql_name "Person"
    field :name, String
    field :color, String
    field :settings, GraphQL::Types::JSON
    field :words, Integer
    field :loud, String
    def loud = object.name.upcase
  end

  NoteType = Class.new(GraphQL::Schema::Object) do
    graphql_name "Note"
    field :person, PersonType
  end

  QueryType = Class.new(GraphQL::Schema::Object) do
    graphql_name "Query"
    field :notes, [NoteType]
    def notes = Note.order(:id)
  end

  PAIR = Schemas.make(query: QueryType, mutation: nil, pipeloader: { compile: true })

  {
    column_behind: "{ notes { a: person { loud color } b: person { settings } } }",
    column_before: "{ notes { b: person { settings } a: person { loud color } } }",
    method_behind: "{ notes { a: person { loud color } b: person { words } } }",
    same_object: "{ notes { person { color settings words } } }",
    alone: "{ notes { person { name settings } } }"
  }.each do |name, query|
    define_method(:"test_#{name}") { 3.times { assert_same_answer(query, PAIR) } }
  end

  # Declared by another name of the column.
  class Alias < ActiveRecord::Base
    self.table_name = "store_people"
    alias_attribute :prefs, :settings
    store_accessor :prefs, :color
    def words = settings.to_s.size
  end

  class Text < ActiveRecord::Base
    self.table_name = "store_people"
    store_accessor "settings", :color
    def words = settings.to_s.size
  end

  [Alias, Text].each do |model|
    define_method(:"test_#{model.name.demodulize}") do
      notes = Class.new(ActiveRecord::Base) { self.table_name = "store_notes"; belongs_to :person, class_name: model.name; def self.name = "Note" }
      query = Class.new(GraphQL::Schema::Object) { graphql_name "Query"; field :notes, [NoteType]; define_method(:notes) { notes.order(:id) } }
      schemas = Schemas.make(query: query, mutation: nil, pipeloader: { compile: true })
      ["{ notes { a: person { loud color } b: person { settings } } }", "{ notes { a: person { loud color } b: person { words } } }"].each do |text|
        3.times { assert_same_answer(text, schemas) }
      end
    end
  end

  def test_reason
    told = Pipeloader.explain(PAIR.last, "{ notes { person { settings } } }").to_s
    assert_match(/settings.*the readers of its store accessors write `settings`/, told)
  end
end

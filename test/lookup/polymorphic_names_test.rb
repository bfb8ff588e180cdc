# frozen_string_literal: true

require_relative "../support/plans"

# Heirs whose rows are named by their own class (`polymorphic_name`), so that an association of their parent's finds others.
class PolymorphicNamesTest < PlanTest
  ActiveRecord::Schema.define do
    create_table(:named_animals) { |t| t.string :type; t.string :name }
    create_table(:named_labels) { |t| t.string :name }
    create_table(:named_taggings) { |t| t.bigint :label_id; t.string :taggable_type; t.bigint :taggable_id }
  end

  class Label < ActiveRecord::Base
    self.table_name = "named_labels"
  end

  class Tagging < ActiveRecord::Base
    self.table_name = "named_taggings"
    belongs_to :label, class_name: "PolymorphicNamesTest::Label"
  end

  class Animal < ActiveRecord::Base
    self.table_name = "named_animals"
    def self.polymorphic_name = name.demodulize
    has_many :taggings, -> { order(:id) }, as: :taggable, class_name: "PolymorphicNamesTest::Tagging"
    has_many :labels, -> { order(:id) }, through: :taggings
    has_one :first_tagging, -> { order(:id) }, as: :taggable, class_name: "PolymorphicNamesTest::Tagging"
  end

  class Dog < Animal; end
  class Cat < Animal; end

  Animal.insert_all!([%w[Dog a], %w[Dog b], %w[Dog c], %w[Cat d], [nil, "e"]].map { |type, name| { type: type && "PolymorphicNamesTest::#{type}", name: name } })
  Label.insert_all!(%w[good wrong other].map { |name| { name: name } })
  Tagging.insert_all!((1..5).flat_map { |id| [[1, "Dog"], [2, "Animal"], [3, "Cat"]].map { |label, type| { label_id: label, taggable_type: type, taggable_id: id } } })

  LABELS = type("NamedLabel") { field :name, String }
  TAGGINGS = type("NamedTagging") { field :id, Integer; field :label, LABELS }
  ANIMALS = type("NamedAnimal") do
    field :name, String
    field :labels, [LABELS]
    field :taggings, [TAGGINGS]
    field :first_tagging, TAGGINGS
    field :pages, LABELS.connection_type, method: :labels
    field :count, Integer
    field :direct_count, Integer
    field :opaque, String
    field :opaque_labels, String
    field :opaque_first, String
    field :loud, String
    def count = object.labels.count
    def direct_count = object.taggings.size
    def opaque = object.taggings.each_with_object([]) { |it, all| all << it.label_id }.inspect
    def opaque_labels = object.labels.each_with_object([]) { |it, all| all << it.name }.inspect
    def opaque_first = "#{object.first_tagging&.label_id}".dup
    def loud = object.name.dup.upcase
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :dogs, [ANIMALS]
    field :animals, [ANIMALS]
    field :dog, ANIMALS
    def dogs = Dog.order(:id)
    def animals = Animal.order(:id)
    def dog = Dog.find(1)
  end

  FIELDS = ["labels { name }", "taggings { id label { name } }", "firstTagging { id }", "pages { nodes { name } }", "count", "directCount", "opaque",
            "opaqueLabels", "opaqueFirst", "loud taggings { label { name } }", "loud labels { name }"].freeze

  FIELDS.product(%w[dogs animals dog]).each do |fields, root|
    define_method(:"test_#{root}_#{fields.scan(/\w+/).join("_")}") do
      [{ forecast: true }, { compile: false }, { forecast: true, trips: :one }].each do |options|
        plain, piped = make(query: Query, pipeloader: options).map do |schema|
          Array.new(6) { text_of(outcome { schema.execute("{ #{root} { name #{fields} } }").to_h }) }
        end
        assert_equal plain, piped
        assert_includes plain.first, "data"
      end
    end
  end
end

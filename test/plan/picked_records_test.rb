# frozen_string_literal: true

require_relative "../support/plans"

# `first`, `last` and `take` of an association that nothing orders: of the database the first and last by id, of records in memory
# those that came first and last. Which of both it is, other fields of the same object decide.
class PickedRecordsTest < PlanTest
  class Writer < ActiveRecord::Base
    self.table_name = "users"
    has_many :remarks, foreign_key: :commenter_id, class_name: "PickedRecordsTest::Remark", inverse_of: :back
    has_many :placed, -> { order(:id) }, foreign_key: :commenter_id, class_name: "PickedRecordsTest::Remark", inverse_of: :back
    has_many :tied, -> { order(:score) }, foreign_key: :commenter_id, class_name: "PickedRecordsTest::Remark"
    has_many :ordered, -> { order(:id) }, foreign_key: :commenter_id, class_name: "PickedRecordsTest::Remark"
  end

  class Remark < ActiveRecord::Base
    self.table_name = "comments"
    belongs_to :writer, foreign_key: :commenter_id, class_name: "PickedRecordsTest::Writer", optional: true
    belongs_to :back, foreign_key: :commenter_id, class_name: "PickedRecordsTest::Writer", optional: true, inverse_of: :remarks
    belongs_to :known, -> { includes(:remarks) }, foreign_key: :commenter_id, class_name: "PickedRecordsTest::Writer", optional: true
  end

  RemarkType = type("PickedRemark") { field :body, String }
  WriterType = type("PickedWriter") do
    field :name, String
    field :remarks, [RemarkType]
    field :ordered, [RemarkType]
    field :tied, [RemarkType]
    field :placed, [RemarkType]
    field :paged, RemarkType.connection_type, method: :remarks
    { latest: "object.remarks.last", earliest: "object.remarks.first", taken: "object.remarks.take", of_ordered: "object.ordered.last", of_tied: "object.tied.last",
      unknown: "@remarks = object.remarks; @remarks.last" }.each do |name, code|
      field name, RemarkType
      class_eval("def #{name} = (#{code})", __FILE__, __LINE__)
    end
    { mapped: "object.remarks.map(&:body).sort.join", word: "object.remarks.last&.body", first_word: "object.remarks.first&.body.to_s + object.name",
      word_of_ordered: "object.ordered.last&.body", renewed: "object.remarks.reset; object.remarks.last&.body" }.each do |name, code|
      field name, String
      class_eval("def #{name} = (#{code})", __FILE__, __LINE__)
    end
  end

  RemarkType.field :writer, WriterType
  RemarkType.field :known, WriterType
  RemarkType.field :back, WriterType

  # What is selected of each writer.
  SELECTED = ["remarks { body back { latest { body } } }", "remarks { back { name earliest { body } taken { body } } }",
              "remarks { back { remarks { back { latest { body } } } } }", "tied { body } ofTied { body }", "latest { body } earliest { body } taken { body }", "remarks { body } latest { body } earliest { body } taken { body }",
              "latest { body } remarks { body } earliest { body }", "remarks { body } word firstWord", "word remarks { body } firstWord",
              "mapped word", "word mapped", "mapped latest { body }", "ordered { body } ofOrdered { body } latest { body }", "remarks { body } renewed word",
              "paged { nodes { body } } latest { body }", "paged(first: 2) { nodes { body } } latest { body }",
              "ordered { body } wordOfOrdered", "latest { body } unknown { body }", "remarks { body } unknown { body }", "unknown { body } remarks { body }",
              "unknown { body } remarks { body } latest { body } again: unknown { body }", "ordered { body } unknown { body }",
              "paged { nodes { body } } unknown { body }", "remarks { body writer { name } } unknown { body writer { unknown { body } } }",
              "remarks { writer { remarks { body } unknown { body } } }"].freeze
  COMPILED = ["latest { body } earliest { body } taken { body }", "ordered { body } ofOrdered { body } latest { body }",
              "paged(first: 2) { nodes { body } } latest { body }", "wordOfOrdered"].freeze

  def setup
    super
    @writers = Array.new(2) { |index| Writer.create!(name: "picked #{index}") }
    ids = Remark.maximum(:id).to_i.then { |most| [3, 1, 2].map { |offset| most + offset } }
    @writers.each_with_index do |writer, index|
      ids.each { |id| Remark.create!(id: id + (index * 3), body: "no. #{id + (index * 3)}", commenter_id: writer.id) }
    end
  end

  def teardown
    Remark.where(commenter_id: @writers).delete_all
    @writers.each(&:delete)
    super
  end

  def pair
    @pair ||= schemas({ writers: [[WriterType], -> { Writer.where("name LIKE 'picked%'").order(:id) }] })
  end

  SELECTED.each do |selected|
    define_method(:"test_#{selected.scan(/\w+/).join("_")}") do
      query = "{ writers { #{selected} } }"
      expected = pair.first.execute(query).to_h
      refute expected.key?("errors"), expected.inspect
      3.times { assert_equal text_of(expected), text_of(pair.last.execute(query).to_h) }
    end
  end

  # Records that a relation has preloaded, or a scope, are in memory.
  { includes: -> { Writer.includes(:remarks) }, preload: -> { Writer.preload(:remarks) }, includes_more: -> { Writer.includes(:ordered, :remarks) },
    of_another: -> { Writer.includes(:ordered) } }.each do |name, root|
    define_method(:"test_#{name}") do
      schemas = schemas({ writers: [[WriterType], -> { root.call.where("name LIKE 'picked%'").order(:id) }] })
      ["latest { body } earliest { body } taken { body }", "word firstWord", "latest { body writer { name } } name"].each do |selected|
        expected = schemas.first.execute("{ writers { #{selected} } }").to_h
        3.times { assert_equal text_of(expected), text_of(schemas.last.execute("{ writers { #{selected} } }").to_h) }
      end
      assert_plan("{ writers { latest { body } earliest { body } } }", schemas) if name == :of_another
    end
  end

  def test_preloaded_by_a_scope
    schemas = schemas({ remarks: [[RemarkType], -> { Remark.where(commenter_id: Writer.where("name LIKE 'picked%'")).order(:id) }] })
    ["latest { body } earliest { body }", "name latest { body }"].each do |selected|
      expected = schemas.first.execute("{ remarks { body known { #{selected} } } }").to_h
      3.times { assert_equal text_of(expected), text_of(schemas.last.execute("{ remarks { body known { #{selected} } } }").to_h) }
    end
    assert_plan("{ remarks { body writer { latest { body } earliest { body } } } }", schemas)
  end

  COMPILED.each do |selected|
    define_method(:"test_compiled_#{selected.scan(/\w+/).join("_")}") { assert_plan("{ writers { #{selected} } }") }
  end
end

# frozen_string_literal: true

require_relative "../support/plans"
require_relative "../support/active_storage"

# Whether ActiveStorage has attached something: `object.avatar.attached?`.
class AttachmentsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveStorageTables.create
  ActiveRecord::Schema.define do
    create_table(:attached_people) { |t| t.string :name; t.string :type; t.bigint :boss_id }
  end

  class Record < ActiveRecord::Base
    include ActiveStorage::Attached::Model
    include ActiveStorage::Reflection::ActiveRecordExtensions

    self.abstract_class = true
    # A Proc, as any other is looked for in the configuration of a Rails application.
    SERVICE = ->(_) { :none }
  end

  class Person < Record
    self.table_name = "attached_people"
    belongs_to :boss, class_name: "AttachmentsTest::Person", optional: true
    has_many :staff, -> { order(:id) }, class_name: "AttachmentsTest::Person", foreign_key: :boss_id
    has_one_attached :avatar, service: SERVICE
    has_one_attached :lazy, service: SERVICE, strict_loading: true
    has_one_attached :own, service: SERVICE
    has_one_attached :renewed, service: SERVICE
    has_many_attached :documents, service: SERVICE
    delegate :attached?, to: :avatar, prefix: true
    def own = super || raise("never")
    def shown? = avatar.attached? && !documents.attached?
    def complete = [name, avatar.attached?, documents.attached?, boss&.name].join(" ")
    def memo? = @memo ||= avatar.attached?
  end

  class Chief < Person; end

  # An heir with an avatar of its own.
  class Actor < Record
    self.table_name = "attached_people"
    has_one_attached :avatar, service: SERVICE
  end

  class Star < Actor
    def avatar = Struct.new(:attached?).new(true)
  end

  # Whose associations are its own.
  class Twin < Record
    self.table_name = "attached_people"
    self.inheritance_column = nil
    has_one_attached :avatar, service: SERVICE
    has_one_attached :photo, service: SERVICE
    def avatar_attachment = nil
    def attachment_changes = super.merge("photo" => nil)
  end

  # No avatar of ActiveStorage's.
  class Plain < Record
    self.table_name = "attached_people"
    self.inheritance_column = nil
    def avatar = Struct.new(:attached?).new(id.even?)
  end

  rows = [%w[Person avatar], %w[Person documents], %w[Person renewed], %w[Person own], %w[Actor avatar], %w[Twin avatar], %w[Twin photo]]
  Person.insert_all!((1..6).map { |id| { id: id, name: "person #{id}", type: (Chief.name if id.odd?), boss_id: (id - 1 if id > 1) } })
  ActiveStorage::Attachment.insert_all!(rows.each_with_index.flat_map do |(model, name), index|
    (1..6).select { |id| (id + index) % 3 == 0 || (id == 2 && index < 2) }.map { |id| { name: name, record_type: "AttachmentsTest::#{model}", record_id: id, blob_id: 1, created_at: Time.utc(2026) } }
  end)
  ActiveStorage::Attachment.insert_all!([{ name: "documents", record_type: Person.name, record_id: 2, blob_id: 2, created_at: Time.utc(2026) }])

  # {name => [code, whether a plan does it]}
  METHODS = {
    one: ["object.avatar.attached?", true],
    many: ["object.documents.attached?", true],
    both: ["[object.avatar.attached?, object.documents.attached?, object.name].inspect", true],
    twice: ["object.avatar.attached? ? \"\#{object.avatar.attached?} \#{object.name}\" : nil", true],
    safe: ["object.avatar&.attached?", true],
    association: ["[object.avatar_attachment.nil?, object.avatar.attached?].inspect", true],
    branch: ['return "none" unless object.documents.attached?; object.name.upcase', true],
    not: ["!object.avatar.attached?", true],
    through: ["object.boss&.avatar&.attached?", true],
    through_many: ["[object.boss&.documents&.attached?, object.boss&.name].inspect", true],
    of_each: ["object.staff.count { |it| it.avatar.attached? || it.documents.attached? }.to_s", true],
    of_model: ["object.shown?", true],
    of_model_and_more: ["object.complete", true],
    delegated: ["object.avatar_attached?", false],
    memo: ["object.memo?", false],
    present: ["object.avatar.present?", false],
    itself: ["object.avatar ? 1 : 2", false],
    proxy: ["(object.avatar.attached? && object.avatar.name)", false],
    strict: ["object.lazy.attached?", false],
    own: ["object.own.attached?", false],
    arguments: ["object.avatar.attached?(*[])", false],
    missing: ["object.boss.nope.attached?", false]
  }.freeze

  PersonType = type("AttachedPerson") do
    field :id, Integer
    field :name, String
    field :opaque, String
    field :shown, GraphQL::Types::Boolean, method: :shown?
    field :complete, String
    field :avatar_attached, GraphQL::Types::Boolean, method: :avatar_attached?
    field :renewed, String
    field :boss, "AttachmentsTest::PersonType"
    METHODS.each do |name, (code, _)|
      field name, String, resolver_method: :"#{name}_of_type"
      class_eval("def #{name}_of_type = (#{code})", __FILE__, __LINE__)
    end
    def opaque = object.name.dup.concat((context.dig(:mark) || "!"))
    def renewed = object.renewed.attached?.to_s
  end

  AnyType = type("AttachedAny") do
    field :avatar, String
    field :photo, String
    def avatar = object.avatar.attached?.to_s
    def photo = object.photo.attached?.to_s
  end

  GuardedType = type("AttachedGuarded") do
    field :name, String
    def self.authorized?(object, context) = super && (object.avatar.attached? | object.documents.attached? | !context[:strict])
  end

  ROOTS = {
    people: [[PersonType], -> { Person.order(:id) }],
    array: [[PersonType], -> { Person.order(:id).to_a }],
    one: [PersonType, -> { Person.find(2) }],
    pending: [[PersonType], -> { Person.where(type: nil).order(:id).each { |it| it.avatar = nil if it.id == 2 } }],
    loaded: [[PersonType], -> { Person.order(:id).includes(:avatar_attachment, :documents_attachments).each { |it| it.avatar_attachment = nil if it.id == 0 } }],
    fresh: [[PersonType], -> { [Person.new(name: "new"), Person.find(2)] }],
    actors: [[AnyType], -> { Actor.order(:id).where(type: nil) }],
    twins: [[AnyType], -> { Twin.order(:id) }],
    plain: [[type("AttachedPlain") { field :avatar, String; def avatar = object.avatar.attached?.to_s }], -> { Plain.order(:id) }],
    guarded: [[GuardedType], -> { Person.order(:id) }]
  }.freeze

  def pair = @pair ||= schemas(ROOTS)
  def narrow = @narrow ||= schemas(ROOTS, pipeloader: { field_exact: true })

  METHODS.each do |name, (_, plain)|
    define_method(:"test_#{name}") do
      key = name.to_s.camelize(:lower)
      [pair, narrow].each do |schemas|
        query = "{ people { id #{key} } }"
        answer = plain ? assert_plan(query, schemas) : assert_aside(query, schemas, model: Person, errors: :any)
        assert_operator answer["data"]["people"].map { |it| it[key] }.uniq.size, :>, 1 if plain
        ["{ people { opaque #{key} id } }", "{ array { #{key} } pending { #{key} } loaded { #{key} } fresh { #{key} } one { #{key} boss { #{key} } } }"].each do |beside|
          2.times { assert_equal(*schemas.map { |schema| text_of(outcome { schema.execute(beside).to_h }) }) }
        end
      end
    end
  end

  def test_methods_of_the_model
    assert_plan "{ people { shown complete boss { shown } } }"
    assert_plan "{ one { shown complete one many } }", made: [Person]
  end

  # One statement for each attachment, in one burst.
  def test_statements
    query = "{ people { one many } }"
    pair.last.execute(query)
    bursts = WireCounter.events("burst.pipeloader") { pair.last.execute(query) }
    assert_equal [1, 2], (bursts.map { |it| it[:reads].size })
    assert_includes Pipeloader.explain(pair.last, query).to_s, "one: compiled"
  end

  def test_pending_changes
    answer = assert_aside "{ pending { id one } }", model: Person
    assert_equal({ "id" => 2, "one" => "false" }, answer["data"]["pending"].first)
    assert_equal "true", assert_plan("{ one { one } }", made: [Person])["data"]["one"]["one"]
  end

  def test_heirs_and_associations_of_its_own
    assert_aside "{ actors { avatar } }", model: Actor
    assert_aside "{ twins { avatar } }", model: Twin
    assert_aside "{ twins { photo } }", model: Twin, errors: :any
    assert_aside "{ plain { avatar } }", model: Plain
  end

  def test_guard
    assert_plan "{ guarded { name } }", context: {}
    assert_aside "{ guarded { name } }", model: Person, errors: true, context: { strict: true }
  end

  # A reader that is defined anew is seen, and so are ActiveStorage's own methods.
  def test_defined_anew
    query = "{ people { id renewed } }"
    assert_plan query
    assert_plan "{ people { one } }"
    Person.class_eval { def renewed = Struct.new(:attached?).new(id > 3) }
    assert_aside query, model: Person
    host = ActiveStorage::Attached::One
    former = host.instance_method(:attached?)
    host.class_eval { undef_method :attached?; def attached? = "perhaps" }
    assert_aside "{ people { one } }", model: Person
  ensure
    Person.remove_method(:renewed)
    host&.class_eval { remove_method :attached?; define_method(:attached?, former) }
  end

  # Prepended for good, so in a process of its own.
  def test_prepended
    assert_in_a_process "test/plan/attachments_test", <<~RUBY
      ActiveStorage::Attached::One.prepend(Module.new { def attached? = !super })
      schemas = schemas(AttachmentsTest::ROOTS)
      assert_aside "{ people { one } }", schemas, model: AttachmentsTest::Person
      assert_plan "{ people { many } }", schemas
    RUBY
  end
end

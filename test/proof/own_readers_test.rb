# frozen_string_literal: true

require_relative "../support/plans"
require "global_id"
GlobalID.app ||= "pipeloader-test"

# A model's own method by the name of a column, and what ActiveRecord asks besides: aliases, predicates and `id` go by the column.
class OwnReadersTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:own_jobs) do |t|
      t.string :title
      t.string :first_name
      t.string :last_name
      t.integer :status
      t.boolean :archived, null: false, default: false
      t.integer :price
      t.integer :price_was
      t.integer :price_change
      t.bigint :manager_id
      t.string :type
    end
    create_table(:own_keys, primary_key: :uuid, id: :string) { |t| t.string :name }
    create_table(:own_pairs, primary_key: %i[shop_id id]) { |t| t.bigint :shop_id; t.bigint :id; t.string :name }
  end

  class Job < ActiveRecord::Base
    self.table_name = "own_jobs"
    self.inheritance_column = nil
    belongs_to :manager, class_name: "OwnReadersTest::Job", optional: true
    alias_attribute :legal_title, :title
    alias_attribute :price_in_database, :status
    enum :status, { draft: 0, live: 1 }
    def top = manager&.top
    def first = manager&.second
    def second = manager&.first
    def above = manager&.over
    def over = manager&.manager
  end

  class Predicate < Job
    def status = live? ? "online" : "offline"
  end

  class Alias < Job
    def title = legal_title.to_s.strip
  end

  class Beside < Job
    def title = "#{first_name} #{last_name}".strip
    def status = archived? ? "archived" : "active"
    def card = "#{legal_title} (#{id})"
    def state = live? ? "on" : "off"
    def shown = "#{title}, #{legal_title}"
  end

  class Truth < Job
    def archived = id.odd?
    def kind = archived? ? "old" : "new"
  end

  class Key < ActiveRecord::Base
    self.table_name = "own_keys"
    include ::GlobalID::Identification
    def uuid = id.upcase
    def named = "#{id} #{name}"
  end

  class Pair < ActiveRecord::Base
    self.table_name = "own_pairs"
    def shop_id = name.size
  end

  class Vehicle < ActiveRecord::Base
    self.table_name = "own_jobs"
    include ::GlobalID::Identification
  end

  class Car < Vehicle; end

  # In the middle of a migration.
  class Moved < ActiveRecord::Base
    self.table_name = "own_jobs"
    self.inheritance_column = nil
    belongs_to :manager, class_name: "OwnReadersTest::Moved", optional: true
    alias_attribute :manager_id, :price_was
  end

  Job.insert_all!((1..6).map do |id|
    { id: id, title: " title #{id} ", first_name: "F#{id}", last_name: "L", status: id % 2, archived: id > 3, price: id * 10, price_was: id, price_change: 3,
      manager_id: (id - 1 if id > 1), type: [nil, Car.name][id % 2] }
  end)
  Key.insert_all!(%w[a-1 b-2].map { |id| { uuid: id, name: "key #{id}" } })
  Pair.insert_all!([1, 2].map { |id| { shop_id: 7, id: id, name: "pair" } })

  def made(model, *fields, given: String, &block)
    type = type(model.name.demodulize) { fields.each { |name| field name, given } }
    schemas({ them: [[type], -> { model.order(model.primary_key) }] }, &block)
  end

  # Compiled as before.
  def test_a_method_by_way_of_its_own_column
    assert_equal %w[online offline], assert_plan("{ them { status } }", made(Predicate, :status)).dig("data", "them").map(&:values).flatten.first(2)
    assert_plan("{ them { title } }", made(Alias, :title, :legal_title))
    assert_plan("{ them { title legalTitle } }", made(Alias, :title, :legal_title))
    assert_plan("{ them { uuid named } }", made(Key, :uuid, :named))
  end

  def test_what_goes_by_the_column
    schemas = made(Beside, :card, :state, :shown, :title, :status)
    them = assert_plan("{ them { card state shown title status } }", schemas).dig("data", "them")
    assert_equal({ "card" => " title 1  (1)", "state" => "on", "shown" => "F1 L,  title 1 ", "title" => "F1 L", "status" => "active" }, them.first)
    %w[card state shown].each { |name| assert_plan("{ them { #{name} } }", schemas) }
  end

  # ActiveRecord asks the reader.
  def test_a_predicate_of_a_boolean = assert_aside("{ them { kind } }", made(Truth, :kind), model: Truth)

  def test_keys_of_several_columns
    assert_equal "[7, 1]", assert_plan("{ them { id } }", made(Pair, :id)).dig("data", "them", 0, "id")
  end

  def test_an_attribute_by_another_ones_name
    [Job, Beside].each do |model|
      schemas = made(model, :price, :price_was, :price_change, given: Integer)
      assert_equal 10, assert_aside("{ them { priceWas } }", schemas, model: model).dig("data", "them", 0, "priceWas")
      assert_aside("{ them { price priceChange } }", schemas, model: model)
      assert_plan("{ them { price } }", schemas)
    end
    assert_aside("{ them { priceInDatabase } }", made(Job, :price_in_database), model: Job)
  end

  def test_methods_that_lead_to_themselves
    %i[top first second].each { |name| assert_aside("{ them { #{name} } }", made(Job, name), model: Job) }
    job = type("Job") { %i[id title].each { |name| field name, String } }
    %i[top first above].each { |name| job.field name, job }
    schemas = schemas({ them: [[job], -> { Job.order(:id) }] })
    %i[top first].each { |name| assert_aside("{ them { id #{name} { id } } }", schemas, model: Job) }
    assert_plan("{ them { id above { id title } } }", schemas)
  end

  def test_an_alias_by_the_name_of_a_column
    moved = type("Moved") { %i[id title manager_id].each { |name| field name, String } }
    moved.field :manager, moved
    them = schemas({ them: [[moved], -> { Moved.order(:id) }] })
    answer = assert_aside("{ them { id managerId manager { id } } }", them, model: Moved).dig("data", "them", 2)
    assert_equal({ "id" => "3", "managerId" => "3", "manager" => { "id" => "2" } }, answer)
    assert_aside("{ them { manager { title } } }", them, model: Moved)
  end

  # A GlobalID names the class of its record.
  def test_ids_of_heirs
    ids = ->(schemas) { assert_aside("{ them { id } }", schemas, model: Vehicle).dig("data", "them").map { |it| GlobalID.parse(it.fetch("id")).model_name } }
    type = type("Vehicle") { implements GraphQL::Types::Relay::Node }
    schemas = schemas({ them: [[type], -> { Vehicle.order(:id) }] }) { def self.id_from_object(object, _type, _context) = object.to_gid_param }
    assert_equal [Car.name, Vehicle.name] * 3, ids.call(schemas)
  end

  def test_ids_by_an_own_key
    type = type("Key") { implements GraphQL::Types::Relay::Node }
    schemas = schemas({ them: [[type], -> { Key.order(:uuid) }] }) { def self.id_from_object(object, _type, _context) = object.to_gid_param }
    ids = assert_plan("{ them { id } }", schemas).dig("data", "them").map { |it| GlobalID.parse(it.fetch("id")).model_id }
    assert_equal %w[a-1 b-2], ids
  end

  # What a model says is its own, the response doesn't show.
  def test_protected_readers
    job = Class.new(Job) do
      def self.name = "ProtectedJob"
      define_attribute_methods
      protected :title, :manager
      def label = "#{manager&.first_name} #{first_name}"
    end
    chief = type("ProtectedChief") { field :first_name, String }
    job_type = type("ProtectedJob") do
      field :title, String
      field :manager, chief
      field :label, String
      field :own, String
      field :named, String
      def own = "#{object.title}!"
      def named = object.manager&.first_name
    end
    schemas = schemas({ jobs: [[job_type], -> { job.order(:id) }], array: [[job_type], -> { job.order(:id).to_a }] })
    ["title", "manager { firstName }", "label", "own", "named"].product(%w[jobs array]).each do |selected, root|
      assert_same_twice("{ #{root} { #{selected} } }", schemas)
    end
  end
end

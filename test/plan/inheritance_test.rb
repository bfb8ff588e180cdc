# frozen_string_literal: true

require_relative "../support/plans"

# Rows of one table that become records of several classes.
class InheritanceTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define do
    create_table(:inherited_rides) { |t| t.string :type; t.string :name; t.bigint :owner_id; t.jsonb :extra }
    create_table(:inherited_owners) { |t| t.string :name; t.bigint :ride_id }
    create_table(:inherited_trips) { |t| t.string :title; t.bigint :ride_id }
    create_table(:inherited_kinds) { |t| t.integer :type; t.string :name }
  end

  class Owner < ActiveRecord::Base
    self.table_name = "inherited_owners"
    has_many :rides, -> { order(:id) }, class_name: "InheritanceTest::Ride"
    has_many :boats, -> { order(:id) }, class_name: "InheritanceTest::Boat"
    has_many :boat_trips, -> { order(:id) }, through: :boats, source: :trips
    belongs_to :ride, class_name: "InheritanceTest::Ride", optional: true
    belongs_to :boat, class_name: "InheritanceTest::Boat", optional: true, foreign_key: :ride_id
  end

  class Ride < ActiveRecord::Base
    self.table_name = "inherited_rides"
    belongs_to :owner, class_name: "InheritanceTest::Owner", optional: true
    has_many :trips, -> { order(:id) }, class_name: "InheritanceTest::Trip", foreign_key: :ride_id
    delegate :name, to: :owner, prefix: true, allow_nil: true
    def loud = name.upcase
    def heading = "#{id}: #{name}"
  end

  class Boat < Ride; end
  class Sloop < Boat; end

  class Plane < Ride
    def loud = "#{super}!"
  end

  class Trip < ActiveRecord::Base
    self.table_name = "inherited_trips"
    belongs_to :ride, class_name: "InheritanceTest::Ride"
  end

  Owner.insert_all!((1..4).map { |id| { id: id, name: "owner #{id}", ride_id: id * 2 } })
  TYPES = [Ride, Boat, Sloop, Plane].map(&:name).push(nil, "")
  Ride.insert_all!((1..12).map { |id| { id: id, type: TYPES[id % 6], name: "ride #{id}", owner_id: (id % 4) + 1 } })
  Trip.insert_all!((1..12).map { |id| { id: id, title: "trip #{id}", ride_id: id } })

  OwnerType = Class.new(Schemas::Base) { graphql_name "RideOwner"; field :id, Integer; field :name, String }
  TripType = Class.new(Schemas::Base) { graphql_name "RideTrip"; field :title, String }
  RideType = Class.new(Schemas::Base) do
    graphql_name "Ride"
    field :id, Integer
    field :type, String
    field :name, String
    field :loud, String
    field :heading, String
    field :owner, OwnerType
    field :owner_name, String
    field :trips, [TripType]
    field :extra, String
    field :color, String
    field :opaque, String
    def color = object.try(:color)
    def opaque = object.name.dup << object.class.name
  end
  OwnerType.field :rides, [RideType]
  OwnerType.field :boats, [RideType]
  OwnerType.field :boat_trips, [TripType]
  OwnerType.field :ride, RideType
  OwnerType.field :boat, RideType
  OwnerType.field :page, RideType.connection_type, method: :rides
  OwnerType.field :ride_count, Integer
  OwnerType.class_eval { def ride_count = object.rides.count }

  ROOTS = { rides: [[RideType], -> { Ride.order(:id) }], boats: [[RideType], -> { Boat.order(:id) }], sloops: [[RideType], -> { Sloop.order(:id) }],
            owners: [[OwnerType], -> { Owner.order(:id) }], array: [[RideType], -> { Ride.order(:id).to_a }] }.freeze

  def pair = @pair ||= schemas(ROOTS)

  def test_relations
    assert_plan "{ rides { id type name } boats { name type } sloops { name } }"
    assert_plan "{ rides { name owner { name rides { type } } trips { title } } }"
  end

  def test_associations
    assert_plan "{ owners { name rides { id type owner { name } } } }"
    assert_plan "{ owners { boats { name type trips { title } } } }"
    assert_plan "{ owners { ride { name type } boat { name owner { name } } rideCount } }"
    assert_plan "{ owners { boatTrips { title } } }"
    assert_plan "{ owners { page(first: 1) { nodes { name type } pageInfo { hasNextPage } } } }"
  end

  def test_beside_what_is_opaque
    assert_aside "{ rides { name type opaque owner { name } trips { title } } }", model: Ride
    assert_aside "{ array { name opaque owner { name } } }", model: Ride
    assert_aside "{ owners { rides { opaque trips { title } } } }", model: Ride
    told = Pipeloader.explain(pair.last, "{ rides { name opaque trips { title } } }").to_s
    return if Engine::NEXT # which does associations beside what is opaque itself

    assert_match(/name: compiled\n.*opaque: by graphql-ruby.*\n  trips: compiled/, told)
  end

  def test_methods
    assert_plan "{ rides { heading } }"
    assert_aside "{ rides { loud } }", model: Ride
    assert_plan "{ boats { loud } }"
  end

  # ActiveRecord can't make a record of such a row.
  def test_class_that_there_is_not
    restoring do
      ["Nothing", "InheritanceTest::Owner", "InheritanceTest::Ride ", " "].each do |type|
        Ride.where(id: 3).update_all(type: type)
        assert_aside "{ rides { name } }", model: Ride, errors: type != " "
      end
    end
  end

  # A class that is loaded when its first row comes.
  def test_heir_that_is_loaded_later
    restoring do
      assert_plan "{ rides { name } owners { boatTrips { title } boats { name } } }"
      Ride.where(id: 1).update_all(type: "InheritanceTest::Raft")
      InheritanceTest.const_set(:Raft, Class.new(Boat) { def name = "raft" })
      assert_aside "{ rides { name } }", model: Ride
      assert_plan "{ rides { id } owners { boatTrips { title } } }"
      assert_aside "{ owners { boats { name } } }", model: Boat
    end
  ensure
    forget(:Raft)
  end

  HEIRS = {
    attribute: ["name", proc { attribute :name, ActiveModel::Type::Integer.new }],
    enum: ["name", proc { enum :name, { one: "ride 1", four: "ride 4" } }],
    normalizes: ["name", proc { normalizes :name, with: ->(it) { it } }],
    serialize: ["name", proc { serialize :name, coder: YAML }],
    reader: ["name", proc { def name = "other #{super}" }],
    alias_of_another: ["loud", proc { define_attribute_methods.then { alias_method :loud, :type } }],
    association: ["owner { name }", proc { belongs_to :owner, -> { where(id: 1) }, class_name: "InheritanceTest::Owner" }],
    association_reader: ["owner { name }", proc { def owner = nil }],
    callback: ["name", proc { after_initialize { self.name = "initialized" } }],
    found: ["name", proc { after_find { self.name = "found" } }],
    sti_name: ["name", proc { def self.sti_name = "its" }],
    ignored: ["name", proc { self.ignored_columns += ["name"] }],
    strict: ["owner { name }", proc { self.strict_loading_by_default = true }],
    store: ["color } } owners { ride { color } again: ride { extra", proc { store_accessor :extra, :color }],
    key: ["owner { name }", proc { attribute :owner_id, :string }],
    column: ["name", proc { attribute :type, ActiveModel::Type::ImmutableString.new }],
    full_names: ["name", proc { self.store_full_class_name = false }],
    full_sti_names: ["name", proc { self.store_full_sti_class = false }],
    undefined: ["ownerName", proc { undef_method :owner_name }],
    scope: ["name", proc { default_scope { where(id: 1) } }],
    discriminate: ["name", proc { def self.instantiate(...) = super.tap { |it| it.name = "made" } }]
  }.freeze

  HEIRS.each do |name, (selection, body)|
    define_method(:"test_heir_with_#{name}") do
      restoring do
        Ride.where(id: [1, 4]).update_all(type: "InheritanceTest::Odd")
        InheritanceTest.const_set(:Odd, Class.new(Ride)).class_eval(&body)
        %w[rides array].each do |root|
          ["{ #{root} { #{selection} } }", "{ #{root} { #{selection} opaque } }", "{ owners { rides { #{selection} trips { title } } } }"].each do |query|
            2.times { assert_same_answer query }
          end
        end
      end
    ensure
      forget(:Odd)
    end
  end

  # By numbers, of which it knows one.
  class Kind < ActiveRecord::Base
    self.table_name = "inherited_kinds"
    def self.find_sti_class(value) = { 1 => Even }.fetch(value.to_i)
  end

  class Even < Kind; def self.sti_name = 1; end
  class Uneven < Kind; def self.sti_name = 2; end
  Kind.insert_all!([{ type: 1, name: "a" }, { type: 2, name: "b" }])

  def test_classes_by_number
    kind = type("Kind") { field :name, String }
    assert_aside "{ kinds { name } }", schemas({ kinds: [[kind], -> { Kind.order(:id) }] }), model: Kind, errors: true
  end

  def test_names_without_modules
    Ride.store_full_sti_class = false
    restoring do
      Ride.update_all("type = substring(type from '[A-Za-z]*$')")
      assert_aside "{ rides { name } }", schemas(ROOTS), model: Ride
    end
  ensure
    Ride.store_full_sti_class = true
  end

  private

  def restoring
    before = Ride.order(:id).pluck(:id, :type)
    yield
  ensure
    before.each { |id, type| Ride.where(id: id).unscope(where: :type).update_all(type: type) }
  end

  # As Rails does it with code that is reloaded.
  def forget(name)
    return unless InheritanceTest.const_defined?(name, false)

    ActiveSupport::DescendantsTracker.clear([InheritanceTest.send(:remove_const, name)])
  end

  def assert_same_answer(query)
    plain, piped = pair.map { |schema| outcome { schema.execute(query).to_h } }
    assert_equal text_of(plain), text_of(piped), query
  end
end

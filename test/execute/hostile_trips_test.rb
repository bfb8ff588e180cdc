# frozen_string_literal: true

require_relative "../support/plain_plans"

# Trees in one trip, by a reviewer who means to break them.
class HostileTripsTest < PlainPlanTest
  class Owner < ActiveRecord::Base
    self.table_name = "hostile_owners"
    has_many :things, -> { order(:id) }, class_name: "HostileTripsTest::Thing", foreign_key: :owner_id, inverse_of: false
    has_many :nul, -> { where(value: "a\0b") }, class_name: "HostileTripsTest::Thing", foreign_key: :owner_id, inverse_of: false
  end

  class Thing < ActiveRecord::Base
    self.table_name = "hostile_things"
    belongs_to :coder, class_name: "HostileTripsTest::Owner", primary_key: :number, foreign_key: :number, optional: true, inverse_of: false
    belongs_to :owner, class_name: "HostileTripsTest::Owner", optional: true, inverse_of: false
  end

  COMMENT = Class.new(Schemas::Base) { graphql_name "Comment"; field :id, GraphQL::Types::ID }

  # A page shows 10,000 of 10,001 rows, and all of these would leave keys: no one of those that are shown may be left out.
  def test_page_that_peeks
    with_table(101) { with_most(100) { assert_three "{ owners(first: 100) { nodes { id things { id } } pageInfo { hasNextPage } } }" } }
  end

  # Two fields look up the same, each for less than 10,000 owners.
  def test_askers_who_share_a_look_up
    with_table(120) do |connection|
      connection.execute("UPDATE hostile_things SET owner_id = 1 + id % 2")
      with_most(100) { assert_three "{ groups { owners { id things { id coder { id } } } } }" }
    end
  end

  # pg refuses the parameter of a statement that would follow: what the others bring must not be taken for its.
  def test_parameters_that_can_not_be_sent
    with_table do |connection|
      backend = connection.select_value("SELECT pg_backend_pid()")
      assert_three "{ all { id things { id } nul { id } again: things { coder { id } } } }"
      assert_equal backend, connection.select_value("SELECT pg_backend_pid()")
    end
  end

  # At most 64 statements.
  def test_wide
    fields = Array.new(90) { |i| "a#{i}: comments(first: #{i + 1}) { nodes { id } }" }.join(" ")
    with_table do
      events = WireCounter.events("burst.pipeloader") { three[1].execute("{ posts { #{fields} } }") }
      assert_operator events.map { |it| it[:statements] }.max, :<=, 65
    end
  end

  # What has a Date for an argument is another look-up each time that it is asked for: it comes with the next trip, and once.
  def test_arguments_that_are_not_kept
    with_table do
      query = "{ all { id onDay(day: \"2020-01-02\") { id } } }"
      assert_three query
      assert_equal [1, 1], WireCounter.events("burst.pipeloader") { three[1].execute(query) }.map { |it| it[:statements] }
    end
  end

  private

  # As if a look-up asked for so many keys at most.
  def with_most(most)
    before = Pipeloader::Lookup::MOST
    set = ->(value) { Pipeloader::Lookup.send(:remove_const, :MOST) && Pipeloader::Lookup.const_set(:MOST, value) }
    set.call(most)
    yield
  ensure
    set.call(before)
  end

  def with_table(rows = 5)
    connection = ActiveRecord::Base.lease_connection
    connection.execute("CREATE TABLE hostile_owners (id bigint PRIMARY KEY, number bigint); CREATE TABLE hostile_things (id bigint PRIMARY KEY, owner_id bigint, number bigint, value text, day date); CREATE INDEX ON hostile_things (owner_id)")
    connection.execute("INSERT INTO hostile_owners (id, number) SELECT i, i FROM generate_series(1, #{rows}) i; INSERT INTO hostile_things (id, owner_id, number, day) SELECT i, i, i, '2020-01-02' FROM generate_series(1, #{rows}) i")
    [Owner, Thing].each(&:reset_column_information)
    yield connection
  ensure
    connection.execute("DROP TABLE hostile_things, hostile_owners")
  end

  def assert_three(query)
    plain, one, depth = three
    answer = outcome { plain.execute(query).to_h }
    { depth: depth, one: one, again: one, thrice: one }.each { |name, schema| assert_equal text_of(answer), text_of(outcome { schema.execute(query).to_h }), "#{name}: #{query}" }
  end

  # @return plain, :one, :depth
  def three
    @three ||= begin
      thing, owner = type("Thing"), type("Owner")
      [thing, owner].each { |it| it.field(:id, GraphQL::Types::ID, null: false) }
      thing.field(:owner, owner) && thing.field(:coder, owner)
      %i[things nul].each { |name| owner.field(name, [thing], null: false) }
      owner.class_eval do
        field(:on_day, [thing], null: false) { argument :day, GraphQL::Types::ISO8601Date }
        def on_day(day:) = object.things.where(day: day)
      end
      group = type("Group") { field :owners, [owner]; def owners = [Owner.find(object)] }
      post = type("Post") { field :comments, COMMENT.connection_type }
      roots = { owners: [owner.connection_type, -> { Owner.order(:id) }], all: [[owner], -> { Owner.order(:id) }],
                groups: [[group], -> { [1, 2] }], posts: [[post], -> { Post.order(:id) }] }
      one, depth = %i[one depth].map { |it| schemas(roots, pipeloader: { trips: it }) }
      [*one, depth.last]
    end
  end
end

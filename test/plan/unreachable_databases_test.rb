# frozen_string_literal: true

require_relative "../support/plans"

# A model whose database can't be reached, or whose adapter raises errors of its own: only who reads it is told.
class UnreachableDatabasesTest < PlanTest
  module Unreachable
    def load_schema! = raise(SocketError, "Failed to open TCP connection to elsewhere:8123")
    def with_connection(...) = raise(SocketError, "Failed to open TCP connection to elsewhere:8123")
    def lease_connection = with_connection
    def connection = with_connection
  end

  class Thing < ActiveRecord::Base
    extend Unreachable
    belongs_to :post
  end

  class Owner < ActiveRecord::Base
    self.table_name = "posts"
    has_many :things, class_name: "UnreachableDatabasesTest::Thing", foreign_key: :post_id
    has_many :recent, -> { limit(2) }, class_name: "UnreachableDatabasesTest::Thing", foreign_key: :post_id
    has_one :thing, class_name: "UnreachableDatabasesTest::Thing", foreign_key: :post_id
  end

  class Absent < ActiveRecord::Base
    self.table_name = "no_such_things"
  end

  class AbsentOwner < ActiveRecord::Base
    self.table_name = "posts"
    has_many :things, class_name: "UnreachableDatabasesTest::Absent", foreign_key: :post_id
    has_one :thing, class_name: "UnreachableDatabasesTest::Absent", foreign_key: :post_id
  end

  THING = type("UnreachableThing") { field :id, Integer }
  OWNER = type("UnreachableOwner") do
    field :title, String
    field :things, [THING]
    field :recent, [THING]
    field :thing, THING
    field :pages, THING.connection_type, method: :things
    field :count, Integer
    field :thing_id, Integer
    def count = object.things.count
    def thing_id = object.thing&.id
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :none, [OWNER]
    field :owners, [OWNER]
    field :absent, [OWNER]
    def absent = AbsentOwner.where(id: 0)
    def none = Owner.where(id: 0)
    def owners = Owner.order(:id).limit(2)
  end

  ["title things { id }", "recent { id }", "title thing { id }", "pages { nodes { id } }", "count title", "thingId"].each do |fields|
    %w[none owners].each do |root|
      define_method(:"test_#{root}_#{fields.scan(/\w+/).join("_")}") do
        [{}, { forecast: true }].each do |options|
          plain, piped = make(query: Query, pipeloader: { breaker: false, **options }).map { |schema| Array.new(3) { text_of(outcome { schema.execute("{ #{root} { #{fields} } }").to_h }) } }
          assert_equal plain, piped
        end
      end
    end
  end

  # To ask for a table that isn't there would end the transaction.
  def test_no_table_in_a_transaction
    ["things { id }", "thing { id }", "thingId", "count", "pages { nodes { id } }"].each do |fields|
      plain, piped = make(query: Query, pipeloader: { breaker: false }).map do |schema|
        ActiveRecord::Base.transaction { text_of(outcome { schema.execute("{ absent { title #{fields} } }").to_h }) }
      end
      assert_equal plain, piped
    end
  end

  def test_explanations
    schema = make(query: Query).last
    assert_includes Pipeloader.explain_schema(schema).to_s, "UnreachableOwner"
    assert_includes Pipeloader.explain(schema, "{ none { title things { id } } }").to_s, "title"
  end
end

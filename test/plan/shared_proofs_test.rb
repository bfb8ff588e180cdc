# frozen_string_literal: true

require "tempfile"
require_relative "../support/plans"

# What is proved of a type is proved once for all places of a response.
class SharedProofsTest < PlanTest
  ActiveRecord::Schema.verbose = false
  ActiveRecord::Schema.define { create_table(:shared_rides, force: true) { |t| t.string :type; t.string :name } }

  class Ride < ActiveRecord::Base
    self.table_name = "shared_rides"
  end

  Ride.insert_all!([{ id: 1, type: nil, name: "one" }, { id: 2, type: nil, name: "two" }, { id: 3, type: "SharedProofsTest::Loud", name: "three" }])

  PLACES = %i[first second third].freeze

  def self.schemas_of(test, rides)
    type = test.type("SharedRide") { field :id, Integer; field :name, String }
    test.schemas(PLACES.to_h { |name| [name, [[type], -> { rides.call(name) }]] })
  end

  QUERY = "{ #{PLACES.map { |name| "#{name} { id name }" }.join(" ")} }".freeze

  def test_each_field_once
    schema = self.class.schemas_of(self, ->(_) { Ride.where(type: nil).order(:id) }).last
    fields = []
    prove = TracePoint.new(:call) { |it| fields << it.binding.local_variable_get(:field).name if it.method_id == :prove && it.defined_class == Pipeloader::FieldProofs }
    schema.execute("{ second { id name } }")
    prove.enable { schema.execute(QUERY) }
    assert_equal %w[id name], fields
  end

  # A file that is loaded between two places may bring an heir with a reader of its own.
  %w[require load].each do |by|
    define_method(:"test_an_heir_that_comes_in_between_by_#{by}") { assert_in_between("#{by} file.path", "class SharedProofsTest::Loud < SharedProofsTest::Ride; def name = super.upcase; end") }
  end

  def test_a_reader_that_comes_in_between
    assert_in_between("load file.path", "SharedProofsTest::Ride.class_eval { def name = id == 3 ? super.upcase : super }; class SharedProofsTest::Loud < SharedProofsTest::Ride; end")
  end

  private

  def assert_in_between(comes, code)
    assert_in_a_process(__FILE__.delete_prefix("#{Dir.pwd}/"), <<~RUBY)
      Tempfile.create(["loud", ".rb"]) do |file|
        file.write(#{code.inspect})
        file.close
        # What is loaded by the first execution of a process, has been.
        SharedProofsTest.schemas_of(self, ->(_) { SharedProofsTest::Ride.where(type: nil).order(:id) }).last.execute(SharedProofsTest::QUERY)
        plain, piped = SharedProofsTest.schemas_of(self, lambda do |name|
          #{comes} if name == :second && !defined?(SharedProofsTest::Loud)
          name == :first ? SharedProofsTest::Ride.where(type: nil).order(:id) : SharedProofsTest::Ride.order(:id)
        end)
        first = piped.execute(SharedProofsTest::QUERY).to_h
        assert_equal plain.execute(SharedProofsTest::QUERY).to_h, first
        assert_equal first, piped.execute(SharedProofsTest::QUERY).to_h
        assert_equal "THREE", first.dig("data", "third", 2, "name")
      end
    RUBY
  end
end

# frozen_string_literal: true

# What it costs to come by a look-up's statement, by the scopes that have a say in it:
#
#     bundle exec ruby benchmark/scopes.rb
#
# CPU time and objects of a statement that is kept, and of one that is built anew. (The figures of docs/plans.md.)

ENV["MT_NO_PLUGINS"] = "1"
require "minitest"
Minitest.define_singleton_method(:autorun) { nil } # the tests' database and tables, and none of the tests
require_relative "../test/support/test_helper"

class Soft < ActiveRecord::Base
  self.table_name = "comments"
  default_scope { where(commenter_id: nil) }
  scope :low, -> { where(score: 3) }
end

class Plain < ActiveRecord::Base
  self.table_name = "comments"
  scope :low, -> { where(score: 3) }
  scope :scored, ->(least) { where("score >= ?", least) }
end

class Owner < ActiveRecord::Base
  self.table_name = "posts"
  has_many :plain, foreign_key: :post_id
  has_many :ordered, -> { order(:id) }, foreign_key: :post_id, class_name: "Plain"
  has_many :soft, foreign_key: :post_id
end

module Scopes
  CALL = Pipeloader::Chain::Call
  TIMES = 2000

  class << self
    def rows
      {
        "no scopes" => rows_of(:plain),
        "the association's, `-> { order(:id) }`" => rows_of(:ordered),
        "`default_scope { where(deleted_at: nil) }`" => rows_of(:soft),
        "a chain without scopes" => chain(:plain, [:order, :id]),
        "a chain that calls `scope :low, -> { where(score: 3) }`" => chain(:plain, [:low]),
        "a chain that calls one with an argument" => chain(:plain, [:scored, 3], [:order, :id]),
        "such a chain's count" => count(:plain, [:low]),
        "a count where there is a default scope" => count(:soft),
        "a chain that calls a scope, where there is a default scope" => chain(:soft, [:low])
      }
    end

    # @return [Array] µs and objects, kept and built anew
    def costs(lookup, connection)
      [true, false].flat_map do |keeps|
        measure do
          lookup.instance_variable_get(:@kept).clear unless keeps
          lookup.send(:statement, connection)
        end
      end
    end

    private

    def rows_of(name) = Pipeloader::Lookup.new(*association(name))

    def chain(name, *calls) = Pipeloader::ChainLookup.new(*association(name), chain_of(name, calls), nil)

    def count(name, *calls) = Pipeloader::CalculationLookup.new(*association(name, []), chain_of(name, [*calls, [:count]]), nil)

    def association(name, columns = %w[id body post_id])
      reflection = Owner.reflect_on_association(name)
      [reflection, Pipeloader::Projection.of(reflection.klass, columns)]
    end

    def chain_of(name, calls)
      Pipeloader::Chain.new([[name], *calls].map { |called, *given| CALL.new(called, given, {}) }, {})
    end

    def measure(&work)
      (TIMES / 10).times(&work)
      GC.start
      before = state
      TIMES.times(&work)
      state.zip(before).map { |now, then_| (now - then_).fdiv(TIMES) }
    end

    def state
      [Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_microsecond), GC.stat(:total_allocated_objects)]
    end
  end
end

# It is done where plans do it, in a response.
query = Class.new(GraphQL::Schema::Object) do
  graphql_name "Query"
  field :it, String
  def it
    ActiveRecord::Base.with_connection do |connection|
      puts "| | kept: µs | objects | built: µs | objects |", "|-|-|-|-|-|"
      Scopes.rows.each { |name, lookup| puts "| #{name} | #{Scopes.costs(lookup, connection).map(&:round).join(" | ")} |" }
    end
    nil
  end
end
answer = Class.new(GraphQL::Schema) { query(query); use Pipeloader }.execute("{ it }").to_h
abort answer.inspect if answer.key?("errors")

# frozen_string_literal: true

require_relative "../support/plans"

# An object of the application's, which several fields share, takes note of what it has loaded before it has read it: a sibling that
# comes meanwhile takes it for loaded. Pipeloader can't know, but code that says it isn't to be left in the middle is not left there.
class NotedEarlyTest < PlanTest
  class Hidden
    def initialize = (@loaded, @hidden = Set.new, Set.new)

    def include?(id)
      load(id) if @loaded.add?(id)
      @hidden.include?(id)
    end

    def load(id) = @hidden.merge(Post.where(id: id).pluck(:id))
  end

  class Unparked < Hidden
    def load(id) = Pipeloader.without_parking { super }
  end

  class Locked < Hidden
    LOCK = Monitor.new
    def load(id) = LOCK.synchronize { super }
  end

  class Query < Schemas::Base
    graphql_name "Query"
    field :hidden, GraphQL::Types::Boolean do
      argument :id, Integer
    end
    def hidden(id:) = context[:hidden].include?(id)
  end

  ALL = "{ a: hidden(id: 1) b: hidden(id: 1) c: hidden(id: 2) d: hidden(id: 0) e: hidden(id: 2) }"

  [Unparked, Locked].each do |kind|
    define_method(:"test_#{kind.name.demodulize.downcase}") do
      plain, piped = make(query: Query)
      expected = plain.execute(ALL, context: { hidden: kind.new }).to_h
      assert_equal [true, true, true, false, true], expected["data"].values
      3.times { assert_equal expected, piped.execute(ALL, context: { hidden: kind.new }).to_h }
    end
  end
end

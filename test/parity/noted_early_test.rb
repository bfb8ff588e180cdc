# frozen_string_literal: true

require_relative "../support/noted_early"

# Pipeloader can't know that such an object isn't to be left in the middle, but code that says so is not left there.
class NotedEarlyTest < PlanTest
  class Locked < NotedEarly
    LOCK = Monitor.new
    def load(id) = LOCK.synchronize { super }
  end

  ALL = "{ a: hidden(id: 1) b: hidden(id: 1) c: hidden(id: 2) d: hidden(id: 0) e: hidden(id: 2) }"

  [NotedEarly::Unparked, Locked].each do |kind|
    define_method(:"test_#{kind.name.demodulize.downcase}") do
      plain, piped = make(query: NotedEarly::Query)
      expected = plain.execute(ALL, context: { loader: kind.new }).to_h
      assert_equal [true, true, true, false, true], expected["data"].values
      3.times { assert_equal expected, piped.execute(ALL, context: { loader: kind.new }).to_h }
    end
  end
end

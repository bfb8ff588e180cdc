# frozen_string_literal: true

require_relative "../support/unit_helper"

# By how many round trips a plan's rows come: what has taken less time is done, where the server is far away.
class TripsTest < UnitTest
  # One that takes so long by each way, in milliseconds.
  module Timed
    attr_accessor :costs

    def run(times = 1, distance: 1.0) = Array.new(times) { over(distance) { |one| (@clock = now + @costs.fetch(one)) && one } }

    private

    def now = @clock ||= 0.0
  end

  def timed(costs)
    Pipeloader::Trips.new.extend(Timed).tap { |it| it.costs = costs }
  end

  def test_near
    assert_equal [false] * 40, timed({ true => 1, false => 9 }).run(40, distance: 0.1)
    assert_equal [false] * 40, timed({ true => 1, false => 9 }).run(40, distance: nil)
  end

  def test_one_is_faster
    ways = timed({ true => 1, false => 3 }).run(320)
    assert_equal 310, ways.count(true)
    assert_equal (1..10).map { |it| (it * 32) - 1 }, ways.each_index.reject { |it| ways[it] }
  end

  # Each is tried so often before it counts.
  def test_depth_is_faster
    ways = timed({ true => 3, false => 1 }).run(200)
    assert_equal [31, 63, 95], ways.each_index.reject { |it| ways[it] }.first(3)
    assert_equal [127, 159, 191], ways.each_index.select { |it| it > 95 && ways[it] }
  end

  # Not by a little.
  def test_about_equal
    assert_equal 310, timed({ true => 10, false => 9.5 }).run(320).count(true)
  end

  def test_what_changes
    trips = timed({ true => 1, false => 3 })
    trips.run(128)
    trips.costs = { true => 9, false => 3 }
    assert_equal [false] * 20, trips.run(630).last(20)
    trips.costs = { true => 1, false => 3 }
    assert_equal [true] * 20, trips.run(1950).last(20)
  end

  # What raises took no time that counts.
  def test_errors
    trips = timed({ true => 1, false => 3 })
    assert_raises(RuntimeError) { trips.over(1.0) { raise "no" } }
    assert_equal [true], trips.run
  end

  # Bursts take these times.
  module Told
    attr_writer :times

    def measure = super { @clock = now + @times.shift }

    private

    def now = @clock ||= 0.0
  end

  def test_distance
    distance = Pipeloader::Distance.new.extend(Told)
    distance.times = [9, 5, 2, 7, 7, 7, 7, 7, *[6] * 200]
    7.times { distance.measure }
    assert_nil distance.to_f
    distance.measure
    assert_in_delta 2.0, distance.to_f
    # It is forgotten.
    200.times { distance.measure }
    assert_in_delta 6.0, distance.to_f
  end
end

# frozen_string_literal: true

require_relative "../turns"
require_relative "contender"

module Gather
  # The contenders' times for a tree at one distance, serializer by serializer.
  class Report
    LEAST, MOST = 3, 21 # runs of each

    # @param budget [Float] seconds for the runs of each contender
    def initialize(tree, address, proxy, budget)
      @tree = tree
      @address = address
      @proxy = proxy
      @budget = budget
    end

    def print
      @tree.serializers.each { |title, serializer| compare(title, serializer) }
    end

    private

    def compare(title, serializer)
      contenders = Contender::ALL.to_h { |name, _| [name, Contender.new(name, @tree, serializer, @address)] }
      figures(contenders).each do |name, (seconds, ratio, trips)|
        trips &&= ", #{trips} round trips"
        puts format("%-10s %-16s %7.1f ms, %5.2f of includes%s", title, name, seconds * 1000, ratio, trips)
      end
    ensure
      contenders&.each_value(&:stop)
    end

    # They take turns, so that all have the machine as it is: a ratio is of one round's times.
    #
    # @return [Hash{String => Array(Float, Float, Integer)}] median of seconds, of the ratio to +includes+, and round trips
    def figures(contenders)
      first = contenders.transform_values(&:run)
      abort "The answers differ" unless first.each_value.map(&:last).uniq.one?

      trips = contenders.transform_values { |contender| round_trips(contender) if @proxy }
      rounds = Bench::Turns.new(first.transform_values(&:first), budget: @budget, least: LEAST, most: MOST)
                           .map { |_, names| names.to_h { |name| [name, contenders.fetch(name).run.first] } }
      contenders.to_h do |name, _|
        times = rounds.filter_map { |round| round.values_at(name, "includes") if round.key?(name) && round.key?("includes") }
        [name, [median(times.map(&:first)), median(times.map { |own, other| own / other }), trips[name]]]
      end
    end

    # The sum over all connections: reads beside each other, as load_async's, count one each, though they take the time of one.
    # The least of five runs, as one may open a connection, or prepare a statement on it, which takes trips of its own.
    def round_trips(contender)
      Array.new(5) { @proxy.count { contender.run }[:round_trips] }.min
    end

    def median(values) = values.sort[values.size / 2]
  end
end

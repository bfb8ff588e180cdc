# frozen_string_literal: true

require "delegate"
require_relative "../support/unit_helper"

# What a resolver has returned, told without a method of it being called.
class ReturnedValueTest < UnitTest
  Thing = Struct.new(:name)
  class Asked < Thing
    def respond_to?(*) = super
  end

  # Stands for what isn't loaded yet, and says so when anybody asks.
  class Proxy < BasicObject
    def initialize = nil
    def method_missing(name, *) = ::Kernel.raise("it was asked for #{name}")
  end

  Lazy = Struct.new(:value)
  SCHEMA = Class.new(GraphQL::Schema) do
    query(Class.new(GraphQL::Schema::Object) { graphql_name "Query"; field :it, String })
    lazy_resolve(Lazy, :value)
  end

  # {what => [value, of which class it is a list]}
  THINGS = {
    structs: [[Thing.new("a")], Thing], hashes: [[{ a: 1 }], Hash], empty: [[], nil], nothing: [[nil], nil], no_list: [Thing.new("a"), nil],
    a_hash: [{ a: 1 }, nil], a_list_of_ones_own: [Class.new(Array).new([Thing.new("a")]), nil], proxies: [[Proxy.new], nil],
    errors: [[GraphQL::ExecutionError.new("no")], nil], raw: [[GraphQL::Execution::Interpreter::RawValue.new(1)], nil], lazies: [[Lazy.new(1)], nil],
    nameless: [[Class.new.new], nil], asked: [[Asked.new("a")], nil], delegators: [[SimpleDelegator.new(Thing.new("a"))], nil]
  }.freeze

  JUST = {
    one: [Thing.new("a"), Thing, true], of_a_subclass: [Asked.new("a"), Thing, false], with_its_own_methods: [Thing.new("a").tap { |it| def it.name = "b" }, Thing, false],
    proxy: [Proxy.new, Thing, false], extended: [Thing.new("a").extend(Comparable), Thing, false]
  }.freeze

  each_case(THINGS, "things") do |value, expected|
    found = Pipeloader::ReturnedValue.things(value, SCHEMA)
    expected ? assert_equal(expected, found) : assert_nil(found)
  end

  each_case(JUST, "just") { |object, type, expected| assert_equal expected, Pipeloader::ReturnedValue.just?(object, type) }

  def test_no_models
    [nil, 1, "a", [], [nil], [Thing.new("a")], [Proxy.new], {}, Thing.new("a")].each { |value| assert_nil Pipeloader::ReturnedValue.model(value) }
  end
end

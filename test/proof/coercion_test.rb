# frozen_string_literal: true

require "bigdecimal"
require_relative "../support/unit_helper"

# What is made of a value, for every scalar: what graphql-ruby makes of it, or nothing, where graphql-ruby is to do it.
class CoercionTest < UnitTest
  class Mood < GraphQL::Schema::Enum
    value "HAPPY", value: "happy"
    value "SAD", value: :sad
  end

  class Loud < GraphQL::Schema::Scalar
    def self.coerce_result(value, _context) = value.upcase
  end

  class Counting < GraphQL::Schema::Scalar
    def self.coerce_result(value, _context) = "#{@count = @count.to_i + 1} #{value}"
  end

  class Plain < GraphQL::Schema::Scalar
  end

  TYPES = [*%i[String ID Int Float Boolean BigInt ISO8601DateTime ISO8601Date JSON].map { |name| GraphQL::Types.const_get(name) }, Mood, Plain, Loud].freeze

  # An object of the application's.
  Odd = Struct.new(:text) { def to_s = text }

  VALUES = [
    0, -1, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**63, 10**30, 0.0, -0.0, 1.5, 1e300, Float::NAN, Float::INFINITY, -Float::INFINITY, 3r, BigDecimal("1.50"),
    BigDecimal("NaN"), BigDecimal("1e30"), true, false, "", "text", "12", "1.5", "-0", "ü漢🙂", "happy", "2024-02-29", "2024-02-29T12:00:00Z",
    "ü".encode("ISO-8859-1"), "abc".encode("UTF-16LE"), "abc".b, "ü".b, "\xff", "nul\0", :sad, :happy, :text, Date.new(2024, 2, 29), Date::Infinity.new,
    Time.utc(2024, 2, 29, 23, 59, 59.123456r), Time.new(2024, 2, 29, 1, 2, 3, "+05:30"), ActiveSupport::TimeZone["Tokyo"].local(2024, 2, 29),
    1.day, [], [1, "a"], {}, { "a" => [1] }, Odd.new("odd"), Odd.new(nil), Object
  ].freeze

  # Where graphql-ruby makes something of a value, and we leave it to do so: it may have asked the application (`type_error`).
  LEFT = {
    GraphQL::Types::String => ->(value) { value.is_a?(String) && value.encoding != Encoding::UTF_8 && !value.ascii_only? },
    GraphQL::Types::Float => ->(value) { value.respond_to?(:to_f) && !value.to_f.finite? } # (Before 2.6; since then it raises.)
  }.freeze

  SCHEMA = Class.new(GraphQL::Schema) do
    query(Class.new(GraphQL::Schema::Object) { graphql_name "Query"; field :it, String })
    def self.type_error(error, _context) = raise(error)
  end

  def context = GraphQL::Query.new(SCHEMA, "{ __typename }").context

  # @return [Array] what the block returns, or :raised
  def outcome
    yield.then { |value| [value.class, value.inspect, (value.encoding if value.is_a?(String))] }
  rescue StandardError => e
    e.is_a?(Pipeloader::DoesNotFit) ? :unfit : :raised
  end

  TYPES.each do |type|
    define_method(:"test_#{type.graphql_name}") do
      made = VALUES.count do |value|
        theirs, ours = outcome { type.coerce_result(value, context) }, outcome { Pipeloader::Coercion.new(type).of_attribute(value, context) }
        assert_includes [theirs, :unfit], ours, value.inspect
        refute_equal :raised, ours
        assert_equal theirs, ours, value.inspect unless theirs == :raised || LEFT[type]&.call(value)
        ours != :unfit
      end
      assert_operator made, :>=, 2
    end
  end

  # {what => [type, value, what is made of it]}
  WRAPPED = {
    null: [GraphQL::Types::String, nil, nil], no_null: [GraphQL::Types::String.to_non_null_type, nil, :unfit], value: [GraphQL::Types::String.to_non_null_type, "a", "a"],
    list: [GraphQL::Types::Int.to_list_type, [1, nil], [1, nil]], null_in_a_list: [GraphQL::Types::Int.to_non_null_type.to_list_type, [1, nil], :unfit],
    no_list: [GraphQL::Types::Int.to_list_type, 1, :unfit], lists: [GraphQL::Types::Int.to_list_type.to_list_type, [[1], nil, []], [[1], nil, []]],
    one_wrong: [GraphQL::Types::Int.to_list_type, [1, 2**31], :unfit], null_list: [GraphQL::Types::Int.to_list_type.to_non_null_type, nil, :unfit],
    an_array_of_ones_own: [GraphQL::Types::Int.to_list_type, Class.new(Array).new([1]), :unfit]
  }.freeze

  each_case(WRAPPED, "wrapped") do |type, value, expected|
    made = begin
      Pipeloader::Coercion.new(type).of_attribute(value, context)
    rescue Pipeloader::DoesNotFit
      :unfit
    end
    expected.nil? ? assert_nil(made) : assert_equal(expected, made)
  end

  # {what => [attribute's type, type of the field, value as pg gives it, what is made of it]}
  CAST = {
    integer: [ActiveModel::Type::Integer.new, GraphQL::Types::Int, 3, 3], integer_of_a_text: [ActiveModel::Type::Integer.new, GraphQL::Types::Int, "3", 3],
    text: [ActiveModel::Type::String.new, GraphQL::Types::String, "a", "a"], text_of_a_number: [ActiveModel::Type::String.new, GraphQL::Types::String, 3, "3"],
    boolean: [ActiveModel::Type::Boolean.new, GraphQL::Types::Boolean, "t", true], float: [ActiveModel::Type::Float.new, GraphQL::Types::Float, "NaN", :unfit],
    decimal: [ActiveModel::Type::Decimal.new, GraphQL::Types::String, "1.50", "1.5"], id: [ActiveModel::Type::Integer.new, GraphQL::Types::ID, 3, "3"],
    date: [ActiveModel::Type::Date.new, GraphQL::Types::ISO8601Date, "2024-02-29", "2024-02-29"],
    raising: [Class.new(ActiveModel::Type::String) { def deserialize(_) = raise("no") }.new, GraphQL::Types::String, 3, :unfit]
  }.freeze

  each_case(CAST, "cast") do |attribute, type, value, expected|
    made = begin
      Pipeloader::Coercion.new(type, attribute).call(value, context)
    rescue Pipeloader::DoesNotFit
      :unfit
    end
    assert_equal expected, made
  end

  # An interrupt that comes while a value is made, isn't the value's fault.
  def test_verdict
    error = StandardError.new("from elsewhere")
    assert_same error, Pipeloader::DoesNotFit.verdict(error) { 1 }
    assert_kind_of(Pipeloader::DoesNotFit, Pipeloader::DoesNotFit.verdict(error) { raise "again" })
  end

  def test_objections
    objections = [GraphQL::Types::Int, Mood, GraphQL::Types::Int.to_list_type, Loud, Counting, SCHEMA.query].map { |type| Pipeloader::Coercion.objection(type) }
    assert_equal [nil, nil, nil, nil, "`coerce_result` on #{Counting.singleton_class.inspect}", "Query is no scalar or enum"], objections
    texts = [ActiveModel::Type::String, ActiveModel::Type::Value].map { |attribute| Pipeloader::Coercion.objection(Loud, attribute.new) }
    assert_equal [nil, "`coerce_result` of Loud may be given any object"], texts
  end
end

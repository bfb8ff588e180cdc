# frozen_string_literal: true

module Pipeloader
  # A column's value as it is in the response: what ActiveRecord's reader and the scalar's `coerce_result` make of it, bit for
  # bit. Where they would raise, or ask the application (`type_error`), it raises DoesNotFit: graphql-ruby does the field again.
  class Coercion
    BUILT_IN = {
      GraphQL::Types::String => :string, GraphQL::Types::ID => :id, GraphQL::Types::Int => :int,
      GraphQL::Types::Boolean => :boolean, GraphQL::Types::Float => :float
    }.freeze
    INTS = (GraphQL::Types::Int::MIN..GraphQL::Types::Int::MAX)
    private_constant :BUILT_IN, :INTS

    # @param type [Class, GraphQL::Schema::Wrapper] of the field
    # @param attribute [ActiveModel::Type::Value, nil] of a column whose values they are
    # @return [String, nil] why its values can't be had this way; nil if they can
    def self.objection(type, attribute = nil)
      leaf = type.unwrap
      scalar = PlainScalar.of(leaf)
      strange = scalar.formula && attribute && !Cast.known?(attribute)
      scalar.objection || ("`coerce_result` of #{leaf.graphql_name} may be given any object" if strange)
    end

    # True if graphql-ruby itself defines the scalar, and what its values are.
    def self.built_in?(type) = BUILT_IN.key?(type)

    # @param attribute what the column's values are; without it they are as their reader gives them
    #: (Class | GraphQL::Schema::Wrapper, ?ActiveModel::Type::Value) -> void
    def initialize(type, attribute = ActiveModel::Type.default_value)
      @cast = Cast.new(attribute)
      @nullable = !type.non_null?
      @type = TypeWrappers.nullable(type)
      @items = Coercion.new(@type.of_type, attribute) if @type.list?
      # An application can redefine the `coerce_result` of graphql-ruby's own scalars, too.
      @formula = PlainScalar.of(@type).formula unless @items
      @kind = if @items then :list
              elsif @formula then :leaf
              else BUILT_IN.fetch(@type, :leaf)
              end
    end

    # @return [Array<Formula>] what a scalar of the application's makes of a value
    def formulas = @items ? @items.formulas : [*@formula]

    # @return [Array<Array(Class, Symbol)>] of a column's values as pg decodes them, and of the field's; none if they are unknown
    def kinds = @cast.decoded.map { |type| [type, @kind] }

    # @return [Symbol] what the field's values are: :string, :id, :int, :boolean, :float, :list, or :leaf for any other
    attr_reader :kind

    # True if nothing is to be made of it: most values are Strings.
    def as_it_is?(value) = @kind == :string && value.instance_of?(String) && value.encoding == Encoding::UTF_8

    # @param value as it came from the database
    def call(value, context)
      of_attribute(@cast.call(value), context)
    end

    # @param value as the record's reader gives it
    def of_attribute(value, context)
      made = coerce(value, context) unless value.nil?
      made.nil? && !@nullable ? raise(DoesNotFit) : made
    rescue StandardError => e
      raise DoesNotFit.verdict(e) { coerce(value, context) }
    end

    # An attribute as its reader gives it; DoesNotFit if the record was read without it. It may be only now that it is cast.
    def self.attribute(record, name)
      record._read_attribute(name) { raise DoesNotFit }
    rescue DoesNotFit
      raise
    rescue StandardError => e
      raise DoesNotFit.verdict(e) { record._read_attribute(name) }
    end

    private

    def coerce(value, context)
      case @kind
      when :string then string(value)
      when :id then value.is_a?(String) ? value : value.to_s
      when :int then INTS.cover?(number = value.to_i) ? number : raise(DoesNotFit)
      when :boolean then true & value
      when :float then (number = value.to_f).finite? ? number : raise(DoesNotFit)
      when :list then list(value, context)
      else @formula ? own(value, context) : @type.coerce_result(value, context)
      end
    end

    def own(value, context) = KnownMethods.literal?(value) ? @formula.call(value, context) : raise(DoesNotFit)

    def string(value)
      string = value.to_s
      string.encoding == Encoding::UTF_8 || string.ascii_only? ? string : raise(DoesNotFit)
    end

    def list(values, context)
      values.instance_of?(Array) ? values.map { |value| @items.of_attribute(value, context) } : raise(DoesNotFit)
    end
  end
end

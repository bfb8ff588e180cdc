# frozen_string_literal: true

module Pipeloader
  # A column's value as the record's reader gives it, made of what came from the database.
  class Cast
    # Attribute types that leave a value as pg has decoded it, if it is of one of these classes. Decimal isn't one: ActiveRecord
    # rounds to 18 digits what pg has as a BigDecimal.
    AS_DECODED = {
      "ActiveModel::Type::Integer" => [Integer], "ActiveModel::Type::BigInteger" => [Integer],
      "ActiveModel::Type::String" => [String], "ActiveRecord::Type::Text" => [String],
      "ActiveRecord::ConnectionAdapters::PostgreSQL::OID::Uuid" => [String],
      "ActiveModel::Type::Boolean" => [TrueClass, FalseClass], "ActiveModel::Type::Float" => [Float]
    }.freeze

    # Attribute types of whose values the classes are known: what ActiveRecord makes of a column.
    KNOWN = AS_DECODED.keys.union(
      %w[ActiveModel::Type::Decimal ActiveRecord::Enum::EnumType ActiveRecord::Type::Json],
      %w[Enum SpecializedString Decimal Date Timestamp TimestampWithTimeZone Interval Jsonb].map do |name|
        "ActiveRecord::ConnectionAdapters::PostgreSQL::OID::#{name}"
      end
    ).to_set.freeze
    LIST = "ActiveRecord::ConnectionAdapters::PostgreSQL::OID::Array"
    UUID = "ActiveRecord::ConnectionAdapters::PostgreSQL::OID::Uuid"
    # What ActiveRecord calls of a type, of which nobody else may have a part.
    METHODS = %i[deserialize cast cast_value].freeze
    private_constant :AS_DECODED, :KNOWN, :LIST, :UUID, :METHODS

    @own = {}.compare_by_identity # {class of types => whether it is as ActiveRecord has it}

    # What a reader makes of a column.
    Reading = Struct.new(:column, :cast) do
      # @param told [Callbacks::Told]
      def of(told) = cast.call(told.row[told.places.fetch(column)])
    end

    # The type of a uuid where the column is of another one: most texts are no uuid, or no canonical one.
    UuidElsewhere = Class.new(SimpleDelegator)
    private_constant :UuidElsewhere

    # The type by which a column's values are cast.
    #
    #: (singleton(ActiveRecord::Base), String) -> ActiveModel::Type::Value
    def self.type_of(model, column)
      type = model.attribute_types.fetch(column)
      type.class.name == UUID && model.columns_hash[column]&.sql_type != "uuid" ? UuidElsewhere.new(type) : type
    end

    # True if its values are numbers, strings, times and the like, or Arrays and Hashes of such.
    #
    #: (ActiveModel::Type::Value) -> bool
    def self.known?(attribute)
      attribute = attribute.__getobj__ if zoned?(attribute)
      attribute = attribute.subtype if attribute.class.name == LIST
      KNOWN.include?(attribute.class.name) && own?(attribute.class)
    end

    # True if its values are the same whoever asks for them, and when.
    #
    #: (ActiveModel::Type::Value) -> bool
    def self.stateless?(attribute) = !zoned?(attribute) && known?(attribute)

    def self.zoned?(attribute)
      attribute = attribute.subtype if attribute.class.name == LIST
      ActiveRecord::AttributeMethods::TimeZoneConversion::TimeZoneConverter === attribute
    end

    # True if ActiveRecord's methods of that class run as they are.
    #
    #: (Class) -> bool
    def self.own?(type)
      @own.fetch(type) do
        methods = METHODS.select { |name| type.method_defined?(name) || type.private_method_defined?(name) }
        @own[type] = methods.all? { |name| Provenance.active_record_alone?(type.instance_method(name)) }
      end
    end
    private_class_method :zoned?, :own?

    #: (ActiveModel::Type::Value) -> void
    def initialize(attribute)
      @attribute = attribute
      @decoded = Cast.decoded(attribute.class)
    end

    # @return [Array<Class>] of the values that a type leaves as pg has decoded them
    def self.decoded(type) = AS_DECODED.key?(type.name) && own?(type) ? AS_DECODED.fetch(type.name) : []

    # @return [Array<Class>] of the values that are what pg has decoded
    attr_reader :decoded

    # @param value what a record's reader gives
    def of_attribute(value) = value

    # @raise [DoesNotFit] where there is no such value
    def call(value)
      @decoded.include?(value.class) ? value : deserialize(value)
    end

    private

    def deserialize(value)
      @attribute.deserialize(value)
    rescue StandardError => e
      raise DoesNotFit.verdict(e) { @attribute.deserialize(value) }
    end

    # Of a boolean, as `admin?` asks it.
    class Truth < Cast
      def of_attribute(value) = true.equal?(value)
      def call(value) = of_attribute(super)
    end

    # Of an enum, as one of its predicates asks it.
    class Label < Cast
      # @param predicate [EnumPredicate]
      def initialize(attribute, predicate)
        super(attribute)
        @predicate = predicate
      end

      def of_attribute(value) = @predicate.true_for?(value)
      def call(value) = of_attribute(super)
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # The SQL, name and binds that all reads of one association have in common. ActiveRecord builds it once, with
  # places left open for the owner's keys, and not (where there are scopes) a relation, its Arel and its SQL for each read.
  class AssociationRead
    # Clauses that a relation may have. Others change what becomes of its rows, or when it is asked.
    CLAUSES = %i[where order reordering limit offset distinct references].freeze
    # Types whose text for the server depends on the value alone. Others may ask for the tenant, or a key; how a time is written
    # is a setting.
    CONSTANT = [ActiveModel::Type::Integer, ActiveModel::Type::BigInteger, ActiveModel::Type::String, ActiveRecord::Type::Text,
                ActiveModel::Type::ImmutableString, ActiveModel::Type::Boolean, ActiveModel::Type::Float,
                ActiveModel::Type::Decimal, ActiveModel::Type::Value, ActiveRecord::Enum::EnumType].freeze
    UUID = "ActiveRecord::ConnectionAdapters::PostgreSQL::OID::Uuid"
    private_constant :CLAUSES, :CONSTANT, :UUID

    attr_reader :sql, :name, :preparable, :allow_retry

    # @param relation [ActiveRecord::Relation] with StatementCache::Substitute in place of the owner's keys
    # @param projection [Projection, nil] of the rows; nil for whole ones
    # @param dynamic [Boolean] whether ActiveRecord would build it for each read
    # @return [AssociationRead, nil] nil where only ActiveRecord's own way will do
    def self.of(relation, connection, projection, dynamic:)
      return if (dynamic && !simple?(relation)) || projection&.narrows?(relation) == false

      relation = projection.narrow(relation) if projection
      sql, binds, preparable, allow_retry = connection.pipeloader_sql_of(relation)
      return unless connection.pipeloader_parks?(sql, binds.size) && binds.all? { |bind| open?(bind) || constant?(bind) }

      # ActiveRecord prepares its own kept statements in any case.
      new(sql, "#{relation.klass.name} Load", binds, dynamic ? preparable : true, allow_retry, dynamic)
    end

    # True if SQL is all that comes of the relation. A merged clause may be there and say nothing.
    def self.simple?(relation)
      !relation.null_relation? && relation.values.none? { |name, value| !CLAUSES.include?(name) && value != [] }
    end

    def self.open?(bind) = bind.is_a?(ActiveModel::Attribute) && bind.value.is_a?(ActiveRecord::StatementCache::Substitute)

    def self.constant_type?(bind)
      bind.is_a?(ActiveModel::Attribute) && (CONSTANT.include?(bind.type.class) || bind.type.class.name == UUID)
    end

    def self.constant?(bind)
      case constant_type?(bind) && bind.value_for_database
      when Integer, String, true then true
      end
    end

    def initialize(sql, name, binds, preparable, allow_retry, dynamic)
      @sql = sql
      @name = name.freeze
      @binds = binds
      @preparable = preparable
      @allow_retry = allow_retry
      @dynamic = dynamic
      @open = binds.each_index.select { |index| AssociationRead.open?(binds[index]) }
      @params = binds.map { |bind| bind.value_for_database unless AssociationRead.open?(bind) }
    end

    # True if ActiveRecord would build a relation for each read.
    def dynamic? = @dynamic

    # @param keys [Array] the owner's, in the order in which they were left open
    # @return [Array<Array>, nil] the binds, and their values as pg takes them; nil if ActiveRecord would ask in other words
    def bind(keys, connection)
      return unless keys.size == @open.size

      binds, params = @binds.dup, @params.dup
      @open.each_with_index do |at, index|
        bind = binds[at] = binds[at].with_cast_value(keys[index])
        params[at] = connection.type_cast(bind.value_for_database)
      end
      [binds, params] unless @dynamic && @open.any? { |at| binds[at].nil? || binds[at].unboundable? }
    rescue ::RangeError, TypeError
      nil
    end
  end
end

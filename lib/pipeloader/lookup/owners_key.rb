# frozen_string_literal: true

module Pipeloader
  # The columns of an owner by which an association finds its rows: most often one, whose value is the key. Where there are
  # several, the key is an Array of their values; if any is nil, there is none.
  #
  # Limits: columns of the TYPES, the same on both sides.
  class OwnersKey
    # {SQL type of a column => what the server is told}
    TYPES = { "smallint" => "bigint", "integer" => "bigint", "bigint" => "bigint", "uuid" => "uuid",
              "text" => "text", "character varying" => "text" }.freeze
    # {… => types of attributes that leave it as it is}
    ATTRIBUTES = {
      "bigint" => [ActiveModel::Type::Integer, ActiveModel::Type::BigInteger],
      "uuid" => [ActiveRecord::ConnectionAdapters::PostgreSQL::OID::Uuid],
      "text" => [ActiveModel::Type::String, ActiveRecord::Type::Text]
    }.freeze
    # Of these, what is equal here is equal there.
    COMPARABLE = %w[bigint uuid].freeze
    ENCODER = PG::TextEncoder::Array.new
    NONE = [].freeze
    private_constant :TYPES, :ATTRIBUTES, :COMPARABLE, :ENCODER, :NONE

    class << self
      # @return [OwnersKey, nil] of an association; nil where it has none of types that are known
      def of(reflection)
        return reflection.owners_key if QueriedModel === reflection

        last = reflection.chain.last
        columns, compared = [last.join_foreign_key, last.join_primary_key].map { |names| Array(names).map { |it| -it.to_s } }
        types = types(reflection.active_record, columns)
        new(columns, compared, types) if types.any? && types.all? && types == types(last.klass, compared)
      end

      # @param columns [Array<String>] of the +owner+
      # @param compared [Array<Array(Class, String)>] the model and the column that each is compared with
      # @return [OwnersKey, nil] as #of
      def comparing(owner, columns, compared)
        types, others = types(owner, columns), compared.map { |model, name| type(model, name) }
        new(columns, compared.map { |_, name| name }, types) if types.all? && types == others
      end

      private

      def types(model, columns) = columns.map { |column| type(model, column) }

      def type(model, column)
        type = TYPES[model.columns_hash[column]&.sql_type&.sub(/\(\d+\)\z/, "")]
        type if type && ATTRIBUTES.fetch(type).include?(model.attribute_types[column].class)
      end
    end

    # @return [Array<String>] the owner's columns, those that they are compared with, and what the server is told of both
    attr_reader :columns, :compared, :types

    def initialize(columns, compared, types)
      @columns = columns
      @compared = compared
      @types = types
      @alone = columns.one?
    end

    # True if it is a +column+ of the association's table, and no other.
    def compared_with?(column) = @alone && @compared.first == column && COMPARABLE.include?(@types.first)

    # True if no row of a +model+ lacks a part of what it is compared with.
    def never_null?(model) = @compared.none? { |column| model.columns_hash.fetch(column).null }

    # The key of a +record+, as it is now.
    def of(record) = from { |column| record._read_attribute(column).dup }

    # Yields each column.
    #
    # @yieldreturn its value
    # @return [Object, Array, nil] the key
    def from
      return yield(@columns.first) if @alone

      key = @columns.map { |column| yield column }
      key unless key.include?(nil)
    end

    # @param columns [Array<String>] of the owners' rows
    # @return [Index, Indexes] where in such a row the key is
    def index(columns = @columns)
      indexes = @columns.map { |column| columns.index(column) }
      @alone ? Index.new(indexes.first) : Indexes.new(indexes)
    end

    # @return [Array<Array>] rows of owners that have these +keys+, and no other columns
    def rows(keys) = @alone ? keys.zip : keys.map { |key| key || NONE }

    # @return [Array<String>] the +keys+ as parameters, one for each column
    def encoded(keys) = @alone ? [ENCODER.encode(keys)] : keys.transpose.map { |values| ENCODER.encode(values) }

    # @return [String] SQL of these parameters, which are the first ones
    def arrays = @arrays ||= @types.each.with_index(1).map { |type, number| "$#{number}::#{type}[]" }.join(", ")

    # @param found [Hash] what Shape.for_each_key has brought, by what comes with each row
    # @param keys [Array] that were asked for
    # @return [Hash] by key
    def by_key(found, keys) = @alone ? found : found.transform_keys { |place| keys[place - 1] }

    # Where in a row the key is.
    Index = Struct.new(:at) do
      def of(row) = row[at]

      # @return [Array] the keys of +rows+
      def of_all(rows)
        index = at
        rows.map { |row| row[index] }
      end

      # @param row [String] Ruby code
      def code(row) = "#{row}[#{at}]"
    end

    # Where in a row its parts are.
    Indexes = Struct.new(:at) do
      def of(row)
        key = row.values_at(*at)
        key unless key.include?(nil)
      end

      def of_all(rows) = rows.map { |row| of(row) }
      def code(row) = "[#{at.map { |index| "#{row}[#{index}]" }.join(", ")}]"
    end
  end
end

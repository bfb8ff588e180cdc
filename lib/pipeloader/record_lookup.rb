# frozen_string_literal: true

module Pipeloader
  # As Lookup, for records that are to be made: whole rows, as ActiveRecord would read them for one owner.
  class RecordLookup < Lookup
    # The rows of one key, for any number of owners.
    Found = Struct.new(:columns, :rows) do
      # No two owners have the same String.
      def copy = rows.map { |row| row.map { |value| value.is_a?(String) ? value.dup : value } }
    end

    def initialize(reflection)
      super(reflection, Projection.of(reflection.klass, reflection.klass.column_names))
    end

    private

    # @return [Hash{Object => Found}] by the owner's key
    def by_key(result, index)
      added = index == -1 # the key itself, by a Shape
      columns = added ? result.columns[...-1] : result.columns
      super.transform_values { |rows| Found.new(columns, added ? rows.each(&:pop) : rows) }
    end

    def arel_of(relation) = (relation.arel if @projection.narrows?(relation) && AssociationRead.simple?(relation))
  end
end

# frozen_string_literal: true

module Pipeloader
  # As Lookup, for records that are to be made: whole rows, as ActiveRecord would read them for one owner.
  class RecordLookup < Lookup
    def initialize(reflection)
      super(reflection, Projection.of(reflection.klass, reflection.klass.column_names))
    end

    private

    # @return [Hash{Object => ActiveRecord::Result}] by the owner's key
    def by_key(result, index)
      return {} if result.empty?

      columns = result.columns
      # (What a Shape adds, is the last.)
      columns = columns[...index] if index == -1
      super.transform_values { |rows| ActiveRecord::Result.new(columns, index == -1 ? rows.each(&:pop) : rows) }
    end

    def fits?(relation) = super && AssociationRead.simple?(relation)
    def select(relation) = relation
  end
end

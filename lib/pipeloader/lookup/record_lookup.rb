# frozen_string_literal: true

module Pipeloader
  # As Lookup, for records that are to be made: whole rows, as ActiveRecord would read them for one owner.
  class RecordLookup < Lookup
    # The rows of one key, for any number of owners; and a ResultTemplate of the columns that they have now.
    Found = Struct.new(:template, :rows, :taken) do
      # The rows for one more owner: no two have the same String, or Time.
      def take
        return copy.rows if taken

        self.taken = true
        rows
      end

      def copy = Found.new(template, Rows.copy(rows))
    end

    # One for all documents.
    def self.of(reflection) = super(reflection, Projection.of(reflection.klass, reflection.klass.column_names))

    # The rows of one asker, of those found for several.
    #
    # @param found [Hash{Object => Found}]
    # @param keys [Array] that it has asked for
    def own(found, keys) = keys.filter_map { |key| [key, found[key].copy] if found.key?(key) }.to_h

    private

    # @return [Hash{Object => Found}] by the owner's key
    def by_key(result, index)
      added = index == -1 # the key itself, by a Shape
      columns = added ? result.columns[...-1] : result.columns
      # Whole rows: the table may have other columns by now.
      index = columns.index(@model.primary_key) || raise(DoesNotFit) unless added
      template = ResultTemplate.new(result, columns)
      super(result, index).transform_values { |rows| Found.new(template, added ? rows.each(&:pop) : rows) }
    end

    def arel_of(relation) = (relation.arel if @projection.narrows?(relation) && AssociationRead.simple?(relation))
  end
end

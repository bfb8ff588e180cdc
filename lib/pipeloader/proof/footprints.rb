# frozen_string_literal: true

module Pipeloader
  # Proves the Footprint of a field, once per schema, type, field and model: by who defines the methods that graphql-ruby and
  # ActiveRecord would call, their own code or somebody else's. See PlainField, PlainType, PlainModel.
  module Footprints
    class << self
      # @param type [Class] the object type, which may have +field+ from an interface
      # @param field [GraphQL::Schema::Field, Array] as the type has it
      # @param model [Class] of the record
      #
      #: (singleton(GraphQL::Schema), Class, GraphQL::Schema::Field, singleton(ActiveRecord::Base)) -> Footprint
      def of(schema, type, field, model)
        schema.pipeloader_footprints[[type, field, model]] ||= prove(type, field, model)
      end

      private

      def prove(type, field, model)
        return declared(type, field, model) if field.pipeloader_selects

        plain = PlainField.of(type, field)
        objection = plain.objection
        read = objection ? Footprint.opaque(objection) : PlainModel.of(model).reader(plain.reader)
        read = worked_out(plain, model) || read if read.opaque?
        at(read, type, field)
      end

      # @return [Footprint, nil] nil if a method reads anything but columns
      def worked_out(plain, model)
        formula = plain.formula(model) or return
        read = formula.readers.map { |name| PlainModel.of(model).reader(name) }
        Footprint.columns(read.flat_map(&:columns)) if formula.alone? && read.all?(&:columns?)
      end

      # A plain field that declares columns besides, reads both.
      def declared(type, field, model)
        declared = DeclaredColumns.of(field, model)
        plain = PlainField.of(type, field)
        return declared if declared.missing? || plain.objection

        read = PlainModel.of(model).reader(plain.reader)
        read.opaque? || read.missing? ? declared : at(read.with(declared.columns), type, field)
      end

      # +read+, as a field of +type+ reads it. What is selected below an association is read of its records only where
      # graphql-ruby itself hands them on: a scalar is given the record, and `scope_items` what it returns.
      def at(read, type, field)
        return read.because("#{type.graphql_name}.#{field.graphql_name}: #{read.reason}") if read.reason
        return read unless read.association?

        field.type.unwrap.kind.composite? && PlainField.of(type, field).unscoped? ? read : Footprint.columns(read.columns)
      end
    end
  end
end

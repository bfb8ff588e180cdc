# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: fields of records whose objects are Hashes: of a JSON column, or made by a method.
  module ThingProofs
    private

    # @return [#call, nil] of a Hash that a method makes, or several
    def made(type, field, formula, model, plain)
      known = readings_of(formula, model, plain) if things?(field, plain)
      return unless known

      lambda do |nodes|
        reason = objection_to_things(field, nodes)
        next of_field(type, field, reason) if reason

        things = ->(key) { Attribute::Things.new(key, nil, field, nodes, @operation) }
        computed(formula, *known, given(field, nodes, formula), things).tap { |part| part.rows_only = true }
      end
    end

    # True if it gives objects of things, each as it is.
    def things?(field, plain) = TypeWrappers.item(field.type).kind.object? && plain.unscoped? && !plain.paged?

    # Why a plan can't write what is selected of Hashes.
    def objection_to_things(field, nodes)
      item, selected = TypeWrappers.item(field.type), below(nodes)
      too_deep(selected) || selection(item, selected, Hash).reason || objection_to_names(item, selected)
    end

    # @return [#call, nil] of a JSON column, whose values are objects of a type of things
    def document(type, field, reader, model)
      column = reader.column
      json = column && model.attribute_types.fetch(column).is_a?(ActiveRecord::Type::Json)
      return unless json && things?(field, PlainField.of(type, field)) && !PlainModel.of(model).stores?(column)

      cast = Cast.new(model.attribute_types.fetch(column))
      lambda do |nodes|
        reason = objection_to_things(field, nodes)
        next of_field(type, field, reason) if reason

        Selection::Part.new([column], lambda do |key, columns|
          Attribute::Document.new(key, columns.index(column), cast, field, nodes, @operation)
        end, nil, true)
      end
    end

    # Execution::Next looks into a Hash for no more than it is told.
    def objection_to_names(type, selections)
      return unless next?

      other, = selected(type, selections).find { |_, its| !typename?(its) && !named?(type, definition_of(type, its), its) }
      "Execution::Next doesn't look for `#{other}` in a Hash" if other
    end

    def named?(type, field, nodes)
      plain = PlainField.of(type, field)
      plain.entry_names&.first.is_a?(String) && objection_on_next(plain).nil? &&
        (leaf?(field) || objection_to_names(TypeWrappers.item(field.type), below(nodes)).nil?)
    end
  end
end

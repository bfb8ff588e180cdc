# frozen_string_literal: true

require_relative "on_next"

module Bench
  # With that engine's own ways to load for many objects at once: `dataload:` and `resolve_batch:`.
  class NextDataloader < Contender
    include OnNext
    called "next-dataloader", "GraphQL::Execution::Next with `dataload:` and `resolve_batch:`"

    private

    def plugins = [GraphQL::Dataloader, *super]

    def resolve_association(type, field, reflection)
      configure(definition(type, field), :dataload, source(reflection))
    end

    def source(reflection)
      return { association: reflection.name } if !reflection.belongs_to? || reflection.scope || reflection.polymorphic?

      { model: reflection.klass, using: reflection.foreign_key.to_sym }
    end

    def resolve_batch(type, field, batch)
      object_types(type).each do |it|
        it.define_singleton_method(:"all_#{field}") { |objects, _context, **arguments| batch.call(objects, **arguments) }
      end
      configure(definition(type, field), :resolve_batch, :"all_#{field}")
    end

    # The engine asks the object's type, also for an interface's field.
    def object_types(type) = type.is_a?(Class) ? [type] : @dataset.types.each_value.grep(Class).select { |it| it < type }

    def definition(type, field) = type.own_fields.each_value.find { |definition| definition.original_name == field }
  end
end

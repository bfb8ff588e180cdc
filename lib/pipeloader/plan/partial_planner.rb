# frozen_string_literal: true

module Pipeloader
  # As Planner, for an object of which only some is plain.
  class PartialPlanner < Planner
    COUNTED = "its counter cache says how many there are until it is loaded"
    private_constant :COUNTED

    # What of an object that has a record of +model+ is plain, whatever the rest is.
    #
    # @param model [Class] or that of any other thing
    # @return [Partial]
    def partial(type, selections, model)
      selected = selected(type, selections)
      model < ActiveRecord::Base ? of_record(type, selected, model) : of_thing(type, selected, model)
    end

    private

    def of_record(type, selected, model)
      objection = PlainType.objection_to_instances(type) || PlainModel.of(model).objection_to_readers
      return Partial.new(model, [], selected.transform_values { objection }, {}, wraps: false) if objection

      plain, others = parts(type, selected, model).partition { |_, part| part.is_a?(Part) }
      counted, plain = plain.partition { |key, _| others.any? && counted?(type, selected[key], model) }
      others = others.to_h.merge(counted.to_h { |key, _| [key, COUNTED] })
      ahead = others.keys.filter_map { |key| read_ahead(type, key, selected[key], model) }
      entries = (plain.map(&:last) + ahead).map { |part| [part.columns, part.entry.call(part.columns)] }
      Partial.new(model, entries, others, calls(type, selected.slice(*others.keys), model), wraps: PlainType.objection(type).nil?)
    end

    # Whether a resolver beside the association can tell when it is loaded.
    def counted?(*place) = (reflection = reflection(*place)) && PlainModel.counted?(reflection)

    # @return [ActiveRecord::Reflection::AbstractReflection, nil]
    def reflection(type, nodes, model) = (field = field(type, nodes)) && association(type, field, model)

    # (Nothing is read of it.)
    def of_thing(type, selected, model)
      return Partial.new(model, [], {}, {}, wraps: false) if PlainType.objection(type)

      own = leaves(type, selected) { |key, plain| Attribute.of(key, plain, model) }.merge(typenames(type, selected))
      Partial.new(model, own.values.map { |it| [[], it] }, {}, calls(type, selected.except(*own.keys), model), wraps: true)
    end

    def typenames(type, selected)
      keys = selected.keys.select { |key| typename?(selected[key]) }
      catch(OPAQUE) { return keys.to_h { |key| [key, typename(key, type).entry.call([])] } }
      {}
    end

    # {key in the response => Part, or the reason, if it is graphql-ruby's}
    def parts(type, selected, model) = selected.to_h { |key, nodes| [key, catch(OPAQUE) { part(type, key, nodes, model) }] }

    # @return [Part, nil] nil where graphql-ruby has to ask for each object's records
    def read_ahead(type, key, nodes, model)
      reflection = reflection(type, nodes, model)
      preload = preload(reflection, key, PlainField.of(type, field(type, nodes))) if reflection
      Part.new([preload.lookup.owners_key], ->(_) { preload }) if preload
    end

    # {key in the response => ResolverCall}
    def calls(type, selected, model) = leaves(type, selected) { |key, plain| ResolverCall.of(key, plain, model) }

    # {key in the response => what the block returns for its PlainField}, of scalars and enums; without those for which that's nil
    def leaves(type, selected)
      selected.filter_map do |key, nodes|
        field = field(type, nodes)
        found = yield(key, PlainField.of(type, field)) if field && Coercion.objection(field.type).nil?
        [key, found] if found
      end.to_h
    end

    # @return [GraphQL::Schema::Field, nil]
    def field(type, nodes)
      found = catch(OPAQUE) { field_of(type, nodes) } unless typename?(nodes)
      found if found.is_a?(GraphQL::Schema::Field)
    end
  end
end

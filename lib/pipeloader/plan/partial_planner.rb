# frozen_string_literal: true

module Pipeloader
  # As Planner, for an object of which only some is plain.
  class PartialPlanner < Planner
    COUNTED = "its counter cache says how many there are until it is loaded"
    private_constant :COUNTED

    # The plain part of an object that has a record of +model+, whatever the rest is.
    #
    # @param model [Class] or that of any other thing
    # @return [PartialPlan]
    def partial(type, selections, model)
      selected = selected(type, selections)
      model < ActiveRecord::Base ? of_record(type, selected, model) : of_thing(type, selected, model)
    end

    private

    def of_record(type, selected, model)
      objection = PlainType.objection_to_instances(type) || PlainModel.of(model).objection_to_readers
      return PartialPlan.new(model, [], selected.transform_values { objection }, {}, wraps: false) if objection

      parts = parts(type, selected, model)
      others = parts.reject { |_, part| part.is_a?(Part) }
      counted = others.empty? ? others : counted(type, selected.reject { |key, _| others.key?(key) }, model)
      others.each_key { |key| (ahead = read_ahead(type, selected[key], model)) && parts[key] = ahead }
      [parts, others].each { |all| all.update(counted) }
      entries = parts.filter_map { |key, part| [part.columns, part.entry.call(key, part.columns)] if part.is_a?(Part) }
      calls = calls(type, selected.select { |key, _| others.key?(key) }, model)
      PartialPlan.new(model, entries, others, calls, wraps: PlainType.objection(type).nil?)
    end

    # {key in the response => the reason} of associations of which a resolver beside them can tell whether they are loaded.
    def counted(type, selected, model)
      selected.filter_map { |key, nodes| [key, COUNTED] if (field = field(type, nodes)) && counted?(type, field, model) }.to_h
    end

    def counted?(type, field, model)
      once(:counted, field) { (reflection = association(type, field, model)) && PlainModel.counted?(reflection) }
    end

    # (Nothing is read of it.)
    def of_thing(type, selected, model)
      return PartialPlan.new(model, [], {}, {}, wraps: false) if PlainType.objection(type)

      own = leaves(type, selected, :attributes) { |key, plain| Attribute.of(key, plain, model) }.merge(typenames(type, selected))
      calls = calls(type, selected.reject { |key, _| own.key?(key) }, model)
      PartialPlan.new(model, own.values.map { |it| [[], it] }, {}, calls, wraps: true)
    end

    def typenames(type, selected)
      keys = selected.keys.select { |key| typename?(selected[key]) }
      keys.to_h { |key| [key, constant(type, key)] }.reject { |_, entry| entry.is_a?(String) }
    end

    # {key in the response => Part, or the reason, if it is graphql-ruby's}
    def parts(type, selected, model) = selected.transform_values { |nodes| part(type, nodes, model) }

    # @return [Part, nil] nil where graphql-ruby has to ask for each object's records
    def read_ahead(type, nodes, model)
      field = field(type, nodes) or return
      once(:ahead, field) do
        reflection = association(type, field, model)
        lookup = preload(reflection)&.lookup if reflection
        plain = PlainField.of(type, field)
        Part.new([lookup.owners_key], ->(key, _) { Preload.new(key, reflection, plain) }) if lookup
      end
    end

    # {key in the response => ResolverCall}
    def calls(type, selected, model) = leaves(type, selected, :calls) { |key, plain| ResolverCall.of(key, plain, model) }

    # {key in the response => what the block returns for its PlainField}, of scalars and enums; without those for which that's nil
    def leaves(type, selected, kind)
      selected.filter_map do |key, nodes|
        next unless (field = field(type, nodes)) && leaf?(field)

        found = once(kind, field) { yield(key, PlainField.of(type, field)) }
        [key, found.under(key)] if found
      end.to_h
    end

    # @return [GraphQL::Schema::Field, nil]
    def field(type, nodes)
      found = field_of(type, nodes) unless typename?(nodes)
      found if found.is_a?(GraphQL::Schema::Field)
    end
  end
end

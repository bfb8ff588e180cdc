# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: what is selected of a union or an interface.
  module FamilyProofs
    private

    # @return [Selection] of the members
    def of_family(type, selections, model)
      return opaque(model, "#{type.graphql_name} is of other things than records") unless model < ActiveRecord::Base

      resolved = once(:resolved, type) { ResolvedType.new(@operation.schema, type) }
      reason = resolved.objection || once(:model, model) { objection(model) }
      return opaque(model, reason) if reason

      types = PlainModel.of(model).family.members.to_h { |member| [member, resolved.of(member)] }
      found = types.compact.to_h { |member, its| [member, selection(its, selections, member)] }
      Selection::OfFamily.new(@operation, model, types, found, @operation.came(type, model))
    end

    # @return [#call, String] as LinkProofs#link, of a polymorphic `belongs_to`
    def polymorphic(type, field, reflection, model)
      reason = objection_to_polymorphic(field, reflection, model)
      return of_field(type, field, reason) if reason

      item, read = field.type.unwrap, [reflection.foreign_type, reflection.foreign_key].map(&:to_s)
      met = @operation.came(item, reflection)
      lambda do |nodes|
        selections = below(nodes)
        next too_deep(selections) if too_deep(selections)
        next of_field(type, field, "`#{reflection.name}` of a #{met.key(:refused)} isn't plain") if met.value?(:refused)

        plan = once(:polymorphic, reflection) { {} }[[item, nodes.map(&:__id__)]] ||=
          ->(model) { @operation.plans.plan(item, selections, nodes.first, model) }
        Selection::Part.new(read, lambda do |key, columns|
          PolymorphicLink.new(key, PlainField.of(type, field), reflection, read.map { |it| columns.index(it) }, met, &plan)
        end, nil, true)
      end
    end

    def objection_to_polymorphic(field, reflection, model)
      return "`#{reflection.name}` says what its inverse is" if reflection.options[:inverse_of]
      return "`#{reflection.name}` has several keys" if reflection.foreign_key.is_a?(Array)
      return "`#{reflection.name}` is strict-loading" if reflection.strict_loading?

      objection_to_naming(reflection, model) || objection_to_record(field, reflection, false)
    end

    # Why a row doesn't tell the class that ActiveRecord would find.
    def objection_to_naming(reflection, model)
      type = reflection.foreign_type
      return "`#{type}` of #{model.name} is no plain text" unless Family::TEXT.include?(model.attribute_types[type].class)

      owners = [reflection.active_record, *PlainModel.of(model).family.members]
      return "heirs of #{model.name} name classes otherwise" if owners.map(&:store_full_class_name).uniq.many?

      named = owners.map { |owner| owner.method(:polymorphic_class_for) }.find { |it| !Provenance.active_record_alone?(it) }
      "`polymorphic_class_for` on #{named.owner.inspect}" if named
    end
  end
end

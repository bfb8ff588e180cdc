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

      types = PlainModel.of(model).family.members.to_h { |member| [member, resolved.of(member)] }.compact
      found = types.to_h { |member, its| [member, selection(its, selections, member)] }
      Selection::OfFamily.new(@operation, model, types, found, @operation.came(type, model))
    end
  end
end

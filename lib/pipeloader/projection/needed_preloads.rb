# frozen_string_literal: true

module Pipeloader
  # Preloads that do more than to read earlier what is asked for: they bring a limited number of records for all owners together,
  # as the limit of a scope, which is each owner's where the association is read, becomes the preload's; or ActiveRecord warns of
  # them, or raises.
  module NeededPreloads
    class << self
      # @param model [Class] of the owners
      # @param names [Symbol, String, Array, Hash] as ActiveRecord's `preload` takes them
      def among?(model, names)
        case names
        when Array then names.any? { |it| among?(model, it) }
        when Hash then names.any? { |name, behind| among?(model, name) || behind?(model, name, behind) }
        else needed?(model.reflect_on_association(names))
        end
      end

      private

      def behind?(model, name, behind)
        reflection = model.reflect_on_association(name)
        !reflection.polymorphic? && among?(reflection.klass, behind)
      end

      # A scope that asks its owner, or whose records are of several classes, counts as one with a limit.
      def needed?(reflection)
        return true if reflection.nil? || PlainModel.objection_to_target(reflection)
        return !reflection.scope.nil? if reflection.polymorphic? || !PlainModel.independent?(reflection)

        reflection.chain.any? do |link|
          [link.klass.default_scoped, *link.scopes.map { |scope| link.klass.unscoped.instance_exec(&scope) }]
            .any? { |relation| relation.limit_value || relation.offset_value }
        end
      rescue StandardError # a scope's, for ActiveRecord to meet where it preloads
        true
      end
    end
  end
end

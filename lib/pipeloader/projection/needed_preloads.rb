# frozen_string_literal: true

module Pipeloader
  # Preloads that do more than to read earlier what is asked for:
  #
  # * They bring a limited number of records for all owners together, as the limit of a scope, which is each owner's where the
  #   association is read, becomes the preload's.
  # * Keys are compared by Ruby, whatever the collation of their columns says.
  # * ActiveRecord warns of them, or raises.
  module NeededPreloads
    class << self
      # @param relation [ActiveRecord::Relation]
      # @return [Array<Symbol>] of all associations that it preloads
      def names(relation) = flat([*relation.preload_values, *relation.includes_values])

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

      def flat(names) = names.flat_map { |it| it.respond_to?(:to_a) ? flat(it.to_a) : [it.to_sym] }

      def behind?(model, name, behind)
        reflection = model.reflect_on_association(name)
        !reflection.polymorphic? && among?(reflection.klass, behind)
      end

      # A scope that asks its owner, or whose records are of several classes, counts as one with a limit.
      def needed?(reflection)
        return true if reflection.nil? || Readable.objection(reflection)
        return !reflection.scope.nil? if reflection.polymorphic? || !PlainModel.independent?(reflection)

        limited?(reflection) || collated?(reflection)
      rescue StandardError # a scope's, for ActiveRecord to meet where it preloads
        true
      end

      def limited?(reflection)
        reflection.chain.any? do |link|
          [link.klass.default_scoped, *link.scopes.map { |scope| link.klass.unscoped.instance_exec(&scope) }]
            .any? { |relation| relation.limit_value || relation.offset_value }
        end
      end

      def collated?(reflection)
        reflection.chain.any? do |link|
          [[link.klass, link.join_primary_key], [link.active_record, link.join_foreign_key]]
            .any? { |model, key| Array(key).any? { |name| model.columns_hash[name.to_s]&.collation } }
        end
      end
    end
  end
end

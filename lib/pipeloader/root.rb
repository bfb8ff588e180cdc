# frozen_string_literal: true

module Pipeloader
  # What a resolver has returned, as the root of a Plan: a relation that isn't loaded yet, an association, records.
  class Root
    class << self
      # @return [Class, nil] the model of the records that +value+ is, or brings; nil where it isn't the root of any plan
      def model(value)
        case value
        when ActiveRecord::Relation then value.klass
        when ActiveRecord::Base then value.class
        when Array then value.first.class if value.first.is_a?(ActiveRecord::Base)
        end
      end

      # @return [Branch, nil] with its rows, which may have to be read first; nil where they can't be had
      def branch(plan, value)
        case value
        when ActiveRecord::Associations::CollectionProxy then proxy(plan, value)
        when ActiveRecord::Relation then relation(plan, value)
        when ActiveRecord::Base then records(plan, [value])
        else records(plan, value)
        end
      end

      # (What the query cache keeps, is given out again.)
      #
      # @param result [ActiveRecord::Result, Array] an empty Array where there is nothing to ask
      # @return [Array<Array>]
      def rows(model, result)
        return result if result.is_a?(Array)
        return result.rows unless model.connection_pool.active_connection?&.query_cache_enabled

        result.rows.map { |row| row.map { |value| value.is_a?(String) ? value.dup : value } }
      end

      # Whether its records are those in the database, and nobody minds that they are read.
      def readable_association?(association)
        owner = association.owner
        !association.loaded? && association.target.empty? && owner.persisted? && !owner.strict_loading? && association.reflection.extensions.empty?
      end

      private

      def proxy(plan, value)
        association = value.proxy_association
        return records(plan, association.target) if association.loaded?

        relation(plan, association.scope) if readable_association?(association)
      end

      def relation(plan, value)
        return records(plan, value.records) if value.loaded? || value.scheduled?
        return unless plan.projection.narrows?(value) && readable?(plan.model, value)

        Branch.of(plan, rows(plan.model, plan.projection.narrow(value).pipeloader_result), coerced: false)
      end

      # (Preloads that there are not, raise.)
      def readable?(model, relation)
        relation.strict_loading_value.nil? &&
          (relation.preload_values + relation.includes_values).all? { |name| name.is_a?(Symbol) && model.reflect_on_association(name) }
      end

      def records(plan, records)
        columns = plan.projection.columns
        return unless records.all? { |record| plain?(plan, record) }

        Branch.of(plan, records.map { |record| columns.map { |name| record._read_attribute(name) } }, coerced: true)
      end

      # Whether the columns are there, and the associations are what the database says.
      def plain?(plan, record)
        record.instance_of?(plan.model) && record.persisted? && !record.strict_loading? && record.singleton_methods.empty? &&
          plan.links.none? { |link| record.association_cached?(link.name) } &&
          plan.projection.columns.all? { |name| record.has_attribute?(name) }
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # What a resolver has returned, as the root of a Plan: a relation that isn't loaded yet, an association, records.
  class Root
    CLASS = Kernel.instance_method(:class)
    # What graphql-ruby asks of any thing.
    OWN = %i[class respond_to? public_send].freeze
    NO_THINGS = [NilClass, GraphQL::Error, GraphQL::Execution::Interpreter::RawValue].freeze
    NAME = Module.instance_method(:name)
    private_constant :CLASS, :OWN, :NO_THINGS, :NAME

    CONNECTION = GraphQL::Pagination::ActiveRecordRelationConnection

    class << self
      # @return [Class, nil] the model of the records that +value+ is, or brings; nil where it isn't the root of any plan
      def model(value)
        case value
        when ActiveRecord::Relation then value.klass
        when ActiveRecord::Base then record_class(value)
        when CONNECTION then value.items.klass if connection?(value)
        when Array then record_class(value.first) if ActiveRecord::Base === value.first # (asked so, a lazy proxy stays lazy)
        end
      end

      # (A proxy that stands for what isn't loaded yet, would load it when it's asked.)
      #
      # @return [Class, nil] of the things in an Array, if they are what graphql-ruby goes on with
      def things(value, schema)
        return unless Array === value && value.instance_of?(Array)

        first = value.first
        return if !(Kernel === first) || NO_THINGS.any? { |it| it === first }

        type = CLASS.bind_call(first)
        type if named?(type) && OWN.all? { |name| kernels?(type, name) } && !schema.lazy?(first)
      end

      # @param value what an object of +type+ stands for
      # @return [Class, nil] as #model, of a record, or of a connection where the type says that it is one
      def model_of_object(value, type)
        if ConnectionSelection.connection?(type) then value.items.klass if connection?(value)
        elsif ActiveRecord::Base === value then record_class(value)
        end
      end

      # Whether it is of that class, and has no methods of its own. (Asked of thousands: without allocating, and without asking
      # the object, which may be a proxy.)
      def just?(object, type) = ObjectSpace.internal_class_of(object).equal?(type)

      # (A decorator may say that it is a record, too.)
      def record_class(value)
        type = value.class
        type if type <= ActiveRecord::Base
      end

      # Whether it is graphql-ruby's own, of a relation.
      def connection?(value)
        just?(value, CONNECTION) && ActiveRecord::Relation === value.items && value.edge_class.equal?(CONNECTION::Edge)
      end

      # @return [Branch, nil] with its rows, which may have to be read first; nil where they can't be had
      def branch(plan, value)
        case value
        when ActiveRecord::Associations::CollectionProxy then proxy(plan, value)
        when ActiveRecord::Relation then relation(plan, value)
        when ActiveRecord::Base then records(plan, [value])
        when CONNECTION then page(plan, value)
        else records(plan, value)
        end
      end

      # @param value what a field's resolver has returned, of which #model knows
      # @return [Array<ActiveRecord::Base>, Unloaded, nil] its records, which may have to be read first; nil where it's not to be
      #   known what they are
      def list(value)
        return (value if value.instance_of?(Array)) unless ActiveRecord::Relation === value
        return unless plain?(value) && value.extending_values.empty?

        value.load
        value.records
      rescue StandardError => e # graphql-ruby is to see it, and not to read once more
        Unloaded.new(e)
      end

      # (What the query cache keeps, is given out again.)
      #
      # @param result [ActiveRecord::Result, Array] an empty Array where there is nothing to ask
      # @return [Array<Array>]
      def rows(model, result)
        return result if result.is_a?(Array)
        return result.rows unless model.connection_pool.query_cache_enabled

        result.rows.map { |row| row.map { |value| value.is_a?(String) ? value.dup : value } }
      end

      # Whether its records are those in the database, and nobody minds that they are read.
      def readable_association?(association)
        owner = association.owner
        reflection = association.reflection
        !association.loaded? && association.target.empty? && owner.persisted? && !owner.strict_loading? &&
          !reflection.strict_loading? && reflection.extensions.empty? && !reflection.options[:disable_joins]
      end

      # Whether no method of it is somebody's own.
      def plain?(relation) = just?(relation, relation.class)

      private

      # (Some are made for each request.)
      def named?(type) = !NAME.bind_call(type).nil?

      def kernels?(type, name) = type.method_defined?(name) && type.instance_method(name).owner.equal?(Kernel)

      def proxy(plan, value)
        association = value.proxy_association
        return records(plan, association.target) if association.loaded?

        relation(plan, scope_of(association)) if plain?(value) && readable_association?(association)
      end

      # (What its blocks raise, graphql-ruby is to see.)
      def scope_of(association)
        association.scope
      rescue StandardError => e
        raise Coercion.verdict(e) { association.scope }
      end

      def relation(plan, value)
        return unless plain?(value)
        return records(plan, value.records) if value.loaded? || value.scheduled?

        Branch.of(plan, read(plan, value), coerced: false) if narrows?(plan, value)
      end

      # (A connection whose nodes are there has been asked for them.)
      def page(plan, connection)
        items = items(connection.items)
        return if items.nil? || connection.instance_variable_get(:@nodes) || !narrows?(plan, items) || !PageLookup.whole?(items)

        range = Page::Range.of { connection }
        rows = plan.asker.read { read(plan, items.offset(range.offset).limit(range.limit(plan.peeks?))) }
        Branch.of(plan, rows, coerced: false, range: range)
      end

      # @return [ActiveRecord::Relation, nil] what isn't read yet
      def items(relation)
        return if relation.loaded? || relation.scheduled? || !plain?(relation)
        return relation unless ActiveRecord::Associations::CollectionProxy === relation

        association = relation.proxy_association
        scope_of(association) if readable_association?(association)
      end

      def narrows?(plan, relation)
        plan.projection.narrows?(relation) && readable?(plan.model, relation) && !known_to_its_records?(plan, relation)
      end

      def read(plan, relation) = rows(plan.model, plan.projection.narrow(relation).pipeloader_result)

      # (Preloads that there are not, raise.)
      def readable?(model, relation)
        relation.strict_loading_value.nil? &&
          [*relation.preload_values, *relation.includes_values].all? { |it| it.is_a?(Symbol) && model.reflect_on_association(it) }
      end

      # Whether the owner of what is read is selected of it again: that is the one in memory, and not what the database says.
      def known_to_its_records?(plan, relation)
        return false unless relation.is_a?(ActiveRecord::AssociationRelation)

        inverse = PlainModel.inverse(relation.proxy_association.reflection)
        inverse && plan.links.any? { |link| link.name == inverse.name }
      end

      def records(plan, records)
        columns = plan.projection.columns
        return unless records.all? { |record| fits?(plan, record) } && plan.links.none?(&:leads_back?)

        Branch.of(plan, records.map { |record| columns.map { |name| Coercion.attribute(record, name) } }, coerced: true)
      end

      # Whether the columns are there, and the associations are what the database says.
      def fits?(plan, record)
        just?(record, plan.model) && record.persisted? && !record.strict_loading? &&
          plan.links.none? { |link| record.association_cached?(link.name) } &&
          plan.projection.columns.all? { |name| record.has_attribute?(name) }
      end
    end
  end
end

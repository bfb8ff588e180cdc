# frozen_string_literal: true

module Pipeloader
  # A resolver's return value as the root of a Plan: a relation that isn't loaded yet, an association, records.
  class RootValue
    # @param growth [Growth, nil] what its rows lead to, if that is to be looked up along with them
    def initialize(plan, growth)
      @plan = plan
      @growth = growth
    end

    # @return [Frame, nil] with its rows, which may have to be read first; nil where they can't be had
    def frame(value)
      case value
      when ActiveRecord::Associations::CollectionProxy then proxy(value)
      when ActiveRecord::Relation then relation(value)
      when ActiveRecord::Base then records([value])
      when ReturnedValue::CONNECTION then page(value)
      else records(value)
      end
    end

    private

    def proxy(value)
      association = value.proxy_association
      return records(association.target) if association.loaded?

      association.pipeloader_write
      relation(scope_of(association)) if ReturnedValue.plain?(value) && ReturnedValue.readable_association?(association)
    end

    # Errors of its blocks are graphql-ruby's to report.
    def scope_of(association)
      association.scope
    rescue StandardError => e
      raise DoesNotFit.verdict(e) { association.scope }
    end

    def relation(value)
      return unless ReturnedValue.plain?(value)
      return records(value.records) if value.loaded? || value.scheduled?

      return unless narrows?(value) && ReturnedValue.alike_unloaded?(value) && asking(value) { SteadyRows.of?(value) }

      Frame.of(@plan, read(value), coerced: false, growth: @growth)
    end

    # A connection that has its nodes was asked for them.
    def page(connection)
      items = items(connection.items)
      return if items.nil? || connection.instance_variable_get(:@nodes) || !narrows?(items) || !PageLookup.whole?(items)

      range = PageRange.of(@plan) { connection }
      page = -> { @plan.asker.read { shown(range, items, connection) } }
      totals = @plan.totals.map { |total| -> { total.count(connection.items) } }
      (range, rows), *counts = ResolverFiber.current.side_by_side([page, *totals], &:call)
      Frame.of(@plan, rows, coerced: false, growth: @growth, range: range, counts: @plan.totals.map(&:key).zip(counts).to_h)
    end

    # @return [Array(PageRange, Array<Array>)] the page, and what is read for it
    def shown(range, items, connection)
      range = range.ending(counted(items, connection)) unless range.offset
      [range, range.nothing? ? [] : read(range.on(items))]
    end

    # As graphql-ruby counts for a page from the end.
    def counted(items, connection)
      asking(items) { connection.send(:relation_count, connection.send(:sliced_nodes)) }
    end

    # @return [ActiveRecord::Relation, nil] what isn't read yet
    def items(relation)
      return if relation.loaded? || relation.scheduled? || !ReturnedValue.plain?(relation)
      return relation unless ActiveRecord::Associations::CollectionProxy === relation

      association = relation.proxy_association
      scope_of(association) if ReturnedValue.readable_association?(association)
    end

    def narrows?(relation)
      @plan.projection.narrows?(ReturnedValue.unextended(relation)) && readable?(relation) &&
        !known_to_its_records?(relation)
    end

    def read(relation)
      return asking(relation) { rows(relation) } unless @growth

      @plan.model.with_connection do |connection|
        asking(relation) { @growth.along(connection) { rows(relation) } }
      end
    end

    def rows(relation) = Rows.of(@plan.model, @plan.projection.narrow(ReturnedValue.unextended(relation)).pipeloader_result)

    # What ActiveRecord can't make SQL of, is graphql-ruby's to report.
    def asking(relation)
      yield
    rescue StandardError => e
      raise DoesNotFit.verdict(e) { relation.to_sql }
    end

    def readable?(relation)
      relation.strict_loading_value.nil? && [*relation.preload_values, *relation.includes_values].all?(Symbol) &&
        !NeededPreloads.names(relation).intersect?(@otherwise ||= Link.preloaded_otherwise(@plan.links))
    end

    # True if the owner of what is read is selected of it again: that is the one in memory, and not what the database says.
    def known_to_its_records?(relation)
      relation.is_a?(ActiveRecord::AssociationRelation) && Link.back(relation.proxy_association.reflection, @plan.links).any?
    end

    def records(records)
      columns = @plan.projection.columns
      return unless records.all? { |record| fits?(record) } && @plan.links.none?(&:leads_back?)

      Frame.of(@plan, records.map { |record| columns.map { |name| Coercion.attribute(record, name) } }, coerced: true)
    end

    # True if the columns are there, and the associations are what the database says.
    def fits?(record)
      @plan.family.include?(record) && @plan.family.tells?(record) && record.persisted? && !ReturnedValue.strict?(record) &&
        Attachment.unchanged?(record) && @plan.links.all? { |link| ReturnedValue.unread?(record, link.name) } &&
        @plan.projection.columns.all? { |name| record.has_attribute?(name) }
    end
  end
end

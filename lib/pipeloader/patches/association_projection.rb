# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Associations::Association
    # Since:: ActiveRecord 7.2; put on when projection is first asked for
    # Why no public seam does it:: an association reads by a statement that ActiveRecord has built once, with all columns.
    # Falls through when:: nothing is known to be asked of its records, they can't be narrowed, it is read asynchronously or
    #   without joins, strict loading forbids it, or the current fiber is not a resolver's.
    module AssociationProjection
      # Takes note of what is asked of its records.
      def pipeloader_expect(demand)
        return Array(@target).each { |record| demand.meet(record) } if @loaded && @pipeloader_flight.nil?

        @pipeloader_demand = @pipeloader_demand ? @pipeloader_demand.and(demand) : demand
      end

      private

      # ActiveRecord 8.0 and later pass `async:`.
      def find_target(**options)
        fiber = ResolverFiber.current
        demand = pipeloader_demand if fiber && !options[:async] && !disable_joins && !violates_strict_loading?
        return super unless demand

        records = pipeloader_find(demand, fiber) || super
        records.each { |record| demand.meet(record) }
      end

      # The response's demand on the records that it brings, by its owner's selections or by those of the field that it was
      # returned from.
      def pipeloader_demand
        selected = @owner.instance_variable_get(:@pipeloader_demand)&.child(@owner.class, reflection.name)
        return selected unless @pipeloader_demand

        selected ? selected.and(@pipeloader_demand) : @pipeloader_demand
      end

      # By the owner's keys, or by a relation, which a RelationProjection narrows.
      #
      # @return [Array<ActiveRecord::Base>, nil] nil where they are to be whole
      def pipeloader_find(demand, fiber)
        return unless (projection = demand.projection(klass)&.for_association(reflection))

        projection.try { pipeloader_find_by_keys(fiber, projection) } || pipeloader_find_by_scope(demand)
      end

      # Where ActiveRecord has a statement for all owners, it tells the records about strict loading; a relation doesn't.
      def pipeloader_find_by_scope(demand)
        scope = self.scope
        scope.pipeloader_expect(demand)
        records = scope.to_a
        records.each { |record| pipeloader_set_strict_loading(record) } unless skip_statement_cache?(scope)
        records
      end
    end
  end
end

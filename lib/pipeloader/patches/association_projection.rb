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

      # (ActiveRecord 8.0 and later give it `async:`.)
      def find_target(**options)
        demand = pipeloader_demand if ResolverFiber.current && !options[:async] && !disable_joins && !violates_strict_loading?
        return super unless demand

        records = pipeloader_find(demand) || super
        records.each { |record| demand.meet(record) }
      end

      # The response's demand on the records that it brings, by its owner's selections or by those of the field that it was
      # returned from.
      def pipeloader_demand
        selected = @owner.instance_variable_get(:@pipeloader_demand)&.child(@owner.class, reflection.name)
        return selected unless @pipeloader_demand

        selected ? selected.and(@pipeloader_demand) : @pipeloader_demand
      end

      # As ActiveRecord's find_target.
      def pipeloader_find(demand)
        return unless (projection = demand.projection(klass)&.for_association(reflection))

        scope = self.scope
        return scope.tap { |it| it.pipeloader_expect(demand) }.to_a if skip_statement_cache?(scope)

        projection.try { klass.with_connection { |connection| pipeloader_execute(projection, connection) } }
      end

      def pipeloader_execute(projection, connection)
        keys = ActiveRecord::Associations::AssociationScope.get_bind_values(owner, reflection.chain)
        pipeloader_statement(projection, connection).execute(keys, connection) do |record|
          set_inverse_instance(record)
          pipeloader_set_strict_loading(record)
        end
      end

      def pipeloader_statement(projection, connection)
        projection.statement(reflection, connection) do |params|
          target_scope.merge!(ActiveRecord::Associations::AssociationScope.create { params.bind }.scope(self))
        end
      end
    end
  end
end

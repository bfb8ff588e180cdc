# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Relation
    # Since:: ActiveRecord 7.2; put on when projection is first asked for
    # Why no public seam does it:: `select` makes another relation, and its `count` another statement. What the resolver
    #   returned stays what it is, and reads fewer columns when graphql-ruby loads it.
    # Falls through when:: no field's selections are known for it, it can't be narrowed (Projection), it is read
    #   asynchronously, or the current fiber is not a resolver's.
    module RelationProjection
      # Takes note of what is asked of its records.
      def pipeloader_expect(demand)
        return records.each { |record| demand.meet(record) } if @loaded && @future_result.nil? && @pipeloader_flight.nil?

        @pipeloader_demand = @pipeloader_demand ? @pipeloader_demand.and(demand) : demand
      end

      # Relations that are made of this one are for the same field.
      def pipeloader_hand_on = @pipeloader_hands_on = true

      private

      # Others are the application's.
      def initialize_copy(other)
        @pipeloader_demand = nil unless @pipeloader_hands_on
        super
      end

      def exec_main_query(async: false)
        return super if @pipeloader_demand.nil? || async || ResolverFiber.current.nil?
        return super unless (projection = @pipeloader_demand.projection(klass)&.for(self))

        narrow = projection.narrow(spawn.pipeloader_forget)
        projection.try { projection.narrowed(narrow.send(:exec_main_query)) } || super
      end

      def instantiate_records(...)
        records = super
        records.each { |record| @pipeloader_demand.meet(record) } if @pipeloader_demand && ResolverFiber.current
        records
      end

      protected

      def pipeloader_forget
        @pipeloader_demand = @pipeloader_hands_on = nil
        self
      end
    end
  end
end

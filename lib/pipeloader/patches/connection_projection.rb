# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Pagination::RelationConnection
    # Since:: graphql 2.5.2; put on when projection is first asked for
    # Why no public seam does it:: the page's relation is made here, from what the resolver returned.
    # Falls through when:: the connection is of a class of the application's, whose cursors may be made of any column.
    module ConnectionProjection
      PLAIN = [GraphQL::Pagination::RelationConnection, GraphQL::Pagination::ActiveRecordRelationConnection].freeze
      private_constant :PLAIN

      def pipeloader_expect(demand)
        @pipeloader_demand = demand if PLAIN.include?(self.class)
      end

      private

      # graphql 2.6.14 asks for one record more than the page, by another relation made of it.
      def limited_nodes
        page = super
        if @pipeloader_demand && page.is_a?(ActiveRecord::Relation)
          @pipeloader_demand.expect(page)
          page.pipeloader_hand_on unless page.equal?(items)
        end
        page
      end
    end
  end
end

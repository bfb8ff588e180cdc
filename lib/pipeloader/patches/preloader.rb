# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Associations::Preloader
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: what a scope leaves of an association is kept where the whole association belongs. Who preloads
    #   by a scope resets the association before and takes its target afterward (GraphQL's ActiveRecordAssociationSource). A
    #   sibling in between would be given the scope's rows, or leave its own. And a later sibling finds loaded what is preloaded
    #   without one, so it waits (Flight).
    # Falls through when:: the current fiber is not a resolver's, or must not park.
    #
    # With a scope it reads at once, and takes the open level along.
    module Preloader
      def call
        return ResolverFiber.at_once { super() } if scope

        fiber = ResolverFiber.current
        fiber&.parks? ? Flight.new(fiber).carry_all(pipeloader_associations) { super() } : super
      end

      private

      # Those that it loads of its own records, not of the records that these bring: also the ones that a :through association
      # leads through.
      def pipeloader_associations
        Array(records).group_by(&:class).flat_map do |model, alike|
          chain = branches.flat_map { |it| pipeloader_chain(model._reflect_on_association(it.association)) }
          alike.product(chain).map { |record, name| record.association(name) }
        end
      end

      def pipeloader_chain(reflection)
        return [] unless reflection

        [reflection.name, *pipeloader_chain(reflection.through_reflection)]
      end
    end
  end
end

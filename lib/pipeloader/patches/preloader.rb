# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Associations::Preloader
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: what a scope leaves of an association is kept where the whole association belongs. Who preloads
    #   by a scope resets the association before and takes its target afterwards (GraphQL's ActiveRecordAssociationSource). A
    #   sibling in between would be given the scope's rows, or leave its own.
    # Falls through when:: it has no scope, or the current fiber is not a resolver's.
    #
    # It reads at once, and takes the open level along.
    module Preloader
      def call = scope ? Pipeloader.without_parking { super() } : super
    end
  end
end

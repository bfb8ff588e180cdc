# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::SelectionsStep (Execution::Next), when a query is first explained
    # Since:: graphql 2.6
    # Why no public seam does it:: see RuntimeWitness.
    # Falls through when:: the query isn't explained.
    module StepWitness
      # All fields of objects that a plan hasn't written are graphql-ruby's.
      def call
        super
        return if @objects.empty? || (witness = Witness.of(query)).nil?

        @results.first.each_key { |key| witness.resolved(path, @parent_type, key) }
      end
    end
  end
end

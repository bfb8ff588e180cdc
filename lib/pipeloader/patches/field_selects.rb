# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Schema::Field
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a schema's field class is its own, and refuses keywords that it doesn't know.
    # Falls through when:: the field has no `selects:`.
    module FieldSelects
      # @return [Array<Symbol>, nil] columns that the field's resolver reads, as its definition says; nil if it doesn't
      attr_reader :pipeloader_selects

      def initialize(selects: nil, **options, &block)
        super(**options, &block)
        # After graphql-ruby's own variables, and only where it is given: other fields keep the object shape of those that
        # graphql-ruby defined before this module was prepended.
        @pipeloader_selects = Array(selects).map(&:to_sym).freeze if selects
      end
    end
  end
end

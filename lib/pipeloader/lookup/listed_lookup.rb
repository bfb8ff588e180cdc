# frozen_string_literal: true

module Pipeloader
  # As ChainLookup, of the rows of which one value each is listed: `object.tags.order(:name).pluck(:name)`.
  class ListedLookup < ChainLookup
    # What leaves the rows of a table as they are, one by one. `distinct` would leave values out, and `includes` may join others.
    CLAUSES = %i[where order reordering limit offset references].freeze
    private_constant :CLAUSES

    private

    def clauses = CLAUSES
  end
end

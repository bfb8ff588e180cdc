# frozen_string_literal: true

require_relative "includes"

module Bench
  # The same in one statement of outer joins (and one before it for the ids, where there is a limit).
  class EagerLoad < Includes
    called "eager_load", "ActiveRecord's eager_load, chosen by hand for this query"

    private

    def way = :eager_load
  end
end

# frozen_string_literal: true

require_relative "includes"
require_relative "on_next"

module Bench
  class NextIncludes < Includes
    include OnNext
    called "next-includes", "includes on GraphQL::Execution::Next"
  end
end

# frozen_string_literal: true

require_relative "on_next"

module Bench
  class NextNaive < Contender
    include OnNext
    called "next", "naive on GraphQL::Execution::Next"
  end
end

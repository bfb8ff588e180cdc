# frozen_string_literal: true

require_relative "pipeloader"
require_relative "on_next"

module Bench
  class NextPipeloader < Pipeloader
    include OnNext
    called "next-pipeloader", "`use Pipeloader` on GraphQL::Execution::Next"
  end
end

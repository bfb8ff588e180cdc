# frozen_string_literal: true

require_relative "pipeloader_depth"
require_relative "on_next"

module Bench
  class NextPipeloaderDepth < PipeloaderDepth
    include OnNext
    called "next-pipeloader-depth", "`use Pipeloader, trips: :depth` on GraphQL::Execution::Next"
  end
end

# frozen_string_literal: true

require_relative "pipeloader_unforecast"
require_relative "on_next"

module Bench
  class NextPipeloaderUnforecast < PipeloaderUnforecast
    include OnNext
    called "next-pipeloader-unforecast", "`use Pipeloader, forecast: false, rest: false` on GraphQL::Execution::Next"
  end
end

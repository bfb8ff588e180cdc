# frozen_string_literal: true

require_relative "pipeloader_forecast"
require_relative "on_next"

module Bench
  class NextPipeloaderForecast < PipeloaderForecast
    include OnNext
    called "next-pipeloader-forecast", "`use Pipeloader, forecast: true` on GraphQL::Execution::Next"
  end
end

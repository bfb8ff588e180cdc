# frozen_string_literal: true

require_relative "pipeloader"

module Bench
  # Slow reads over several connections.
  class PipeloaderLanes < Pipeloader
    called "pipeloader-lanes", "`use Pipeloader, lanes: { most: 10, declared: /pg_sleep/ }`"

    def self.serves?(workload) = workload.name == "sleeps"

    private

    def plugins = [[::Pipeloader, { lanes: { most: 10, declared: /pg_sleep/ } }]]
  end
end

# frozen_string_literal: true

require_relative "pipeloader_uncompiled"

module Bench
  # Each read a statement of its own: what coalescing is held against.
  class PipeloaderUncoalesced < PipeloaderUncompiled
    called "pipeloader-uncoalesced", "`use Pipeloader, compile: false, coalesce: false`"

    def self.serves?(workload) = workload.name.start_with?("alike-")

    private

    def options = { **super, coalesce: false }
  end
end

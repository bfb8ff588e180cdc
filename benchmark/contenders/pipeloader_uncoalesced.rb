# frozen_string_literal: true

require_relative "pipeloader"

module Bench
  # Each read a statement of its own: what coalescing is held against.
  class PipeloaderUncoalesced < Pipeloader
    called "pipeloader-uncoalesced", "`use Pipeloader, compile: false, coalesce: false`"

    def self.serves?(workload) = workload.name.start_with?("alike-")

    private

    def plugins
      super.map { |plugin| plugin.equal?(::Pipeloader) ? [plugin, { compile: false, coalesce: false }] : plugin }
    end
  end
end

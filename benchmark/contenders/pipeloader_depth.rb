# frozen_string_literal: true

require_relative "pipeloader"

module Bench
  # A round trip for each level, however far away the server is.
  class PipeloaderDepth < Pipeloader
    called "pipeloader-depth", "`use Pipeloader, trips: :depth`"

    def self.serves?(workload) = workload.name.match?(/\A(?:narrow|wide|harbors|nested|app|feed|guards|pages)/)

    private

    def plugins = super.map { |plugin| plugin.equal?(::Pipeloader) ? [plugin, { trips: :depth }] : plugin }
  end
end

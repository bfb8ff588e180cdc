# frozen_string_literal: true

require_relative "pipeloader"

module Bench
  # What resolvers asked for before is read before they ask again.
  class PipeloaderForecast < Pipeloader
    called "pipeloader-forecast", "`use Pipeloader, forecast: true`"

    private

    def plugins = super.map { |plugin| plugin.equal?(::Pipeloader) ? [plugin, { forecast: true }] : plugin }
  end
end

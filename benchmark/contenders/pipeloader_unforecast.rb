# frozen_string_literal: true

require_relative "pipeloader"

module Bench
  # What is read, is read when resolvers ask.
  class PipeloaderUnforecast < Pipeloader
    called "pipeloader-unforecast", "`use Pipeloader, forecast: false, rest: false`"

    private

    def plugins = super.map { |plugin| plugin.equal?(::Pipeloader) ? [plugin, { forecast: false, rest: false }] : plugin }
  end
end

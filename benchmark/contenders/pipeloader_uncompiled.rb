# frozen_string_literal: true

require_relative "pipeloader"

module Bench
  # Each read as ActiveRecord's own: what there is where fields have code of their own.
  class PipeloaderUncompiled < Pipeloader
    called "pipeloader-uncompiled", "`use Pipeloader, compile: false`"

    private

    def plugins = super.map { |plugin| plugin.equal?(::Pipeloader) ? [plugin, options] : plugin }

    def options = { compile: false }
  end
end

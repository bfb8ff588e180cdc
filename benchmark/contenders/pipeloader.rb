# frozen_string_literal: true

module Bench
  # Plain resolvers, and one line in the schema.
  class Pipeloader < Contender
    called "pipeloader", "plain resolvers and `use Pipeloader`"

    private

    def require_gems
      super
      require "pipeloader"
    end

    def plugins = [::Pipeloader]
  end
end

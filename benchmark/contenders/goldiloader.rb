# frozen_string_literal: true

module Bench
  # Plain resolvers; an association is loaded for all records that came with the first.
  class Goldiloader < Contender
    called "goldiloader", "plain resolvers with the gem goldiloader"

    private

    def require_gems
      super
      require "goldiloader"
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # The Preload of each association, made when it is first asked for, and again when its model has changed.
  class Preloads
    # @param operation [Operation, nil] nil for what no document asks
    def initialize(operation = nil)
      @operation = operation
      @known = {}.compare_by_identity # {reflection => Preload; nil where there is none}
    end

    alias inspect to_s

    # @return [Preload, nil] nil where ActiveRecord has to find each owner's records itself
    def of(reflection)
      known = @known.key?(reflection) && (@known[reflection].nil? || @known[reflection].current?)
      known ? @known[reflection] : @known[reflection] = Analyzer.new(@operation).preload(reflection)
    end
  end
end

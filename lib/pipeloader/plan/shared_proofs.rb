# frozen_string_literal: true

module Pipeloader
  # What was proved for a response, by operation: a document may select of the same types at a hundred places, to which
  # graphql-ruby comes one after the other.
  #
  # Limits: one response, and only until a file is loaded in it, which may bring heirs, or other methods, or a variable
  # from around a method is assigned anew.
  class SharedProofs
    # @param response [Response]
    # @return [Hash] of an Analyzer of the +operation+
    def self.of(response, operation)
      response.proofs = new unless response.proofs&.current?
      response.proofs.of(operation)
    end

    def initialize
      @files = $LOADED_FEATURES.size
      @known = {}.compare_by_identity # {Operation => Hash}
    end

    def current?
      $LOADED_FEATURES.size == @files && @known.each_value.none? { |known| known[:captured]&.any?(&:over?) }
    end

    def of(operation) = @known[operation] ||= {}.compare_by_identity
  end
end

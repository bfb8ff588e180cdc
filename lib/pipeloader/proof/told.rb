# frozen_string_literal: true

module Pipeloader
  # Stands for an association in a method that asks it by Chains, and has their answers: what the method calls tells which.
  class Told < BasicObject
    # @param chains [Array<Chain>] of one association
    # @return [Hash] by the name and the arguments of a call: the place of the answer, or what may be called then
    def self.nodes(chains)
      chains.each_with_index.with_object({}) do |(chain, index), nodes|
        *steps, last = chain.calls.drop(1).map { |call| [call.name, call.arguments, call.keywords] }
        steps.inject(nodes) { |level, step| level[step] ||= {} }[last] = index
      end
    end

    # @param nodes [Hash] of these chains
    # @param answers [Array] one for each
    def initialize(nodes, answers)
      @nodes = nodes
      @answers = answers
    end

    # @raise [DoesNotFit] where nobody has asked that
    def method_missing(name, *arguments, **keywords, &block)
      listed = block || AskedOfList::LOADING.include?(name)
      listed ? told(*Chain::EACH).public_send(name, *arguments, &block) : told(name, arguments, keywords)
    end

    private

    def told(name, arguments, keywords, _safe = nil)
      found = @nodes.fetch([name, arguments, keywords]) { ::Kernel.raise(DoesNotFit) }
      ::Hash === found ? Told.new(found, @answers) : @answers.fetch(found)
    end
  end
end

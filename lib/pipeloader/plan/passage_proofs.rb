# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: what a field finds through a record, `object.author&.boss`.
  module PassageProofs
    private

    # @param chain [Chain] what is asked of the record that +reflection+ leads to is behind its first call
    # @param passed [Array] as for #behind
    # @return [#call, nil] as #by_chain
    def passage(type, field, plain, reflection, chain, passed)
      model, rest = reflection.klass, Chain.new(chain.calls.drop(1), chain.parameters)
      behind = behind(type, field, plain, model, rest, passed) if !plain.paged? && objection(model).nil?
      return if behind.nil? || behind.is_a?(String)

      lambda do |nodes|
        part = behind.is_a?(Proc) ? behind.call(nodes) : behind
        next part if part.is_a?(String)

        projection = projection(model, part.columns)
        lookup = Lookup.of(reflection, projection)
        plan = Passage.new(projection, part.entry.call(nil, projection.columns))
        linked(type, field, reflection, lookup, plan) do |key, _, index|
          Link.new(key, plain, reflection, lookup, index, plan, nullable: rest.calls.first.safe && !field.type.non_null?)
        end
      end
    end

    # @param passed [Array<Array>] models, and the methods of theirs that are written out already: one may lead to itself
    # @return [Part, #call, String, nil] of what a +chain+ asks of a record that is passed through
    def behind(type, field, plain, model, chain, passed)
      method = [model, chain.reader]
      return if passed.include?(method)

      written_out = PlainModel.of(model).expanded(chain)
      passed += [method] unless written_out.equal?(chain)
      chain = written_out
      return by_chain(type, field, plain, model, chain, passed) if chain.calls.many?

      reader = PlainModel.of(model).reader(chain.reader)
      reflection = PlainModel.of(model).reflection(reader.association) if reader.association? && chain.calls.first.alone?
      link(type, field, reflection) unless reflection.nil? || reflection.polymorphic?
    end
  end
end

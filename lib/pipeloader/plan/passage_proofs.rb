# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: what a field finds through a record, `object.author&.boss`.
  module PassageProofs
    private

    # @param rest [Chain] what is asked of the record that +reflection+ leads to
    # @param passed [Array] as for #behind
    # @param leaves [Boolean] whether that may be a value
    # @yield [Projection, Array] of the record, and the field's nodes
    # @yieldreturn [Lookup] if it isn't the association's
    # @return [#call, nil] as #by_chain
    def passage(type, field, plain, reflection, rest, passed, leaves: false, &lookup)
      model = reflection.klass
      behind = behind(type, field, plain, model, rest, passed, leaves) if !plain.paged? && objection(model).nil?
      return if behind.nil? || behind.is_a?(String)

      lambda do |nodes|
        part = behind.is_a?(Proc) ? behind.call(nodes) : behind
        next part if part.is_a?(String)

        projection = projection(model, part.columns)
        found = lookup ? lookup.call(projection, nodes) : Lookup.of(reflection, projection)
        plan = Passage.new(projection, part.entry.call(nil, projection.columns))
        linked(type, field, reflection, found, plan) do |key, _, index|
          nullable = rest.calls.first.safe && !found.finds? && !field.type.non_null?
          Link.new(key, plain, reflection, found, index, plan, nullable: nullable)
        end
      end
    end

    # @param passed [Array<Array>] models, and the methods of theirs that are written out already: one may lead to itself
    # @return [Part, #call, String, nil] of what a +chain+ asks of a record that is passed through
    def behind(type, field, plain, model, chain, passed, leaves)
      method = [model, chain.reader]
      return if passed.include?(method)

      written_out = PlainModel.of(model).expanded(chain)
      passed += [method] unless written_out.equal?(chain)
      chain = written_out
      return by_chain(type, field, plain, model, chain, passed) if chain.calls.many?

      reader = PlainModel.of(model).reader(chain.reader) if chain.calls.first.alone?
      return (value_behind(type, field, model, chain.reader) if leaves && reader) unless reader&.association?

      reflection = PlainModel.of(model).reflection(reader.association)
      link(type, field, reflection) unless reflection.nil? || reflection.polymorphic?
    end
  end
end

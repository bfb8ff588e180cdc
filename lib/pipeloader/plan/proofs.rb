# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: proves once what a document selects any number of times.
  module Proofs
    # Levels of fields of which it is known that they are alike.
    LEVELS = 40
    private_constant :LEVELS

    private

    # Proves something once.
    def once(kind, subject)
      known = @known[kind] ||= {}.compare_by_identity
      known.fetch(subject) { known[subject] = yield }
    end

    # As above, something of a field of +type+, and of objects that are of +model+.
    def once_of_field(kind, type, model, field)
      known = once(kind, type) { {}.compare_by_identity }
      known = known[model] ||= {}.compare_by_identity
      known.fetch(field) { known[field] = yield }
    end

    # @return [PlainField] for who asks its Permit first
    def permitted(type, field)
      known = once(:permitted, type) { {}.compare_by_identity }
      known[field] ||= PlainField.of(type, field).permitted.tap { |plain| (@known[:captured] ||= []).push(*plain.captured) }
    end

    # @return [Projection] of these +columns+ of the +model+'s, and its keys
    def projection(model, columns) = Projection.of(model, [*PlainModel.of(model).keys, *columns].uniq)

    # @param method [Chain, Formula]
    # @return [FieldArguments, nil] what a field's nodes give to it; nil where it takes nothing
    def given(field, nodes, method) = (FieldArguments.new(field, nodes.first, method) if method.parameters.any?)

    # @return [Hash, String] what the block has proved for each, by what it is proved for, or the first reason
    def all_of(all)
      all.to_h do |key, nodes|
        proved = yield(key, nodes)
        return proved if proved.is_a?(String)

        [key, proved]
      end
    end

    # Applies a +proof+ to a field's nodes. Where the same is selected, and nothing is given, it's the same object: an
    # association under a thousand names has one plan, and is read once.
    #
    # @param proof [#call] of nodes
    def placed(proof, nodes)
      shape = shape(nodes.first.selections) if nodes.one? && nodes.first.arguments.empty?
      return proof.call(nodes) unless shape

      known = once(:placed, proof) { {} }
      known[shape] ||= proof.call(nodes)
    end

    # @return [Integer, nil] the same for what is selected in the same way; nil where it's more than fields without arguments
    def shape(selections, levels = LEVELS)
      return 0 if selections.empty?

      once(:shapes, selections) do
        words = []
        next unless levels.positive? && selections.all? { |node| simple?(node) }

        selections.each { |node| words.push(node.alias, node.name, node.selections) }
        2.step(words.size, 3) { |at| words[at] = shape(words[at], levels - 1) or break words.clear }
        numbers = once(:shapes, nil) { {} }
        numbers[words] ||= numbers.size + 1 if words.any?
      end
    end

    def simple?(node)
      node.is_a?(GraphQL::Language::Nodes::Field) && node.arguments.empty? && node.directives.empty?
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: what a resolver method asks a model by what its record says: `::User.find_by(id: object.author_id)`.
  module QueriedProofs
    private

    # @param chain [Chain] that begins with a model
    # @return [Part, #call, nil] as #by_chain
    def by_model(type, field, plain, model, chain)
      return unless [model, chain.queried].all? { |it| postgresql?(it) }

      asked, rest = chain.parted
      queried = QueriedModel.of(model, asked) or return
      return (connection(type, field, queried, asked) unless asked.question? || asked.single?) if plain.paged?
      return through(type, field, plain, queried, asked, rest) if asked.single? && rest.calls.any?
      return (link(type, field, queried, asked) if rest.calls.empty?) if field.type.unwrap.kind.composite?

      calculation(plain, queried, asked, rest: rest.calls) if asked.question? && Coercion.objection(field.type).nil?
    end

    # What is asked of the record that is found: `::User.find_by(id: object.author_id)&.name`.
    def through(type, field, plain, queried, asked, rest)
      passage(type, field, plain, queried, rest, [], leaves: true) do |projection, nodes|
        ChainLookup.new(queried, projection, asked, given(field, nodes, asked))
      end
    end

    # @return [Part, String, nil] of what the one method says that is called of a record which is passed through
    def value_behind(type, field, model, name)
      return if Coercion.objection(field.type)

      reader, formula = PlainModel.of(model).reader(name), PlainModel.of(model).formula(name)
      return leaf(type, field, reader, model) if reader.columns?

      computed_of_columns(field, formula, model) if formula
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: what a Formula asks of associations that lead to several records.
  module QuestionProofs
    ANY = ActiveModel::Type.default_value
    private_constant :ANY

    private

    # @param chains [Array<Chain>] of one association
    # @return [Array(String, Proc), nil] the owner's key, and what makes Reach::Asked of its columns
    def questions(chains, model, plain)
      asked = chains.map { |chain| PlainModel.of(model).expanded(chain) }
      reflection = PlainModel.of(model).reflection(asked.first.reader)
      return unless reflection && [model, reflection.klass].all? { |it| postgresql?(it) } && Lookup.objection(reflection).nil?

      questions = asked.map { |chain| values(reflection, chain, plain) || number(reflection, chain, plain) }
      return if questions.include?(nil)

      key, nodes = questions.first.first, Told.nodes(chains)
      [key, ->(columns) { Reach::Asked.new(nodes, questions.map { |_, made| made.call(columns.index(key)) }) }]
    end

    # @return [Array(String, Proc), nil] the owner's key, and what makes a Reach::Number of its place
    def number(reflection, chain, plain)
      projection = Projection.of(reflection.klass, [])
      lookup = CalculationLookup.new(reflection, projection, chain, nil)
      return unless narrows?(lookup) && (Cast.known?(lookup.value_type) || lookup.value_type.equal?(ANY))

      plan, cast = Plan.new(projection, []), Cast.new(lookup.value_type)
      number = ->(index) { Reach::Number.new(Calculation.new(nil, plain, reflection, lookup, index, plan, nil), cast) }
      [lookup.owners_key, number]
    end

    # @return [Array(String, Proc), nil] the owner's key, and what makes Reach::Values of its place; nil where it isn't for a list
    def values(reflection, chain, plain)
      target = reflection.klass
      return unless objection(target).nil? && listing?(target, chain.calls.last.name)

      columns, made = listed(reflection, chain)
      return unless columns

      projection = projection(target, columns)
      before = Chain.new(chain.calls[0..-2], {})
      lookup = before.reader_alone? ? Lookup.of(reflection, projection) : ChainLookup.new(reflection, projection, before, nil)
      return unless lookup.many? && narrows?(lookup)

      plan = Plan.new(projection, [])
      [lookup.owners_key, lambda do |index|
        Reach::Values.new(plain, reflection, lookup, index, plan, made.call(projection.columns))
      end]
    end

    # True if ActiveRecord's own methods list them.
    def listing?(model, name)
      called = name == :map ? Chain::FOLDS : [name]
      Chain::LISTS.include?(name) && Provenance.active_record_alone_in?(Provenance.association_types(model), [*called, :records])
    end

    # @return [Array(Array<String>, Proc), nil] the columns of each record, and what makes of their places what is listed
    def listed(reflection, chain)
      model, last = reflection.klass, chain.calls.last
      return reading(last.arguments.first, model) if last.name == :map
      return unless row_by_row?(reflection, chain)

      last.name == :ids ? by_column(model.primary_key, model) : (by_column(last.arguments.first, model) if last.arguments.one?)
    end

    # `pluck` asks no reader.
    def by_column(name, model)
      column = model.attribute_aliases.fetch(name.to_s, name.to_s)
      type = model.attribute_types.fetch(column) if model.columns_hash.key?(column)
      [[column], ->(columns) { Reach::Column.new(columns.index(column), Cast.new(type)) }] if type && Cast.known?(type)
    end

    # True if `pluck` gives a value for each record: `distinct` would leave some out.
    def row_by_row?(reflection, chain)
      reflection.scope.nil? && !reflection.through_reflection? && reflection.klass.default_scopes.empty? &&
        chain.calls[1..-2].all? { |call| %i[where not order limit offset].include?(call.name) }
    end
  end
end

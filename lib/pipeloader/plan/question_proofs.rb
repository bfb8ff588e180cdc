# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: what a Formula asks of associations that lead to several records.
  module QuestionProofs
    ANY = ActiveModel::Type.default_value
    private_constant :ANY

    private

    # @param chains [Array<Chain>] of one association
    # @return [Array(Array<String>, Proc), nil] the owner's key, and what makes Reach::Asked of its columns
    def questions(chains, model, plain)
      asked = chains.map { |chain| PlainModel.of(model).expanded(chain) }
      reflection = PlainModel.of(model).reflection(asked.first.reader)
      return unless reflection && [model, reflection.klass].all? { |it| postgresql?(it) } && Lookup.objection(reflection).nil?

      questions = asked.map { |chain| question(reflection, chain, plain) }
      return if questions.include?(nil)

      key, nodes = questions.first.first, Told.nodes(chains)
      [key.columns, ->(columns) { Reach::Asked.new(nodes, questions.map { |_, made| made.call(key.index(columns)) }) }]
    end

    def question(reflection, chain, plain)
      return records(reflection, chain, plain) if chain.paths

      values(reflection, chain, plain) || number(reflection, chain, plain)
    end

    # @return [Array(OwnersKey, Proc), nil] the owner's key, and what makes a Reach::Number of its place
    def number(reflection, chain, plain)
      projection = Projection.of(reflection.klass, [])
      lookup = CalculationLookup.new(reflection, projection, chain, nil)
      return unless narrows?(lookup) && (Cast.known?(lookup.value_type) || lookup.value_type.equal?(ANY))

      plan, cast = Plan.new(projection, []), Cast.new(lookup.value_type)
      number = ->(index) { Reach::Number.new(Calculation.new(nil, plain, reflection, lookup, index, plan, nil), cast) }
      [lookup.owners_key, number]
    end

    # @return [Array(OwnersKey, Proc), nil] as #number, of Reach::Values; nil where it isn't for a list
    def values(reflection, chain, plain)
      columns, made = listed(reflection, chain)
      projection = projection(reflection.klass, columns) if columns
      rows_of(reflection, chain, projection) do |lookup, index|
        Reach::Values.new(plain, reflection, lookup, index, Plan.new(projection, []), made.call(projection.columns))
      end
    end

    # @return [Array(OwnersKey, Proc), nil] as #values, what makes Reach::Records, or a Reach::One
    def records(reflection, chain, plain)
      target = reflection.klass
      names, further = AskedOfRecord.split(chain.paths)
      columns, made = readings(names, further, target, plain) if chain.takes? || listing?(target, AskedOfList::LISTING)
      projection = projection(target, columns) if columns
      return unless columns && reaching(projection, made) { |tried, _| objection_to_inverse(reflection, tried).nil? }

      rows_of(reflection, chain, projection) do |lookup, index|
        reaching(projection, made) do |plan, read|
          (lookup.many? ? Reach::Records : Reach::One).new(plain, reflection, lookup, index, plan, names + further.keys, read)
        end
      end
    end

    # Yields a plan that reads what is asked of the records of its rows.
    def reaching(projection, made)
      read = made.call(projection.columns)
      yield Plan.new(projection, [], reaches: read.links), read
    end

    # Of what the +chain+ says before it lists them; all of it where it asks for one.
    def rows_of(reflection, chain, projection, &made)
      return unless projection && objection(reflection.klass).nil?

      lookup = lookup(reflection, projection, chain)
      return if lookup.many? == chain.single? || !narrows?(lookup) || (lookup.picks? && !lookup.picks_alike?)

      [lookup.owners_key, made.curry(2)[lookup]]
    end

    def lookup(reflection, projection, chain)
      before = chain.takes? ? chain : Chain.new(chain.calls[0..-2], {})
      return ListedLookup.new(reflection, projection, before, nil) if chain.lists?

      before.reader_alone? ? Lookup.of(reflection, projection) : ChainLookup.new(reflection, projection, before, nil)
    end

    # True if ActiveRecord's own methods list them.
    def listing?(model, names)
      Provenance.active_record_alone_in?(Provenance.association_types(model), [*names, :records, :each])
    end

    # @return [Array(Array<String>, Proc), nil] the column of each record, and what makes of its place what is listed
    def listed(reflection, chain)
      model, last = reflection.klass, chain.calls.last
      return unless chain.lists? && listing?(model, [last.name])

      last.name == :ids ? by_column(model.primary_key, model) : (by_column(last.arguments.first, model) if last.arguments.one?)
    end

    # `pluck` asks no reader.
    def by_column(name, model)
      column = model.attribute_aliases.fetch(name.to_s, name.to_s)
      type = Cast.type_of(model, column) if model.columns_hash.key?(column)
      [[column], ->(columns) { Reach::Column.new(columns.index(column), Cast.new(type)) }] if type && Cast.known?(type)
    end
  end
end

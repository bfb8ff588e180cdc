# frozen_string_literal: true

module Pipeloader
  # As the Analyzer: whether a field of records is plain, and what it is then.
  module FieldProofs
    private

    # @return [Part, String]
    def part(type, nodes, model)
      return typename(type) if typename?(nodes)

      field = field_of(type, nodes)
      return field if field.is_a?(String)

      part = once_of_field(:part, type, model, field) { prove(type, field, model) }
      part = placed(part, nodes) if part.is_a?(Proc)
      part.is_a?(String) ? part : part.of(permitted(type, field))
    end

    # @return [Part, #call, String] what a field is wherever it is selected, or what makes that of its nodes
    def prove(type, field, model)
      plain = permitted(type, field)
      reason = plain.objection || objection_on_next(plain)
      reader = PlainModel.of(model).reader(plain.reader) unless reason
      chain = plain.chain || (Chain.of(plain.reader) if reader&.reason && !plain.paged? && plain.unscoped?)
      part = by_chain(type, field, plain, model, chain) || by_formula(type, field, plain, model)
      part ||= by_global_id(field, plain, model)
      return part if part
      return of_field(type, field, reason || reader.reason) if reason || reader.reason

      return document(type, field, reader, model) || leaf(type, field, reader, model) unless reader.association?

      reflection = PlainModel.of(model).reflection(reader.association)
      reason = reflection ? objection_to_scope(plain) : "an heir has another `#{reader.association}`"
      return of_field(type, field, reason) if reason

      reflection.polymorphic? ? polymorphic(type, field, reflection, model) : link(type, field, reflection)
    end

    # @param chain [Chain, nil] what its resolver method asks, or a method of the model's
    # @param passed [Array] as for #behind
    # @return [Part, #call, nil] nil where graphql-ruby has to run the resolver method
    def by_chain(type, field, plain, model, chain, passed = [])
      return unless chain&.contexts_in_conditions? && objection_on_next(plain).nil?

      chain = PlainModel.of(model).expanded(chain)
      return if chain.few? && plain.paged? # graphql-ruby has other connections for an Array
      return by_model(type, field, plain, model, chain) if chain.queried
      return unless chain.calls.many? || plain.paged?

      reader = PlainModel.of(model).reader(chain.reader)
      reflection = PlainModel.of(model).reflection(reader.association) if reader.association?
      return unless reflection && postgresql?(model) && Lookup.objection(reflection).nil?
      return passage(type, field, plain, reflection, chain.behind, passed) unless reflection.collection?
      return connection(type, field, reflection, chain) if plain.paged?
      return link(type, field, reflection, chain) if field.type.unwrap.kind.composite?

      calculation(plain, reflection, chain) if Coercion.objection(field.type).nil?
    end

    # @return [Part, nil] as #by_chain
    def by_global_id(field, plain, model)
      return unless Coercion.objection(field.type).nil? && (id = plain.global_id(model, @operation.schema))

      computed_of_columns(field, id, model)
    end

    # @return [Part, #call, nil] as #by_chain
    def by_formula(type, field, plain, model)
      return unless (formula = plain.formula(model)) && objection_on_next(plain).nil?
      return computed_of_columns(field, formula, model, plain) if Coercion.objection(field.type).nil?

      made(type, field, formula, model, plain) if formula.makes_hashes?
    end

    def computed_of_columns(field, formula, model, plain = nil)
      known = readings_of(formula, model, plain) or return
      coercion = Coercion.new(field.type)
      with_arguments(field, formula) { |given| computed(formula, *known, given, ->(_) { coercion }) }
    end

    # @param columns [Array<String>] that it reads
    # @yieldreturn [Reach::Readings]
    # @param coercion [Proc] that makes of a key what writes the value
    def computed(formula, columns, readings, given, coercion)
      entry = ->(key, all) { Plan::Computed.new(key, formula, readings.call(all), given, coercion.call(key)) }
      read = readings.call(columns)
      part = Selection::Part.new(columns, entry, nil, !formula.alone?).asking(read.contexts_of(formula))
      part.following(read.links.map(&:lookup))
    end

    # Yields what a field's nodes give to its +method+; nil where that takes nothing.
    #
    # @param method [Chain, Formula]
    # @return [Part, #call] what the block returns, for any nodes or for those that it is called with
    def with_arguments(field, method)
      return yield(nil) if method.parameters.none?

      ->(nodes) { yield(given(field, nodes, method)) }
    end

    # @param field [GraphQL::Schema::Field] whose arguments the +chain+ is given
    # @param rest [Array<Chain::Call>] what is asked of the number
    # @return [Part, #call, nil]
    def calculation(plain, reflection, chain, field = plain.field, rest: [])
      return unless postgresql?(reflection.klass) && rest.all? { |call| Calculation.known?(call) }

      projection = Projection.of(reflection.klass, [])
      return unless narrows?(CalculationLookup.new(reflection, projection, chain, nil))

      plan = Plan.new(projection, [])
      with_arguments(field, chain) do |given|
        lookup = CalculationLookup.new(reflection, projection, chain, given)
        coercion = Calculation.coercion(plain.field.type, lookup.value_type, rest)
        Selection::Part.new(lookup.owners_key.columns, lambda do |key, columns|
          Calculation.new(key, plain, reflection, lookup, lookup.owners_key.index(columns), plan, coercion)
        end).asking(chain.contexts)
      end
    end

    def leaf(type, field, reader, model)
      column = reader.column
      attribute = column && Cast.type_of(model, column)
      reason = column ? Coercion.objection(field.type, attribute) : "`#{PlainField.of(type, field).reader}` isn't one column"
      reason ||= "the readers of its store accessors write `#{column}`" if PlainModel.of(model).stores?(column)
      return of_field(type, field, reason) if reason

      coercion = Coercion.new(field.type, attribute)
      Selection::Part.new([column], ->(key, columns) { Plan::Leaf.new(key, columns.index(column), coercion) })
    end

    # @param chain [Chain] what is called of the association, before it is a connection
    # @return [#call, String]
    def connection(type, field, reflection, chain)
      item, model, paged = field.type.unwrap, reflection.klass, PageLookup.chain(chain)
      lambda do |nodes|
        page = plan_below(item, nodes, model)
        next page if page.is_a?(String)

        given = PageLookup::Arguments.new(field, nodes.first, paged, page)
        lookup = PageLookup.new(reflection, page.projection, paged, given)
        counts = all_of(page.totals) { |total| total_of_owners(total, reflection, chain, field, nodes) }
        next of_field(type, field, counts) if counts.is_a?(String)

        linked(type, field, reflection, lookup, page) do |key, columns, index|
          calculations = counts.map { |total, part| part.entry.call(total.key, columns) }
          PageLink.new(key, PlainField.of(type, field), reflection, lookup, index, page, calculations)
        end
      end
    end

    # @param chain [Chain] of the connection's +field+
    # @return [Part, String]
    def total_of_owners(total, reflection, chain, field, nodes)
      asked = Chain.new([*chain.calls, total.question], chain.parameters)
      part = calculation(total.plain, reflection, asked, field)
      part = part.call(nodes) if part.is_a?(Proc)
      part || "`#{total.question.name}` of `#{reflection.name}` can't be asked for many owners"
    end
  end
end

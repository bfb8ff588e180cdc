# frozen_string_literal: true

module Pipeloader
  # Proves that all that is selected of records is plain, and makes the Plan; or says what isn't, and why.
  #
  # Each step returns what it has proved, or a String: the reason why graphql-ruby has to do it.
  class Planner
    include Proofs, LinkProofs

    # Levels of fields that a plan may have: each takes a dozen frames of a fiber's stack, which ends at some 1,500.
    DEEP = 40
    private_constant :DEEP

    # @param known [Hash] what has been proved so far
    #: (Operation, ?Hash[untyped, Hash[untyped, untyped]]) -> void
    def initialize(operation, known = {}.compare_by_identity)
      @operation = operation
      @known = known
    end

    # @param model [Class] of records, or of other things (where it isn't a connection's plan)
    # @return [Plan, String] the reason, if there can be none
    #: (Class, Array[GraphQL::Language::Nodes::AbstractNode], Class) -> (Plan | String)
    def plan(type, selections, model)
      model < ActiveRecord::Base ? plan_of(type, selections, model) : plan_of_things(type, selections, model)
    end

    # @param key [String, nil] as Preload's, and so +plain+
    # @return [Preload, nil] nil where ActiveRecord has to find each owner's records itself
    def preload(reflection, key = nil, plain = nil)
      return unless postgresql?(reflection.active_record)
      return if Lookup.objection(reflection) || objection(reflection.klass) || PlainModel.counted?(reflection)

      preload = Preload.new(key, reflection, plain)
      preload if narrows?(preload.lookup)
    end

    # @return [ActiveRecord::Reflection::AbstractReflection, nil] of the association that a field gives as it is, on both engines
    def association(type, field, model)
      plain = PlainField.of(type, field)
      reader = PlainModel.of(model).reader(plain.reader) unless plain.objection || objection_on_next(plain)
      reflection = model.reflect_on_association(reader.association) if reader&.association?
      reflection if reflection && objection_to_association(type, field, reflection).nil?
    end

    private

    def plan_of(type, selections, model)
      reason = too_deep(selections) || once(:type, type) { PlainType.objection(type) } || once(:model, model) { objection(model) }
      return reason if reason

      parts = all_of(selected(type, selections)) { |_, nodes| part(type, nodes, model) }
      return parts if parts.is_a?(String)

      read = parts.each_value.flat_map(&:columns)
      projection = Projection.of(model, read.unshift(*PlainModel.of(model).keys).uniq)
      Plan.new(projection, parts.map { |key, part| part.entry.call(key, projection.columns) })
    end

    # The things themselves are its rows.
    def plan_of_things(type, selections, model)
      reason = too_deep(selections) || once(:type, type) { PlainType.objection(type) }
      return reason if reason

      entries = all_of(selected(type, selections)) { |key, nodes| entry_of_things(key, type, nodes, model) }
      entries.is_a?(String) ? entries : Plan.new(nil, entries.values)
    end

    # @return [Hash, String] what the block has proved for each, or the first reason
    def all_of(pairs)
      pairs.to_h do |key, nodes|
        proved = yield(key, nodes)
        return proved if proved.is_a?(String)

        [key, proved]
      end
    end

    def entry_of_things(key, type, nodes, model)
      return constant(type, key) if typename?(nodes)

      field = field_of(type, nodes)
      return field if field.is_a?(String)

      attribute(key, type, field, nodes, model) || of_field(type, field, "it isn't an attribute of a #{model.name}")
    end

    # Fields nearer to the leaves have their own plan.
    def too_deep(selections)
      "it is more than #{DEEP} levels deep" if @operation.depth(selections) > DEEP
    end

    # @return [Attribute, Attribute::Things, nil] nil where there is code, or more to be done
    def attribute(key, type, field, nodes, model)
      known = once_of_field(type, model, field) { Attribute.of(key, PlainField.of(type, field), model) }
      return unless (attribute = known&.under(key))
      return attribute if leaf?(field)

      Attribute::Things.new(attribute, field, nodes, @operation) if Types.item(field.type).kind.object?
    end

    # True if its values are scalars or enums, as graphql-ruby writes them.
    def leaf?(field) = once(:leaf, field) { Coercion.objection(field.type).nil? }

    def objection(model)
      objection = PlainModel.of(model).objection
      return objection if objection
      return "#{model.name} isn't in PostgreSQL" unless postgresql?(model)
      return "#{model.name} has a column `#{model.inheritance_column}`" if model.columns_hash.key?(model.inheritance_column)

      "#{model.name} is strict-loading" if model.strict_loading_by_default
    end

    def postgresql?(model) = model.connection_db_config.adapter == "postgresql"

    # {key in the response => its nodes}
    def selected(type, selections)
      found = {}
      @operation.each_selected(type, selections) { |node| (found[-(node.alias || node.name)] ||= []) << node }
      found
    end

    # @return [Part, String]
    def part(type, nodes, model)
      return typename(type) if typename?(nodes)

      field = field_of(type, nodes)
      return field if field.is_a?(String)

      part = once_of_field(type, model, field) { prove(type, field, model) }
      part.respond_to?(:call) ? placed(part, nodes) : part
    end

    # @return [Part, #call, String] what a field is wherever it is selected, or what makes that of its nodes
    def prove(type, field, model)
      plain = PlainField.of(type, field)
      part = by_chain(type, field, plain, model) || by_formula(field, plain, model)
      return part if part

      reason = plain.objection || objection_on_next(plain)
      return of_field(type, field, reason) if reason

      reader = PlainModel.of(model).reader(plain.reader)
      return of_field(type, field, reader.reason) if reader.reason

      reader.association? ? link(type, field, model.reflect_on_association(reader.association)) : leaf(type, field, reader, model)
    end

    # @return [Part, #call, nil] nil where graphql-ruby has to run the resolver method
    def by_chain(type, field, plain, model)
      return unless (chain = plain.chain) && objection_on_next(plain).nil?

      reader = PlainModel.of(model).reader(chain.reader)
      reflection = model.reflect_on_association(reader.association) if reader.association?
      return unless reflection&.collection? && postgresql?(model) && Lookup.objection(reflection).nil?

      return connection(type, field, reflection, chain) if plain.paged?
      return link(type, field, reflection, chain) if field.type.unwrap.kind.composite?

      calculation(plain, reflection, chain) if Coercion.objection(field.type).nil?
    end

    # @return [Part, #call, nil] as #by_chain
    def by_formula(field, plain, model)
      return unless Coercion.objection(field.type).nil? && (formula = plain.formula(model)) && objection_on_next(plain).nil?

      known = formula.readers.map { |name| PlainModel.of(model).reader(name) }
      return unless known.all? { |reader| reader.columns? && reader.columns.one? }

      read = known.map { |reader| reader.columns.first }
      return if read.uniq! || read.any? { |column| PlainModel.of(model).stores?(column) } # (what two readers give is one object)

      types = read.map { |column| model.attribute_types.fetch(column) }
      return unless types.all? { |it| Cast.known?(it) }

      casts, coercion = types.map { |it| Cast.new(it) }, Coercion.new(field.type)
      with_arguments(field, formula) { |given| computed(formula, read, casts, given, coercion) }
    end

    def computed(formula, read, casts, given, coercion)
      Part.new(read, lambda do |key, columns|
        Plan::Computed.new(key, formula, read.map { |it| columns.index(it) }.zip(casts), given, coercion)
      end)
    end

    # Yields what a field's nodes give to its +method+; nil where that takes nothing.
    #
    # @param method [Chain, Formula]
    # @return [Part, #call] what the block returns, for any nodes or for those that it is called with
    def with_arguments(field, method)
      return yield(nil) if method.parameters.none?

      ->(nodes) { yield(FieldArguments.new(field, nodes.first)) }
    end

    # @return [Part, #call, nil]
    def calculation(plain, reflection, chain)
      return unless postgresql?(reflection.klass)

      projection = Projection.of(reflection.klass, [])
      return unless narrows?(CalculationLookup.new(reflection, projection, chain, nil))

      plan = Plan.new(projection, [])
      with_arguments(plain.field, chain) do |given|
        lookup = CalculationLookup.new(reflection, projection, chain, given)
        coercion = Coercion.new(plain.field.type, lookup.value_type)
        Part.new([lookup.owners_key], lambda do |key, columns|
          Calculation.new(key, plain, reflection, lookup, columns.index(lookup.owners_key), plan, coercion)
        end)
      end
    end

    def objection_on_next(plain)
      return unless plain.other_on_next? && @operation.schema.respond_to?(:execute_next)

      "Execution::Next calls another method than `#{plain.reader}`"
    end

    def typename?(nodes) = nodes.first.name == "__typename"

    def typename(type)
      once(:typename, type) do
        @operation.objection_to_typename || Part.new([], ->(key, _) { Plan::Constant.new(key, type.graphql_name) })
      end
    end

    # @return [Plan::Constant, String]
    def constant(type, key)
      part = typename(type)
      part.is_a?(Part) ? part.entry.call(key, []) : part
    end

    def leaf(type, field, reader, model)
      column = reader.columns.first if reader.columns? && reader.columns.one?
      reason = column ? Coercion.objection(field.type) : "`#{PlainField.of(type, field).reader}` isn't one column"
      reason ||= "the readers of its store accessors write `#{column}`" if PlainModel.of(model).stores?(column)
      return of_field(type, field, reason) if reason

      coercion = Coercion.new(field.type, model.attribute_types.fetch(column))
      Part.new([column], ->(key, columns) { Plan::Leaf.new(key, columns.index(column), coercion) })
    end

    # @param chain [Chain] what is called of the association, before it is a connection
    # @return [#call, String]
    def connection(type, field, reflection, chain)
      return of_field(type, field, "`scope_items` of its nodes") unless PlainField.of(type, field).unscoped?

      item, model, chain = field.type.unwrap, reflection.klass, PageLookup.chain(chain)
      lambda do |nodes|
        next of_field(type, field, "it is read from its end") if PageLookup::Arguments.backwards?(nodes.first)

        page = PagePlanner.new(@operation, @known).plan(item, below(nodes), model)
        next page if page.is_a?(String)

        given = PageLookup::Arguments.new(field, nodes.first, model, page.peeks?)
        linked(type, field, reflection, PageLookup.new(reflection, page.projection, chain, given), page)
      end
    end

    # A node's own Array is known by its place.
    def below(nodes) = nodes.one? ? nodes.first.selections : nodes.flat_map(&:selections)

    # @return [GraphQL::Schema::Field, String]
    def field_of(type, nodes)
      found = nodes.map { |node| definition(type, node) }
      reason = found.find { |it| it.is_a?(String) }
      reason ? "#{type.graphql_name}.#{nodes.first.name}: #{reason}" : found.first
    end

    def definition(type, node)
      return @operation.definition(type, node) if node.directives.any?

      once(:fields, type) { {} }[node.name] ||= @operation.definition(type, node)
    end

    # @return [String] the reason, for users who ask which field it is about
    def of_field(type, field, reason) = "#{type.graphql_name}.#{field.graphql_name}: #{reason}"
  end
end

# frozen_string_literal: true

module Pipeloader
  # Proves that all that is selected of records is plain, and makes the Plan; or says what isn't, and why.
  class Planner
    # Thrown with the reason.
    OPAQUE = :pipeloader_opaque

    # A part of a Plan, before it is known which columns its rows have.
    Part = Struct.new(:columns, :entry)
    # Levels of fields that a plan may have: each takes a dozen frames of a fiber's stack, which ends at some 1,500.
    DEEP = 40
    private_constant :OPAQUE, :Part, :DEEP

    #: (Operation) -> void
    def initialize(operation)
      @operation = operation
    end

    # @param model [Class] of records, or of other things (where it isn't a connection's plan)
    # @return [Plan, String] the reason, if there can be none
    #: (Class, Array[GraphQL::Language::Nodes::AbstractNode], Class) -> (Plan | String)
    def plan(type, selections, model)
      catch(OPAQUE) { model < ActiveRecord::Base ? plan_of(type, selections, model) : plan_of_things(type, selections, model) }
    end

    # @param key [String, nil] as Preload's, and so +plain+
    # @return [Preload, nil] nil where ActiveRecord has to find each owner's records itself
    def preload(reflection, key = nil, plain = nil)
      return if PlainModel.counted?(reflection) || Lookup.objection(reflection) || objection(reflection.klass)

      preload = Preload.new(key, reflection, plain)
      preload if narrows?(preload.lookup)
    rescue NameError # whoever reads it, is to hear that
      nil
    end

    # @return [ActiveRecord::Reflection::AbstractReflection, nil] of the association that a field gives as it is, on both engines
    def association(type, field, model)
      plain = PlainField.of(type, field)
      reader = PlainModel.of(model).reader(plain.reader) unless plain.objection || objection_on_next(plain)
      reflection = model.reflect_on_association(reader.association) if reader&.association?
      reflection if reflection && objection_to_association(type, field, reflection).nil?
    rescue NameError # whoever reads it, is to hear that
      nil
    end

    private

    def plan_of(type, selections, model)
      stop_where_deep(selections)
      stop(PlainType.objection(type))
      stop(objection(model))
      parts = selected(type, selections).map { |key, nodes| part(type, key, nodes, model) }
      projection = Projection.of(model, [*PlainModel.of(model).keys, *parts.flat_map(&:columns)].uniq)
      Plan.new(projection, parts.map { |part| part.entry.call(projection.columns) })
    end

    # (Their rows are the things themselves.)
    def plan_of_things(type, selections, model)
      stop_where_deep(selections)
      stop(PlainType.objection(type))
      entries = selected(type, selections).map do |key, nodes|
        next typename(key, type).entry.call([]) if typename?(nodes)

        field = field_of(type, nodes)
        attribute(key, PlainField.of(type, field), nodes, model) || stop("it isn't an attribute of a #{model.name}", type, field)
      end
      Plan.new(nil, entries)
    end

    # (What is nearer to the leaves, has a plan of its own.)
    def stop_where_deep(selections)
      stop("it is more than #{DEEP} levels deep") if @operation.depth(selections) > DEEP
    end

    # @return [Attribute, Attribute::Things, nil] nil where there is code, or more to be done
    def attribute(key, plain, nodes, model)
      return unless (attribute = Attribute.of(key, plain, model))
      return attribute if Coercion.objection(plain.field.type).nil?

      Attribute::Things.new(attribute, plain.field, nodes, @operation) if Types.item(plain.field.type).kind.object?
    end

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

    def part(type, key, nodes, model)
      return typename(key, type) if typename?(nodes)

      field = field_of(type, nodes)
      plain = PlainField.of(type, field)
      part = part_by_chain(type, key, nodes, field, plain, model) || part_by_formula(key, nodes, field, plain, model)
      return part if part

      stop(plain.objection || objection_on_next(plain), type, field)
      reader = PlainModel.of(model).reader(plain.reader)
      stop(reader.reason, type, field)
      return leaf(type, key, field, reader, model) unless reader.association?

      link(type, key, nodes, field, model.reflect_on_association(reader.association))
    rescue NameError => e
      stop(e.message) # as of a class that there isn't: that matters where there is something to load
    end

    # @return [Part, nil] nil where graphql-ruby has to run the resolver method
    def part_by_chain(type, key, nodes, field, plain, model) # rubocop:disable Metrics/ParameterLists
      return unless (chain = plain.chain) && objection_on_next(plain).nil?

      reader = PlainModel.of(model).reader(chain.reader)
      reflection = model.reflect_on_association(reader.association) if reader.association?
      return unless reflection&.collection? && Lookup.objection(reflection).nil?

      return connection(type, key, nodes, field, reflection, chain) if plain.paged?

      given = FieldArguments.new(field, nodes.first) if chain.parameters.any?
      return link(type, key, nodes, field, reflection, chain, given) if field.type.unwrap.kind.composite?

      calculation(key, plain, reflection, chain, given) if Coercion.objection(field.type).nil?
    end

    # @return [Part, nil] as #part_by_chain
    def part_by_formula(key, nodes, field, plain, model)
      return unless Coercion.objection(field.type).nil? && (formula = plain.formula(model)) && objection_on_next(plain).nil?

      known = formula.readers.map { |name| PlainModel.of(model).reader(name) }
      return unless known.all? { |reader| reader.columns? && reader.columns.one? }

      read = known.map { |reader| reader.columns.first }
      return unless read.uniq!.nil? # (what two readers give is one object)

      types = read.map { |column| model.attribute_types.fetch(column) }
      return unless types.all? { |it| Cast.known?(it) }

      given = FieldArguments.new(field, nodes.first) if formula.parameters.any?
      coercion, casts = Coercion.new(field.type), types.map { |it| Cast.new(it) }
      Part.new(read, lambda do |columns|
        Plan::Computed.new(key, formula, read.map { |it| columns.index(it) }.zip(casts), given, coercion)
      end)
    end

    def calculation(key, plain, reflection, chain, given)
      return unless postgresql?(reflection.klass)

      lookup = CalculationLookup.new(reflection, Projection.of(reflection.klass, []), chain, given)
      return unless narrows?(lookup)

      Part.new([lookup.owners_key], lambda do |columns|
        Calculation.new(key, plain, reflection, lookup, columns.index(lookup.owners_key))
      end)
    end

    def objection_on_next(plain)
      return unless plain.other_on_next? && @operation.schema.respond_to?(:execute_next)

      "Execution::Next calls another method than `#{plain.reader}`"
    end

    def typename?(nodes) = nodes.first.name == "__typename"

    def typename(key, type)
      stop(@operation.objection_to_typename)
      Part.new([], ->(_) { Plan::Constant.new(key, type.graphql_name) })
    end

    def leaf(type, key, field, reader, model)
      stop("`#{PlainField.of(type, field).reader}` isn't one column", type, field) unless reader.columns? && reader.columns.one?
      stop(Coercion.objection(field.type), type, field)

      column = reader.columns.first
      coercion = Coercion.new(field.type, model.attribute_types.fetch(column))
      Part.new([column], ->(columns) { Plan::Leaf.new(key, columns.index(column), coercion) })
    end

    # @param chain [Chain, nil] what is called of the association
    # @param given [FieldArguments, nil]
    def link(type, key, nodes, field, reflection, chain = nil, given = nil) # rubocop:disable Metrics/ParameterLists
      many = chain ? !ChainLookup.single?(chain) : reflection.collection?
      stop(objection_to_link(type, field, reflection, many), type, field)

      plan = plan_of(field.type.unwrap, nodes.flat_map(&:selections), reflection.klass)
      lookup = chain ? ChainLookup.new(reflection, plan.projection, chain, given) : Lookup.of(reflection, plan.projection)
      linked(type, key, field, reflection, lookup, plan)
    end

    # @param chain [Chain] what is called of the association, before it is a connection
    def connection(type, key, nodes, field, reflection, chain) # rubocop:disable Metrics/ParameterLists
      stop("`scope_items` of its nodes", type, field) unless PlainField.of(type, field).unscoped?
      stop("it is read from its end", type, field) if PageLookup::Arguments.backwards?(nodes.first)

      page = PagePlanner.new(@operation).page(field.type.unwrap, nodes.flat_map(&:selections), reflection.klass)
      given = PageLookup::Arguments.new(field, nodes.first, reflection.klass, page.peeks?)
      lookup = PageLookup.new(reflection, page.projection, PageLookup.chain(chain), given)
      linked(type, key, field, reflection, lookup, page)
    end

    def linked(type, key, field, reflection, lookup, plan) # rubocop:disable Metrics/ParameterLists
      stop(objection_to_inverse(reflection, plan), type, field)
      stop("the scope of `#{reflection.name}` leaves no columns out", type, field) unless narrows?(lookup)
      plain = PlainField.of(type, field)
      Part.new([lookup.owners_key], lambda do |columns|
        Link.new(key, plain, reflection, lookup, columns.index(lookup.owners_key), plan, nullable: !field.type.non_null?)
      end)
    end

    def objection_to_link(type, field, reflection, many)
      item = Types.item(field.type)
      return "#{item.to_type_signature} is no object type" unless item.kind.object?

      objection_to_association(type, field, reflection, many)
    end

    # Why it isn't the association's records that a field gives.
    def objection_to_association(type, field, reflection, many = reflection.collection?)
      returned = Types.nullable(field.type)
      item = Types.item(field.type)
      return "it is a connection" if field.connection?
      return "#{item.to_type_signature} is a leaf" unless item.kind.composite?
      return "`#{reflection.name}` isn't what #{returned.to_type_signature} says" unless many == returned.list?
      return "`scope_items` of #{item.graphql_name}" unless PlainField.of(type, field).unscoped?
      return "#{reflection.active_record.name} isn't in PostgreSQL" unless postgresql?(reflection.active_record)

      Lookup.objection(reflection)
    end

    def narrows?(lookup)
      lookup.narrows?
    rescue StandardError => e # its scope's
      raise unless Coercion.verdict(e) { lookup.narrows? }.is_a?(Unfit)
    end

    # An owner that is known is read again by what tells it, and has to be the same row then.
    def objection_to_inverse(reflection, plan)
      inverse = PlainModel.inverse(reflection)
      return if inverse.nil? || plan.links.none? { |link| link.name == inverse.name }

      owner = reflection.active_record
      same = inverse.belongs_to? && !inverse.polymorphic? && !inverse.has_scope? && inverse.klass.equal?(owner) &&
             inverse.foreign_key == reflection.foreign_key && inverse.join_primary_key == reflection.join_foreign_key &&
             owner.default_scopes.empty? && !owner.respond_to?(:default_scope)
      "`#{inverse.name}` may be another #{owner.name} than `#{reflection.name}` came from" unless same
    end

    # @return [GraphQL::Schema::Field]
    def field_of(type, nodes)
      fields = nodes.map { |node| @operation.definition(type, node) }
      reason = fields.find { |field| field.is_a?(String) }
      stop(reason && "#{type.graphql_name}.#{nodes.first.name}: #{reason}")
      fields.first
    end

    def stop(reason, type = nil, field = nil)
      throw OPAQUE, type ? "#{type.graphql_name}.#{field.graphql_name}: #{reason}" : reason if reason
    end
  end
end

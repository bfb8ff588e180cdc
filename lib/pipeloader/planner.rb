# frozen_string_literal: true

module Pipeloader
  # Proves that all that is selected of records is plain, and makes the Plan; or says what isn't, and why.
  class Planner
    # Thrown with the reason.
    OPAQUE = :pipeloader_opaque

    # A part of a Plan, before it is known which columns its rows have.
    Part = Struct.new(:columns, :entry)
    private_constant :OPAQUE, :Part

    class << self
      # @param type [Class, GraphQL::Schema::Wrapper]
      def nullable(type) = type.non_null? ? type.of_type : type

      # What a list consists of; where it is none, what is there.
      def item(type)
        type = nullable(type)
        type.list? ? nullable(type.of_type) : type
      end
    end

    #: (Operation) -> void
    def initialize(operation)
      @operation = operation
    end

    # What of an object that has a record of +model+ is plain, whatever the rest is.
    #
    # @return [Partial]
    def partial(type, selections, model)
      objection = PlainType.objection_to_instances(type) || PlainModel.of(model).objection_to_readers
      selected = selected(type, selections)
      parts = selected.to_h { |key, nodes| [key, objection || part_of_object(type, key, nodes, model)] }
      plain, others = parts.partition { |_, part| part.is_a?(Part) }
      ahead = objection ? [] : others.filter_map { |key, _| preload(type, key, selected[key], model) }
      entries = (plain.map(&:last) + ahead).map { |part| [part.columns.first, part.entry.call(part.columns)] }
      Partial.new(model, entries, others.to_h)
    end

    # @return [Plan, String] the reason, if there can be none
    #: (Class, Array[GraphQL::Language::Nodes::AbstractNode], singleton(ActiveRecord::Base)) -> (Plan | String)
    def plan(type, selections, model)
      catch(OPAQUE) { plan_of(type, selections, model) }
    end

    private

    def plan_of(type, selections, model)
      stop(PlainType.objection(type))
      stop(objection(model))
      parts = selected(type, selections).map { |key, nodes| part(type, key, nodes, model) }
      projection = Projection.of(model, [*PlainModel.of(model).keys, *parts.flat_map(&:columns)].uniq)
      Plan.new(projection, parts.map { |part| part.entry.call(projection.columns) })
    end

    # @return [Part, String, nil] the reason, if it is graphql-ruby's; nil for __typename, which is none the less
    def part_of_object(type, key, nodes, model)
      catch(OPAQUE) { part(type, key, nodes, model) } unless nodes.first.name == "__typename"
    end

    # @return [Part, nil] nil where graphql-ruby has to ask for each object's records
    def preload(type, key, nodes, model)
      field = catch(OPAQUE) { field_of(type, nodes) } unless nodes.first.name == "__typename"
      reflection = association_of(type, field, model) if field.is_a?(GraphQL::Schema::Field)
      return if reflection.nil? || objection_to_association(type, field, reflection) || objection(reflection.klass)

      preload = Preload.new(key, reflection)
      Part.new([preload.lookup.owners_key], ->(_) { preload }) if narrows?(preload.lookup)
    rescue NameError # whoever reads it, is to hear that
      nil
    end

    def association_of(type, field, model)
      plain = PlainField.new(type, field)
      reader = PlainModel.of(model).reader(plain.reader) unless plain.objection
      model.reflect_on_association(reader.association) if reader&.association?
    end

    def objection(model)
      objection = PlainModel.of(model).objection
      return objection if objection
      return "#{model.name} isn't in PostgreSQL" unless model.connection_db_config.adapter == "postgresql"
      return "#{model.name} has a column `#{model.inheritance_column}`" if model.columns_hash.key?(model.inheritance_column)

      "#{model.name} is strict-loading" if model.strict_loading_by_default
    end

    # {key in the response => its nodes}
    def selected(type, selections)
      found = {}
      @operation.each_selected(type, selections) { |node| (found[-(node.alias || node.name)] ||= []) << node }
      found
    end

    def part(type, key, nodes, model)
      return constant(key, type.graphql_name) if nodes.first.name == "__typename"

      field = field_of(type, nodes)
      plain = PlainField.new(type, field)
      part = part_by_chain(type, key, nodes, field, plain, model)
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

      given = FieldArguments.new(field, nodes.first) if chain.parameters.any?
      return link(type, key, nodes, field, reflection, chain, given) if field.type.unwrap.kind.composite?

      calculation(key, field, reflection, chain, given) if Coercion.objection(field.type).nil?
    end

    def calculation(key, field, reflection, chain, given)
      return unless reflection.klass.connection_db_config.adapter == "postgresql"

      lookup = CalculationLookup.new(reflection, Projection.of(reflection.klass, []), chain, given)
      return unless narrows?(lookup)

      Part.new([lookup.owners_key], lambda do |columns|
        Calculation.new(key, field.type, reflection, lookup, columns.index(lookup.owners_key))
      end)
    end

    def objection_on_next(plain)
      return unless plain.other_on_next? && @operation.schema.respond_to?(:execute_next)

      "Execution::Next calls another method than `#{plain.reader}`"
    end

    def constant(key, value) = Part.new([], ->(_) { Plan::Constant.new(key, value) })

    def leaf(type, key, field, reader, model)
      stop("`#{PlainField.new(type, field).reader}` isn't one column", type, field) unless reader.columns? && reader.columns.one?
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
      stop(objection_to_inverse(reflection, plan), type, field)
      lookup = chain ? ChainLookup.new(reflection, plan.projection, chain, given) : Lookup.new(reflection, plan.projection)
      stop("the scope of `#{reflection.name}` leaves no columns out", type, field) unless narrows?(lookup)
      Part.new([lookup.owners_key], lambda do |columns|
        Link.new(key, field, reflection, lookup, columns.index(lookup.owners_key), plan, nullable: !field.type.non_null?)
      end)
    end

    def objection_to_link(type, field, reflection, many)
      item = Planner.item(field.type)
      return "#{item.to_type_signature} is no object type" unless item.kind.object?

      objection_to_association(type, field, reflection, many)
    end

    # Why it isn't the association's records that a field gives.
    def objection_to_association(type, field, reflection, many = reflection.collection?)
      returned = Planner.nullable(field.type)
      item = Planner.item(field.type)
      return "it is a connection" if field.connection?
      return "#{item.to_type_signature} is a leaf" unless item.kind.composite?
      return "`#{reflection.name}` isn't what #{returned.to_type_signature} says" unless many == returned.list?
      return "`scope_items` of #{item.graphql_name}" unless PlainField.new(type, field).unscoped?

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

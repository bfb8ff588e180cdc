# frozen_string_literal: true

module Pipeloader
  # A Demand, worked out for the records of one model.
  class ModelDemand
    # @return [Projection, nil] nil for whole rows
    attr_reader :projection

    # @return [Hash{Symbol => Demand}] by association
    attr_reader :children

    # @return [Array<String>] why the rows are whole
    attr_reader :reasons

    # @raise [UnknownColumnError]
    def initialize(demands, demand, model)
      @demands = demands
      @model = model
      @types = model.attribute_types
      @columns = PlainModel.of(model).record_keys
      @reasons = [demand.whole, PlainModel.of(model).objection].compact
      @children = {}
      @below = {} # {author: [[Types::User, [<Field name>]], …]}
      read_all(demand.sources)
      @projection = Projection.of(model, @columns) if @reasons.empty? && !(model.column_names - @columns).empty?
      freeze
    end

    # True if the model is as it was. It isn't after `reset_column_information`.
    def current? = @model.attribute_types.equal?(@types)

    private

    # A record is its associated records' own, where these know whose they are: what is selected below `works { writer }` of a
    # writer, is read of that writer.
    def read_all(sources)
      known = []
      until sources.empty?
        sources.each { |type, selections| read(type, selections) }
        known |= sources
        @children = @below.to_h { |name, below| [name, @demands.of(*below)] }
        sources = sources_of_inverses - known
      end
    end

    def sources_of_inverses
      backs = @children.filter_map do |name, child|
        inverse = inverse_of(name)
        child.child(@model.reflect_on_association(name).klass, inverse) if inverse
      end
      @reasons |= backs.filter_map(&:whole)
      backs.flat_map(&:sources)
    end

    # @return [Symbol, nil] the association by which the records of another one know their owner
    def inverse_of(name)
      reflection = @model.reflect_on_association(name)
      return if reflection.nil? || reflection.polymorphic? || reflection.through_reflection?

      inverse = reflection.inverse_of
      inverse.name if inverse && !inverse.collection? && !inverse.polymorphic?
    end

    def read(type, selections)
      types = @demands.possible_types(type)
      objections = types.filter_map { |it| @demands.objection(it) }
      @reasons |= objections if objections.size == types.size
      types.each do |object_type|
        sure = object_type.equal?(type)
        @demands.each_field(object_type, selections) do |node, field|
          read_field(object_type, node, field, sure)
        end
      end
    rescue DoesNotFit
      @reasons |= ["a fragment is on a type that this viewer doesn't see"]
    end

    # @param sure [Boolean] false if the record may be of another type
    def read_field(type, node, field, sure)
      return @reasons << "#{type.graphql_name}.#{node.name}: #{field}" unless field.is_a?(GraphQL::Schema::Field)

      footprint = Footprints.of(@demands.schema, type, field, @model)
      return if footprint.missing? && !sure
      raise UnknownColumnError, "#{footprint.reason}. Correct `selects:`." if footprint.missing? && declared?(type, field)

      objection = footprint.reason || @demands.objection(type)
      @reasons << objection if objection
      @columns |= footprint.columns
      descend(footprint.association, field.type.unwrap, node.selections) if footprint.association?
    end

    def declared?(type, field) = field.pipeloader_selects && @demands.schema.pipeloader_narrows?(type)

    def descend(association, type, selections)
      sources, whole = @demands.sources(type, selections)
      below = @below[association] ||= [[], nil]
      below[0] |= sources
      below[1] ||= whole
    end
  end
end

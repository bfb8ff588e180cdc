# frozen_string_literal: true

module Pipeloader
  # Says of each field of a schema's object types whether a plan can write it, and what keeps it from that. No query is executed.
  #
  #     Post: 11 of 12 fields
  #       excerpt: by graphql-ruby (resolver method `excerpt` on Types::Post; `excerpt` calls `render`),
  #         app/graphql/types/post.rb:12
  #     Stats: no model is known
  #
  #     11 of 12 fields of records are compiled (92 %)
  #
  # Which model's records a type's objects are, is told by its name, or else by an association that a field of another type gives.
  #
  # Whatever is below a field counts by itself. Limits: fields of the query and of mutations, which are resolved once; types of
  # other things than records.
  class SchemaExplanation
    # reason: nil where it is compiled. code: as CodeLocation's
    Told = Struct.new(:name, :reason, :code)

    LITERALS = { "Int" => "1", "Float" => "1.0", "String" => '"a"', "ID" => '"1"', "Boolean" => "true" }.freeze
    private_constant :LITERALS

    # @param models [Hash{Class, String => Class}] object types, or their names, of which the model isn't told otherwise
    # @raise [ArgumentError] unless the schema uses Pipeloader
    def initialize(schema, models)
      raise ArgumentError, "#{schema} doesn't `use Pipeloader`" unless schema.respond_to?(:pipeloader_footprints)

      @schema = schema
      @given = models.to_h { |type, model| [type.is_a?(String) ? type : type.graphql_name, model] }
      stranger = models.each_value.find { |model| !(model.is_a?(Class) && model < ActiveRecord::Base) }
      raise ArgumentError, "#{stranger.inspect} is no model" if stranger
    end

    # As a Hash, for tools.
    #
    #     {types: {"Post" => {model: "Post", fields: {"excerpt" => {compiled: false, reason: "…", location: "app/…:12"}, …}}, …},
    #      without_model: ["Stats"], compiled: 11, fields: 12}
    def to_h
      types = told.to_h do |type, fields|
        [type.graphql_name, { model: models.fetch(type).name, fields: fields.to_h { |it| [it.name, hash(it)] } }]
      end
      { types: types, without_model: without_model, compiled: compiled(all), fields: all.size }
    end

    def to_s
      lines = told.flat_map { |type, fields| lines(type, fields) }
      lines += without_model.map { |name| "#{name}: no model is known" }
      share = " (#{100 * compiled(all) / all.size} %)" if all.any?
      [*lines, "", "#{compiled(all)} of #{all.size} fields of records are compiled#{share}"].join("\n")
    end

    private

    def all = told.values.flatten
    def compiled(fields) = fields.count { |it| it.reason.nil? }
    def hash(told) = { compiled: told.reason.nil?, reason: told.reason, **told.code }.compact

    def lines(type, fields)
      left = fields.select(&:reason)
      ["#{type.graphql_name}: #{compiled(fields)} of #{fields.size} fields",
       *left.map { |it| "  #{it.name}: #{CodeLocation.text(hash(it))}" }]
    end

    def without_model = (object_types - models.keys).map(&:graphql_name)

    # Those of which a plan might write objects: connections are written with their nodes.
    def object_types
      roots = [@schema.query, @schema.mutation, @schema.subscription]
      @object_types ||= @schema.pipeloader_all_types.select do |type|
        type.kind.object? && !roots.include?(type) && !around?(type)
      end
    end

    def around?(type)
      ConnectionSelection.connection?(type) || type < ConnectionSelection::EDGE || type <= GraphQL::Types::Relay::PageInfo
    end

    # @return [Hash{Class => Class}] object types
    def models
      @models ||= follow(object_types.to_h { |type| [type, @given[type.graphql_name] || named(type)] }.compact)
    end

    # By the type's name, in the modules that it stands in.
    def named(type)
      homes = type.name.to_s.split("::").tap(&:pop)
      homes.size.downto(0).filter_map { |size| [*homes.take(size), type.graphql_name].join("::").safe_constantize }
           .find { |it| it.is_a?(Class) && it < ActiveRecord::Base && !it.abstract_class? }
    end

    def follow(known)
      queue = known.to_a
      until queue.empty?
        type, model = queue.shift
        type.all_field_definitions.each do |field|
          below, found = led_to(type, field, model)
          queue << [below, known[below] = found] if found && !known.key?(below) && object_types.include?(below)
        end
      end
      known
    end

    # @return [Array(Class, Class), nil] the object type of what a field gives, and its model
    def led_to(type, field, model)
      below = field.type.unwrap
      below = below.node_type if ConnectionSelection.connection?(below)
      reflection = model.reflect_on_association(PlainField.of(type, field).reader)
      [below, reflection.klass] if reflection && !reflection.polymorphic? && Readable.objection(reflection).nil?
    end

    # @return [Hash{Class => Array<Told>}]
    def told = @told ||= with_pipeloader { models.to_h { |type, model| [type, fields_of(type, model)] } }

    # Yields with Pipeloader on, also where `Pipeloader.enabled` says that it is off.
    def with_pipeloader(&) = Switch.decided(off: false) { DryRun.within_response(&) }

    def fields_of(type, model)
      fields = type.all_field_definitions.uniq(&:graphql_name)
      selected = fields.filter_map { |field| selected(field) }.join(" ")
      document = GraphQL.parse("fragment All on #{type.graphql_name} { __typename #{selected} }")
      operation = Operation.new(@schema, document, Conditions.new(@schema), nil)
      Plans.for(operation)
      analyzer = Analyzer.new(operation)
      reasons = reasons(analyzer, type, document.definitions.first.selections, model)
      fields.map do |field|
        reason = reasons.fetch(field.graphql_name, "it takes an argument that can't be made up")
        Told.new(field.graphql_name, reason&.delete_prefix("#{type.graphql_name}.#{field.graphql_name}: "),
                 reason ? CodeLocation.of(type, field, model, analyzer) : {})
      end
    end

    # @param selections [Array<GraphQL::Language::Nodes::Field>] __typename comes first
    # @return [Hash{String => String, nil}] why a field isn't compiled
    def reasons(analyzer, type, selections, model)
      stands = analyzer.selection(type, selections.first(1), model).reason
      analyzer.selection(type, selections, model).fields.transform_values { |field| field.reason || stands }
    rescue StandardError => e # of a model without a table, or of a database out of reach
      selections.to_h { |node| [node.name, e.message.lines.first.chomp] }
    end

    # @return [String, nil] the field, as a document selects it; nil where it takes what isn't known
    def selected(field)
      needed = field.all_argument_definitions.select { |it| it.type.non_null? && !it.default_value? }
      given = needed.to_h { |it| [it.graphql_name, literal(it.type)] }
      return if given.value?(nil)

      arguments = "(#{given.map { |name, literal| "#{name}: #{literal}" }.join(", ")})" if given.any?
      "#{field.graphql_name}#{arguments}#{below(field.type.unwrap)}"
    end

    def literal(type)
      item = type.unwrap
      literal = item.kind.enum? ? item.enum_values.first&.graphql_name : LITERALS[item.graphql_name]
      literal && type.list? ? "[#{literal}]" : literal
    end

    def below(type)
      return unless type.kind.composite?
      return " { __typename }" unless ConnectionSelection.connection?(type)

      type.get_field("nodes") ? " { nodes { __typename } }" : " { edges { node { __typename } } }"
    end
  end
end

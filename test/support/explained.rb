# frozen_string_literal: true

# What Pipeloader.explain says, compared with what is seen to run: resolver methods that are called, objects that are made.
module Explained
  # As graphql-ruby's own objects have one, and those that a Formula is tried on haven't.
  CONTEXT = :@context

  # @return [Pipeloader::Explanation]
  def assert_explained(schema, query, **options)
    explanation = nil
    called, made = ran(schema) { explanation = Pipeloader.explain(schema, query, **options) }
    fields = all_fields(explanation.to_h[:fields])
    objects, leaves = fields.partition { |field| field.key?(:fields) }
    assert_empty called & compiled_alone(leaves) { |field| [field[:field]] }, "resolvers that were called\n#{query}\n#{explanation}"
    assert_empty made & compiled_alone(objects) { |field| types(field) }, "objects that were made\n#{query}\n#{explanation}"
    return explanation if Engine::NEXT # (which does without objects)

    objects.reject { |field| field[:compiled] || nothing?(field) }.each do |field|
      refute_empty types(field) & made, "#{field[:key]}: no object was made\n#{query}\n#{explanation}" if field[:fields].any?
    end
    explanation
  end

  private

  def nothing?(field) = field[:reason] == "nothing came there"

  def all_fields(fields) = fields.flat_map { |field| [field, *all_fields(field.fetch(:fields, []))] }

  # The names of which all fields are compiled.
  def compiled_alone(fields, &names)
    compiled, others = fields.partition { |field| field[:compiled] }.map { |some| some.flat_map(&names) }
    compiled.uniq - others
  end

  # Of the objects that a field returned.
  def types(field) = field[:fields].map { |below| below[:field][/\A\w+/] }.uniq

  # @return [Array(Array<String>, Array<String>)] fields ("Post.title") whose resolver methods were called, and types whose
  #   objects were made
  def ran(schema, &block)
    called, made = [], []
    points = resolver_methods(schema).map do |method, fields|
      watching(method) { |object| called.concat(fields.fetch(object.class, [])) if object.instance_variable_get(CONTEXT) && !stand_in?(object) }
    end
    points << watching(GraphQL::Schema::Object.instance_method(:initialize)) { |object| made << object.class.graphql_name }
    block.call
    [called.uniq, made.uniq]
  ensure
    points.each(&:disable)
  end

  # What computes is given an object that has just the columns.
  def stand_in?(object) = object.instance_variable_get(:@object).is_a?(Struct)

  def watching(method) = TracePoint.new(:call) { |point| yield(point.self) }.tap { |it| it.enable(target: method) }

  # {method => {type => ["Post.excerpt"]}}
  def resolver_methods(schema)
    found = {}
    schema.pipeloader_all_types.select { |type| type.kind.object? }.each do |type|
      type.fields.each_value do |field|
        next unless type.method_defined?(field.resolver_method)

        method = type.instance_method(field.resolver_method)
        next unless RubyVM::InstructionSequence.of(method)

        ((found[method.source_location] ||= [method, {}]).last[type] ||= []) << "#{type.graphql_name}.#{field.graphql_name}"
      end
    end
    found.values
  end
end

# frozen_string_literal: true

require_relative "comparison"

# What the same code does in as many sibling fields as there are values.
module SiblingFields
  # Runs the block in as many sibling fields as there are +values+, without and with Pipeloader, and compares.
  #
  # @return [Array] what the fields of the second piped run brought, and [[name, reads], …] of its statements
  def assert_alike(values, &block)
    schemas = schemas_of(values.size)
    plain, = *schemas.map { |schema| answers_of(schema, values, &block) }
    answers = []
    piped = ActiveSupport::Notifications.subscribed(->(*, payload) { answers.concat(payload[:answers]) }, "burst.pipeloader") do
      answers_of(schemas.last, values, &block)
    end
    assert_equal plain.map { |it| Comparison.of(it) }, piped.map { |it| Comparison.of(it) }
    [piped, answers.map(&:last)]
  end

  def answers_of(schema, values)
    results = []
    resolve = lambda do |index|
      results[index] = begin
        yield values[index]
      rescue StandardError => e
        e
      end
      nil
    end
    schema.execute("{ #{Array.new(values.size) { |index| "f#{index}" }.join(" ")} }", context: { resolve: resolve })
    results
  end

  def schemas_of(fields) = SiblingFields.schemas(fields)

  # @return [Array<Class>] without and with Pipeloader: fields f0, f1, …, each calls what is in the context as :resolve
  def self.schemas(fields)
    query = Class.new(GraphQL::Schema::Object) { graphql_name "Query" }
    fields.times do |index|
      query.field :"f#{index}", String
      query.define_method(:"f#{index}") { context[:resolve].call(index) }
    end
    Schemas.make(query: query, mutation: nil)
  end
end

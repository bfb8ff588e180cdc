# frozen_string_literal: true

module Bench
  # A contender on graphql-ruby's other engine, GraphQL::Execution::Next, set up as an application on its way there would do
  # it: fields are sent to the object, but those that have a method on their type.
  module OnNext
    # graphql-ruby has it from 2.5.21 on.
    def load
      super if next?
    end

    def missing = next? ? super : "this graphql-ruby has no GraphQL::Execution::Next"

    private

    def next?
      require_gems
      GraphQL::Execution.const_defined?(:Next)
    end

    def plugins = [*super, GraphQL::Execution::Next]

    def execute = @schema.execute_next(@workload.document, variables: @workload.variables, context: @dataset.context)

    def adapt
      super
      @dataset.types.each_value do |type|
        next if type < GraphQL::Schema::Union

        type.own_fields.each_value do |field|
          next unless type.method_defined?(field.resolver_method) && mode(field) == :direct_send
          configure(field, :resolve_legacy_instance_method, field.resolver_method)
        end
      end
    end

    def mode(field) = field.instance_variable_get(:@execution_mode)

    # As if the field had been declared so. (The types are shared with the Interpreter's contenders, so they don't.)
    def configure(field, mode, key)
      field.instance_variable_set(:@execution_mode, mode)
      field.instance_variable_set(:@execution_mode_key, key)
    end
  end
end

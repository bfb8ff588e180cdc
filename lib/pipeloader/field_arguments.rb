# frozen_string_literal: true

module Pipeloader
  # What a field is given at one place of a document: the same for all objects.
  class FieldArguments
    METHODS = %i[authorized? authorized_as_type? coerce_into_values prepare_value load_and_authorize_value default_value
                 default_value?].freeze
    private_constant :METHODS

    class << self
      # Whether no code of the application's looks at what the field is given.
      def plain?(field)
        Host.graphql_alone?(field.method(:coerce_arguments)) && quiet?(field)
      end

      # Whether no code of the application's is called for one of the field's arguments.
      def quiet?(field)
        quiet = field.instance_variable_get(:@pipeloader_quiet)
        return quiet unless quiet.nil?

        quiet = field.all_argument_definitions.all? { |argument| plain_one?(argument) }
        field.instance_variable_set(:@pipeloader_quiet, quiet) unless field.frozen?
        quiet
      end

      private

      def plain_one?(argument)
        leaf = argument.type.unwrap
        argument.loads.nil? && argument.prepare.nil? && argument.validators.empty? &&
          METHODS.all? { |name| Host.graphql_alone?(argument.method(name)) } &&
          leaf.kind.leaf? && Host.graphql?(leaf.method(:coerce_input))
      end
    end

    #: (GraphQL::Schema::Field, GraphQL::Language::Nodes::Field) -> void
    def initialize(field, node)
      @field = field
      @node = node
    end

    # @return [Hash{Symbol => Object}] as the resolver method is given it
    # @raise [Unfit] where graphql-ruby has something to say
    def of(context)
      arguments = context.query.arguments_for(@node, @field)
      arguments.is_a?(GraphQL::Execution::Interpreter::Arguments) ? arguments.keyword_arguments : raise(Unfit)
    rescue GraphQL::Error
      raise Unfit
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # The arguments of a field at one place of a document, and what its resolver method asks of the context: the same for all
  # objects.
  class FieldArguments
    METHODS = %i[authorized? authorized_as_type? coerce_into_values prepare_value load_and_authorize_value default_value
                 default_value?].freeze
    private_constant :METHODS

    class << self
      # True if no code of the application's looks at what the field is given.
      def plain?(field)
        Provenance.graphql_alone?(field.method(:coerce_arguments)) && quiet?(field)
      end

      # True if no code of the application's is called for one of the arguments of a field, or directive.
      def quiet?(field)
        known = known_by(field.is_a?(Module) ? field : field.owner) or return all_plain?(field)
        quiet = known[field]
        quiet.nil? ? known[field] = all_plain?(field) : quiet
      end

      private

      # Kept by the type's singleton class: fields, and types, have one object shape in graphql-ruby.
      #
      # @return [Hash{GraphQL::Schema::Field, Class => Boolean}, nil]
      def known_by(type)
        return if type.nil? || type.frozen?

        home = type.singleton_class
        home.instance_variable_get(:@pipeloader_quiet) || home.instance_variable_set(:@pipeloader_quiet, {}.compare_by_identity)
      end

      def all_plain?(field) = field.all_argument_definitions.all? { |argument| plain_one?(argument) }

      def plain_one?(argument)
        leaf = argument.type.unwrap
        argument.loads.nil? && argument.prepare.nil? && argument.validators.empty? &&
          METHODS.all? { |name| Provenance.graphql_alone?(argument.method(name)) } &&
          leaf.kind.leaf? && Provenance.graphql?(leaf.method(:coerce_input))
      end
    end

    # @param method [Chain, Formula] what the field does with them
    #
    #: (GraphQL::Schema::Field, GraphQL::Language::Nodes::Field, (Chain | Formula)) -> void
    def initialize(field, node, method)
      @field = field
      @node = node
      @contexts = method.parameters.keys.grep_v(Symbol)
    end

    # @return [Hash{Symbol, ContextValue => Object}] as the resolver method is given it, and as it finds it
    # @raise [DoesNotFit] where graphql-ruby has something to say
    def of(context)
      arguments = context.query.arguments_for(@node, @field)
      raise DoesNotFit unless arguments.is_a?(GraphQL::Execution::Interpreter::Arguments)
      return arguments.keyword_arguments if @contexts.empty?

      { **arguments.keyword_arguments, **@contexts.to_h { |value| [value, ContextAnswer.of(value, context)] } }
    rescue GraphQL::Error
      raise DoesNotFit
    end
  end
end

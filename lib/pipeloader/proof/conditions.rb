# frozen_string_literal: true

module Pipeloader
  # Decides which parts of a document are in the operation that runs: by @skip and @include, and by the types that fragments are
  # on. A directive of the application's own stays foreign, even under one of those names.
  class Conditions
    DIRECTIVES = { "skip" => GraphQL::Schema::Directive::Skip, "include" => GraphQL::Schema::Directive::Include }.freeze
    NONE = {}.freeze
    private_constant :DIRECTIVES, :NONE

    # What a document asks of the query that executes it.
    #
    #     { posts { id @skip(if: $short) ... on Node { id } } }    # variables: ["short"], types: ["Node"]
    Asked = Struct.new(:variables, :types) do
      # @return [Hash{String => Object}, nil] of the variables
      def values(query) = (variables.to_h { |name| [name, query.variables[name]] } unless variables.empty?)

      # @return [Hash{String => Array<Class>, nil}, nil] the object types that interfaces and unions stand for to who asks; nil in
      #   place of those of a type that isn't known. An object type stands for itself.
      def seen(query)
        found = nil
        types.each do |name|
          type = type(query, name)
          (found ||= {})[name] = type && query.types.possible_types(type) unless type&.kind&.object?
        end
        found
      end

      private

      def type(query, name)
        query.types.type(name)
      rescue GraphQL::Schema::DuplicateNamesError # graphql-ruby raises this when it reaches the fragment
        nil
      end
    end

    class << self
      # @return [Asked]
      def asked(document)
        asked = Asked.new([], [])
        document.definitions.each { |it| collect(it, asked) if it.respond_to?(:selections) }
        asked.each(&:uniq!)
        asked
      end

      private

      def collect(node, asked)
        asked.types << node.type.name if typed?(node)
        node.selections.each do |selection|
          selection.directives.each { |it| asked.variables.concat(variables(it)) if DIRECTIVES.key?(it.name) }
          collect(selection, asked) if selection.respond_to?(:selections)
        end
      end

      def typed?(node)
        case node
        when GraphQL::Language::Nodes::InlineFragment then !node.type.nil?
        when GraphQL::Language::Nodes::FragmentDefinition then true
        end
      end

      def variables(directive)
        directive.arguments.map(&:value).grep(GraphQL::Language::Nodes::VariableIdentifier).map(&:name)
      end
    end

    # @param values [Hash{String => Object}] of the variables that @skip and @include ask
    # @param seen [Hash{String => Array<Class>, nil}] as Asked#seen
    def initialize(schema, values = nil, seen = nil)
      given = schema.directives
      @own = DIRECTIVES.select { |name, directive| directive.equal?(given[name]) }.keys
      @values = values || NONE
      @seen = seen || NONE
    end

    # True if @skip and @include let a part be.
    def met?(node)
      node.directives.empty? || node.directives.all? do |directive|
        next true unless @own.include?(directive.name)

        value = directive.arguments.first.value # `if`, their only one
        value = @values.fetch(value.name) if value.is_a?(GraphQL::Language::Nodes::VariableIdentifier)
        directive.name == "skip" ? !value : value
      end
    end

    # True if objects of +type+ meet a fragment's condition.
    #
    # @raise [DoesNotFit] where who asks knows no such type
    def of_type?(type, name)
      return true if type.graphql_name == name
      return false unless @seen.key?(name)

      (@seen.fetch(name) || raise(DoesNotFit)).include?(type)
    end

    # True if the application's own directives see what is below.
    def foreign?(node) = node.directives.any? { |directive| !@own.include?(directive.name) }

    # True if they see any part of it.
    def foreign_within?(node)
      return false unless node.respond_to?(:selections)

      foreign?(node) || node.selections.any? { |it| it.respond_to?(:selections) ? foreign_within?(it) : foreign?(it) }
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # @skip and @include: whether a part of a document is in the operation that runs.
  module Conditions
    NAMES = %w[skip include].freeze

    class << self
      # @return [Array<String>] variables that they ask
      def variables(document)
        names = []
        document.definitions.each { |definition| collect(definition, names) if definition.respond_to?(:selections) }
        names.uniq
      end

      # @param values [Hash{String => Object}] of those variables
      def met?(node, values)
        node.directives.empty? || node.directives.all? do |directive|
          next true unless NAMES.include?(directive.name)

          value = directive.arguments.first.value # `if`, their only one
          value = values.fetch(value.name) if value.is_a?(GraphQL::Language::Nodes::VariableIdentifier)
          directive.name == "skip" ? !value : value
        end
      end

      # True if the application's own directives see what is below.
      def foreign?(node) = node.directives.any? { |directive| !NAMES.include?(directive.name) }

      # True if they see any part of it.
      def foreign_within?(node)
        return false unless node.respond_to?(:selections)

        foreign?(node) || node.selections.any? { |it| it.respond_to?(:selections) ? foreign_within?(it) : foreign?(it) }
      end

      private

      def collect(node, names)
        node.selections.each do |selection|
          selection.directives.each do |directive|
            next unless NAMES.include?(directive.name)

            directive.arguments.each do |it|
              names << it.value.name if it.value.is_a?(GraphQL::Language::Nodes::VariableIdentifier)
            end
          end
          collect(selection, names) if selection.respond_to?(:selections)
        end
      end
    end
  end
end

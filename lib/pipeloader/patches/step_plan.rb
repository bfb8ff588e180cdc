# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::FieldResolveStep (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: see RuntimePlan. Here the values of a field for all its objects come at once.
    # Falls through when:: the field is a leaf, directives of the application's have seen it, or as RuntimePlan, be it
    #   for one of several values.
    module StepPlan
      def build_results
        pipeloader_plan if @post_processors.nil? && @directive_finalizers.nil? && @field_definition.type.unwrap.kind.composite?
        super
      end

      private

      def pipeloader_plan
        query = @selections_step.query
        return unless ResolverFiber.current && (plans = Plans.of(query))

        selections = @ast_nodes ? @ast_nodes.flat_map(&:selections) : @ast_node.selections
        trees = plans.grow_all(@field_results, @field_definition.type, selections, @ast_node, query.context)
        pipeloader_write(trees) if trees.any?
      end

      # A field is the plan's or graphql-ruby's, for all its objects: where the values of one can't be read, it says so at the
      # first, and gives up the others.
      def pipeloader_write(trees)
        left = trees.each_index.reject { |index| trees[index] }
        return unless left.all? { |index| pipeloader_nothing?(@field_results[index]) }

        trees.each_with_index { |tree, index| @results[index][@key] = tree if tree }
        @results = @results.values_at(*left)
        @field_results = @field_results.values_at(*left)
      end

      # Whether it brings no objects. (A relation would be read if it were compared.)
      def pipeloader_nothing?(value)
        value.nil? || value.is_a?(GraphQL::ExecutionError) || (value.is_a?(Array) && value.empty?)
      end
    end
  end
end

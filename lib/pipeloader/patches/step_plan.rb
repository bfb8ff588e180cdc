# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::FieldResolveStep (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: see RuntimePlan. Here the values of a field for all its objects come at once.
    # Falls through when:: the field is a leaf, directives of the application's have seen it, or as RuntimePlan, be it
    #   for one of several values.
    module StepPlan
      #: () -> TimeLimit?
      attr_accessor :pipeloader_time_limit

      def build_results
        if @field_definition.type.unwrap.kind.composite?
          ResolverFiber.current&.settle
          pipeloader_plan if @post_processors.nil? && @directive_finalizers.nil?
        end
        super
      end

      private

      def pipeloader_plan
        query = @selections_step.query
        return unless ResolverFiber.current && pipeloader_one_for_each? && (plans = Plans.of(query))

        query.context.pipeloader_types = @runner.runtime_type_at
        trees = FieldClock.within(query) do
          plans.grow_all(@field_results, @field_definition.type, pipeloader_selections, @ast_node, query.context)
        end
        pipeloader_write(trees) if trees&.any?
      end

      # True if `resolve_batch` has returned as many as it was to.
      def pipeloader_one_for_each? = @field_results.is_a?(Array) && @field_results.size == @results.size

      # The selections below the field. Its nodes may be listed even if there is only one.
      def pipeloader_selections = @ast_nodes&.many? ? @ast_nodes.flat_map(&:selections) : @ast_node.selections

      # A field is the plan's or graphql-ruby's, for all its objects: where the values of one can't be read, it says so at the
      # first, and gives up the others.
      def pipeloader_write(trees)
        left = trees.each_index.reject { |index| trees[index] }
        return unless left.all? { |index| pipeloader_nothing?(@field_results[index]) }
        return if @field_definition.type.non_null? && left.any? { |index| @field_results[index].nil? } # `type_error` may raise

        trees.each_with_index { |tree, index| @results[index][@key] = tree if tree }
        # A list of arguments has its limits.
        @results, @field_results = [@results, @field_results].map { |all| left.map { |index| all[index] } }
      end

      # True if it brings no objects. To compare a relation would read it.
      def pipeloader_nothing?(value)
        value.nil? || value.is_a?(GraphQL::ExecutionError) || (value.is_a?(Array) && value.empty?)
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter::Runtime
    # Since:: graphql 2.5.2; put on when projection is first asked for
    # Why no public seam does it:: a relation has to know what is selected below its field when it is read, and that is when
    #   graphql-ruby first looks at what the resolver returned. A field extension would be one more object for every field, and
    #   has another interface in Execution::Next.
    # Falls through when:: the value is a leaf, or an item of a list.
    module RuntimeProjection
      def continue_field(value, owner_type, field, current_type, ast_node, next_selections, is_non_null, owner_object,
                         arguments, result_name, selection_result, was_scoped, runtime_state)
        if field && next_selections && !next_selections.empty? && !result_name.is_a?(Integer) && (demands = pipeloader_demands)
          demands.expect(value, field.type.unwrap, next_selections, ast_node)
        end
        super
      end

      def pipeloader_expect(records, type, selections, node)
        pipeloader_demands&.expect(records, type, selections, node)
      end

      private

      def pipeloader_demands
        return @pipeloader_demands if defined?(@pipeloader_demands)

        @pipeloader_demands = (Operation.of(@query)&.demands if ResolverFiber.current)
      end
    end
  end
end

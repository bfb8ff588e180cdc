# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter::Runtime
    # Since:: graphql 2.5.2
    # Why no public seam does it:: every value comes through here before it is written to the response, and errors are
    #   listed, and parents nulled, in the order in which they come. See Run.
    # Falls through when:: the value is no failure, or the current fiber is not a resolver's.
    module InterpreterRuntime
      HALT = GraphQL::Execution::Interpreter::Runtime::HALT
      LIST = GraphQL::Execution::Interpreter::Runtime::GraphQLResultArray
      private_constant :HALT, :LIST

      # What is around the execution, without a dataloader, is around all fields.
      def run_eager
        fiber = ResolverFiber.current
        return super if fiber.nil? || !fiber.loader.pipeloader_depth_first?
        raise Enclosures::Directed if fiber.job&.parent.nil? && Enclosures.directed?(@query) && Attempt.current&.restarts?

        Enclosures.traced?(@query) ? fiber.loader.pipeloader_enclosed { super } : super
      end

      # A field below what has become null isn't begun, and so raises nothing. Here it may have been begun before.
      def evaluate_selection(_result_name, _nodes, result)
        super
      rescue StandardError, ScriptError => e
        pipeloader_raise(e, result)
      end

      # As the above, of an +object+ that isn't the result's.
      def pipeloader_resolve(field, object, nodes, result, result_name, keywords, arguments)
        evaluate_selection_with_resolved_keyword_args(keywords, arguments, field, nodes.first, (nodes unless nodes.one?), object,
                                                      result_name, result, get_current_runtime_state)
      rescue StandardError, ScriptError => e
        pipeloader_raise(e, result)
      end

      # Goes on with the +value+ of a +field+ of the result's object.
      #
      # @return [Boolean] whether no code of the application's has run since it was seen what that field's has left
      def pipeloader_continue(value, field, nodes, result, name, arguments, state)
        type = field.type
        node = nodes.is_a?(Array) ? nodes.first : nodes
        continued = continue_value(value, field, type.non_null?, node, name, result)
        return false if HALT.equal?(continued)

        selections = nodes.equal?(node) || nodes.one? ? node.selections : nodes.flat_map(&:selections)
        scoped, state.was_authorized_by_scope_items = state.was_authorized_by_scope_items, nil
        came = continue_field(continued, result.graphql_result_type, field, type, node, selections, false,
                              result.graphql_application_value, arguments, name, result, scoped, state)
        !came.nil? && came.equal?(ResolverFiber.current&.brought)
      rescue StandardError, ScriptError => e
        pipeloader_raise(e, result)
        false
      end

      # True if graphql-ruby wouldn't have begun what it is at: an object above it has become null before.
      def pipeloader_unbegun?
        fiber, state = ResolverFiber.current, get_current_runtime_state
        !fiber.nil? && pipeloader_dead?(state.current_result, pipeloader_begun_by(fiber.job, state))
      end

      # A null where none may be; or a lazy value, of which it notes by whom it was begun.
      def set_result(result, name, value, is_child_result, is_non_null)
        case value
        when nil then ResolverFiber.current&.await_turn if is_non_null && !result.graphql_dead
        when GraphQL::Execution::Lazy then pipeloader_note_lazy(result, name, ResolverFiber.current&.job)
        end
        super
      end

      # Notes who does it.
      def set_graphql_dead(result)
        if (job = ResolverFiber.current&.job) && result.respond_to?(:graphql_dead=)
          Attempt.current&.lose_fields
          (@pipeloader_killers ||= {}.compare_by_identity)[result] = job
        end
        super
      end

      def continue_value(value, field, is_non_null, ast_node, result_name, selection_result)
        case value
        when GraphQL::Error then ResolverFiber.current&.await_turn
        when Array then ResolverFiber.current&.await_turn if value.first.is_a?(GraphQL::ExecutionError)
        end
        super
      end

      private

      def pipeloader_note_lazy(result, name, job)
        return unless job

        ((@pipeloader_lazy ||= {}.compare_by_identity)[result] ||= {})[name] = job
      end

      # @return [Job, nil] in which a serial run begins what the runtime is at: an item is gone through where its list is, and a
      #   lazy value is one from where it came
      def pipeloader_begun_by(job, state)
        result = state.current_result
        while LIST === result
          job = job&.parent unless result.graphql_result_type.unwrap.kind.input? # scalars and enums have no jobs
          list, result = true, result.graphql_parent
        end
        (@pipeloader_lazy&.dig(result, state.current_result_name) unless list) || job
      end

      # True if a +result+ was dead when a serial run would have come to what a +job+ does.
      def pipeloader_dead?(result, job)
        return false unless job && @pipeloader_killers && result&.graphql_dead

        while result
          killer = @pipeloader_killers[result]
          return true if killer && job.behind?(killer)

          result = result.graphql_parent
        end
        false
      end

      def pipeloader_raise(error, result)
        raise error if TimedOut === error || (fiber = ResolverFiber.current).nil?

        fiber.await_turn
        raise error unless pipeloader_dead?(result, fiber.job)
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter::Runtime
    # Since:: graphql 2.5.2
    # Why no public seam does it:: every value comes through here before it is written to the response, and errors are
    #   listed, and parents nulled, in the order in which they come. See Run.
    # Falls through when:: the value is no failure, or the current fiber is not a resolver's.
    module InterpreterRuntime
      # What was null, where none may be: its path, and how deep in that the last lazy value is, -1 without any. Those come when
      # all that is beside them has begun.
      Killer = Struct.new(:path, :last_lazy) do
        # True if it came before +other+ began in one +object+ that it has made null.
        #
        # @param other [Array<String, Integer>] a path
        def before?(other, object)
          depth = object.path.size
          return false if last_lazy >= depth || !object.respond_to?(:ordered_result_keys)
          return false if path.first(depth) != other.first(depth)

          own, others = path[depth], other[depth]
          order = object.ordered_result_keys
          own != others && (order.nil? || order.index(own).to_i < order.index(others).to_i)
        end
      end
      HALT = GraphQL::Execution::Interpreter::Runtime::HALT
      private_constant :Killer, :HALT

      # What is around the execution, without a dataloader, is around all fields.
      def run_eager
        fiber = ResolverFiber.current
        return super if fiber.nil? || !fiber.loader.pipeloader_depth_first?
        raise Enclosures::Directed if fiber.job&.parent.nil? && Attempt.current&.restarts? && Enclosures.directed?(@query)

        Enclosures.traced?(@query) ? fiber.loader.pipeloader_enclosed { super } : super
      end

      # A field below what has become null isn't begun, and so raises nothing. Here it may have been begun before.
      def evaluate_selection(result_name, _nodes, result)
        super
      rescue StandardError, ScriptError => e
        pipeloader_raise(e, result, result_name)
      end

      # As the above, of an +object+ that isn't the result's.
      def pipeloader_resolve(field, object, nodes, result, result_name, keywords, arguments)
        evaluate_selection_with_resolved_keyword_args(keywords, arguments, field, nodes.first, (nodes unless nodes.one?), object,
                                                      result_name, result, get_current_runtime_state)
      rescue StandardError, ScriptError => e
        pipeloader_raise(e, result, result_name)
      end

      # Goes on with the +value+ of a +field+ of the result's object.
      def pipeloader_continue(value, field, nodes, result, name, arguments, state)
        type = field.type
        node = nodes.is_a?(Array) ? nodes.first : nodes
        continued = continue_value(value, field, type.non_null?, node, name, result)
        return if HALT.equal?(continued)

        selections = nodes.equal?(node) || nodes.one? ? node.selections : nodes.flat_map(&:selections)
        scoped, state.was_authorized_by_scope_items = state.was_authorized_by_scope_items, nil
        continue_field(continued, result.graphql_result_type, field, type, node, selections, false,
                       result.graphql_application_value, arguments, name, result, scoped, state)
      rescue StandardError, ScriptError => e
        pipeloader_raise(e, result, name)
      end

      # True if graphql-ruby wouldn't have begun what it is at: another field before it has made an object above null.
      def pipeloader_unbegun?
        state = get_current_runtime_state
        pipeloader_dead?(state.current_result, state.current_result_name)
      end

      # A null where none may be.
      def set_result(result, name, value, is_child_result, is_non_null)
        ((@pipeloader_lazy ||= {}.compare_by_identity)[result] ||= {})[name] = true if GraphQL::Execution::Lazy === value
        return super unless value.nil? && is_non_null && !result.graphql_dead && (fiber = ResolverFiber.current)

        fiber.await_turn
        pipeloader_killing(result, name) { super }
      end

      # Notes who does it.
      def set_graphql_dead(result)
        if @pipeloader_killer && result.respond_to?(:graphql_dead=)
          Attempt.current&.lose_fields
          (@pipeloader_killers ||= {}.compare_by_identity)[result] = @pipeloader_killer
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

      # Yields, to make null what is above a field: by the one that is null itself, be it in a list.
      def pipeloader_killing(result, name)
        outer = @pipeloader_killer
        @pipeloader_killer ||= Killer.new([*result.path, name], pipeloader_depth_of_lazy(result, name))
        yield
      ensure
        @pipeloader_killer = outer
      end

      def pipeloader_depth_of_lazy(result, name)
        return -1 unless @pipeloader_lazy

        result, name = result.graphql_parent, result.graphql_result_name until result.nil? || @pipeloader_lazy[result]&.key?(name)
        result ? result.path.size : -1
      end

      # As #pipeloader_unbegun?, of what a +result+ has by that +name+.
      def pipeloader_dead?(result, name)
        return false unless result&.graphql_dead && @pipeloader_killers

        path = [*result.path, name]
        while result
          return true if @pipeloader_killers[result]&.before?(path, result)

          result = result.graphql_parent
        end
        false
      end

      def pipeloader_raise(error, result, name)
        raise error if TimedOut === error || (fiber = ResolverFiber.current).nil?

        fiber.await_turn
        raise error unless pipeloader_dead?(result, name)
      end
    end
  end
end

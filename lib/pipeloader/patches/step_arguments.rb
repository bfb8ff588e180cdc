# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::InputValues (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: arguments are loaded by steps of their own. Without a dataloader each step is done where it is
    #   asked for: the first one that fails is the field's error, and `prepare` is given what has been loaded.
    # Falls through when:: no code of the application's looks at the arguments; the loader isn't ours, or extends one under which
    #   the steps are done later, too.
    module StepArguments
      def argument_values(owner, nodes, field_step)
        loader = @runner.dataloader if field_step
        return super unless Loader === loader && loader.pipeloader_depth_first? && ResolverFiber.of(loader)
        return super if FieldArguments.quiet?(owner)

        values = nil
        loader.pipeloader_collect(Steps.new) do
          values = super
          loader.pipeloader_do_collected
        end
        values
      end

      # Arguments to load: they keep their order.
      class Steps < Array
        def <<(step)
          step.pipeloader_reserve if GraphQL::Execution::LoadArgumentStep === step
          super
        end
      end
    end

    # Host:: GraphQL::Schema::Argument
    # Since:: graphql 2.6
    # Why no public seam does it:: what is prepared has been loaded, see StepArguments; and `rescue_from` hears of it in its turn.
    # Falls through when:: nobody collects what is to be loaded.
    module StepPreparation
      def prepare_value(object, value, context: nil)
        loader = context&.dataloader
        return super unless Loader === loader && loader.pipeloader_collects?

        begin
          loader.pipeloader_do_collected if pipeloader_looks_inside?
          super
        rescue TimedOut
          raise
        rescue StandardError
          loader.pipeloader_do_collected
          ResolverFiber.current.await_turn
          raise
        end
      end

      private

      # True if code of the application's sees the input objects that it is given.
      def pipeloader_looks_inside?
        input = type.unwrap
        return false unless input.kind.input_object?

        !prepare.nil? || validators.any? || input.validators.any? ||
          !input.method_defined?(:prepare) || !input.instance_method(:prepare).owner.equal?(GraphQL::Schema::InputObject)
      end
    end

    # Host:: GraphQL::Schema::InputObject
    # Since:: graphql 2.6
    # Why no public seam does it:: it calls the methods that prepare what has been loaded, see StepArguments.
    # Falls through when:: there are no such methods, or nothing waits to be loaded.
    module StepInput
      def initialize(arguments, ruby_kwargs:, context:, defaults_used:)
        loader = context&.dataloader
        if Loader === loader && context.types.arguments(self.class).any? { |argument| argument.prepare.is_a?(Symbol) }
          loader.pipeloader_do_collected
        end
        super
      end
    end

    # Host:: GraphQL::Execution::LoadArgumentStep (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: see StepArguments. When one ends it is the only one that its field waits for, and what it
    #   leads to is done at once.
    # Falls through when:: nobody loads arguments side by side.
    module StepTurn
      # Its field waits for it when it has begun, and it has its place among the arguments.
      def pipeloader_reserve
        @field_resolve_step.pending_steps.delete(self)
        @arguments[@argument_key] = nil
      end

      def call
        super
        pipeloader_wait if !@pipeloader_assigned && ArgumentGroup.under_way?(@field_resolve_step.runner.dataloader)
      end

      private

      def assign_value
        @pipeloader_assigned = true
        loader = @field_resolve_step.runner.dataloader
        return super unless ArgumentGroup.under_way?(loader)

        @field_resolve_step.pending_steps.push(self)
        ArgumentGroup.outside { loader.pipeloader_at_once { super } }
      end

      # For a lazy value.
      def pipeloader_wait
        @field_resolve_step.pending_steps.push(self)
        @arguments.delete(@argument_key) if @arguments.is_a?(Hash)
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::FieldResolveStep, by StepResolvers
    # Since:: graphql 2.6
    # Why no public seam does it:: graphql-ruby calls a field's method for all objects in one loop.
    # Falls through when:: never. In a file of its own, so that Bugs tells what a method raises from what StepResolvers does.
    module StepCalls
      private

      # As graphql-ruby does, without an array for each object.
      def pipeloader_send(object, arguments)
        pipeloader_call(object, arguments)
      rescue StandardError => e
        begin
          @selections_step.query.handle_or_reraise(e, object: object, field: @field_definition, arguments: arguments)
        rescue GraphQL::ExecutionError => e
          e
        end
      end

      def pipeloader_call(object, arguments)
        ResolverFiber.current.subject = object
        method = @field_definition.execution_mode_key
        return object.public_send(method) if arguments.empty? # to pass none on takes a Hash

        object.public_send(method, **arguments)
      rescue GraphQL::ExecutionError => e
        e
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Schema::Field
    # Since:: graphql 2.5.2
    # Why no public seam does it:: arguments are coerced by jobs. Without a dataloader these are done where they are asked for:
    #   that is what `context[:current_path]` says to `prepare`, and the path of an error.
    # Falls through when:: the loader isn't ours, or extends one under which they are done later, too.
    module ArgumentPosition
      def coerce_arguments(parent_object, values, context, &block)
        loader = context.dataloader
        return super unless block && loader.is_a?(Loader) && loader.pipeloader_depth_first?
        return loader.pipeloader_do_here { super } if FieldArguments.quiet?(self)

        coerced = nil
        loader.pipeloader_do_side_by_side do
          super(parent_object, values, context) do |arguments|
            arguments.is_a?(GraphQL::Error) ? ArgumentGroup.outside { yield(arguments) } : coerced = arguments
          end
        end
        yield(coerced) if coerced
        nil
      end
    end

    # Host:: GraphQL::Schema::InputObject's class
    # Since:: graphql 2.5.2
    # Why no public seam does it:: its arguments are coerced before the next argument of its field. See ArgumentGroup.
    # Falls through when:: nobody coerces a field's arguments side by side.
    module InputPosition
      def coerce_arguments(...) = ArgumentGroup.in_turn { super }
    end

    # Host:: GraphQL::Schema::Argument
    # Since:: graphql 2.5.2
    # Why no public seam does it:: one argument is loaded before the next one is. See ArgumentGroup.
    # Falls through when:: nobody coerces a field's arguments side by side.
    module ArgumentTurn
      def prepare_value(...) = loads ? super : ArgumentGroup.in_turn { super }

      def load_and_authorize_value(...) = ArgumentGroup.in_turn { super }
    end

    # Host:: GraphQL::Schema::Member::HasArguments::ArgumentObjectLoader
    # Since:: graphql 2.5.2
    # Why no public seam does it:: as ArgumentTurn, for the items of a list, and for Execution::Next's steps.
    # Falls through when:: nobody coerces a field's arguments side by side.
    module LoadTurn
      def load_and_authorize_application_object(...) = ArgumentGroup.in_turn { super }
    end

    # Host:: GraphQL::Execution::Interpreter::ArgumentsCache
    # Since:: graphql 2.5.2
    # Why no public seam does it:: the objects of a list share their field's arguments. Those that come while the first one's are
    #   loaded would load them again.
    # Falls through when:: the loader isn't ours, or extends one under which each loads them, too; or they depend on the object.
    module SharedArguments
      def dataload_for(ast_node, field, parent_object)
        return super unless (fiber = pipeloader_fiber(field))

        flights = (@pipeloader_flights ||= {}.compare_by_identity)[field] ||= {}.compare_by_identity
        if (under_way = flights[ast_node])
          under_way.await(fiber)
          return super
        end
        flight = flights[ast_node] = Flight.new(fiber)
        super do |arguments|
          flight.land unless arguments.is_a?(GraphQL::Error)
          yield(arguments)
        end
      ensure
        flight&.land
      end

      private

      def pipeloader_fiber(field)
        return unless Loader === @dataloader && @dataloader.pipeloader_depth_first?

        ResolverFiber.of(@dataloader) if !FieldArguments.quiet?(field) && field.arguments_statically_coercible?
      end
    end

    # Host:: GraphQL::Execution::Interpreter::ArgumentsCache
    # Since:: graphql 2.5.2
    # Why no public seam does it:: under GraphQL::Dataloader the objects of a list coerce their field's arguments by jobs of their
    #   own, and go on behind these. An object that finds them here, because it came later than it would there, skips the jobs.
    # Falls through when:: the loader isn't ours, or has no queue; or the arguments depend on the object.
    module QueuedArguments
      def dataload_for(ast_node, field, parent_object)
        return super unless (job = pipeloader_queued_job(field))

        coerced = (@pipeloader_coerced ||= {}.compare_by_identity)[field] ||= {}.compare_by_identity
        if (last = coerced[ast_node])
          job.wait_for_arguments(@query.context.types.arguments(field).size) if job.compare(last).negative?
          return super
        end
        super do |arguments|
          coerced[ast_node] ||= ResolverFiber.current&.job
          yield(arguments)
        end
      end

      private

      def pipeloader_queued_job(field)
        return unless Loader === @dataloader && !@dataloader.pipeloader_depth_first? && field.arguments_statically_coercible?

        ResolverFiber.of(@dataloader)&.job
      end
    end
  end
end

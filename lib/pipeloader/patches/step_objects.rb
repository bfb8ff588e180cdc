# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::PrepareObjectStep (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: what an object's type says of it, `resolve_type` and `authorized?`, is asked by a step of its
    #   own. Without a dataloader that is done inside of the field's, which says in an error's message whose it is.
    # Falls through when:: it raises nothing, or steps are done later without Pipeloader, too.
    module StepObjects
      def call
        pipeloader_inside? ? @field_resolve_step.pipeloader_named { super() } : super
      end

      # Its type, or whether it is authorized, is a lazy value.
      def value
        @pipeloader_late = true
        super
      end

      def pipeloader_late? = @pipeloader_late || false

      # @return what is in the response in its place
      def pipeloader_result = @graphql_result[@key]

      private

      def pipeloader_inside? = ResolverFiber.current&.loader&.pipeloader_depth_first?
    end

    # Host:: GraphQL::Execution::FieldResolveStep (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: a field's objects are listed as they get through. Those that read for it would come behind
    #   those that don't.
    # Falls through when:: no object waits; sources of the schema's own dataloader have been asked, whose objects do come later.
    module StepOrder
      # When an object gets through without Pipeloader: lazy ones last.
      ORDER = %i[listed prepared late].each_with_index.to_h.freeze
      private_constant :ORDER

      def enqueue_next_steps
        pipeloader_put_in_order if @pipeloader_through && @all_next_results.size > 1 && pipeloader_orders?
        super
      end

      # Without a dataloader it never stops here: a null below makes it stop no more.
      def call
        return super unless @pipeloader_through && @enqueued_authorization && pipeloader_goes_on?

        pipeloader_named do
          set_current_field
          enqueue_next_steps
        ensure
          set_current_field(nil)
        end
      end

      # Yields; what is raised says of which field it is.
      def pipeloader_named
        yield
      rescue StandardError => e
        raise if @field_definition.nil? || e.message.start_with?("Resolving ")

        raise e, "Resolving #{@field_definition.path}: #{e.message}", e.backtrace
      end

      # @param step [GraphQL::Execution::PrepareObjectStep]
      def authorized_finished(step)
        if ResolverFiber.current
          through = @pipeloader_through ||= {}.compare_by_identity
          through[step.pipeloader_result] = step.pipeloader_late? ? :late : :prepared
        end
        super
      end

      private

      def pipeloader_goes_on?
        loader = @runner.dataloader
        Loader === loader && loader.pipeloader_depth_first? && !@pipeloader_through.value?(:late)
      end

      def pipeloader_orders?
        loader = @runner.dataloader
        Loader === loader && (loader.pipeloader_depth_first? || !loader.pipeloader_sourced?)
      end

      def pipeloader_put_in_order
        places = {}.compare_by_identity
        @results.each { |result| pipeloader_number(result[@key], places) }
        order = @all_next_results.each_index.sort_by do |index|
          result = @all_next_results[index]
          [pipeloader_when(result), places.fetch(result, index)]
        end
        objects, results = @all_next_objects, @all_next_results
        # By `values_at(*order)`, a long list wouldn't fit on the fiber's stack.
        @all_next_objects, @all_next_results = [objects, results].map { |all| order.map { |at| all[at] } }
      end

      # Without a dataloader each object is prepared as it is listed.
      def pipeloader_when(result)
        through = @pipeloader_through.fetch(result, :listed)
        through == :prepared && @runner.dataloader.pipeloader_depth_first? ? ORDER[:listed] : ORDER[through]
      end

      # As they are in the response.
      def pipeloader_number(value, places)
        case value
        when Array then value.each { |item| pipeloader_number(item, places) }
        when Hash then places[value] = places.size
        end
      end
    end
  end
end

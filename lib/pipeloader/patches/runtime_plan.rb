# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter::Runtime
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a field's value comes here before graphql-ruby begins with what is selected below it. An
    #   extension would be one more object for every field, and `raw_value` has another interface in Execution::Next.
    # Falls through when:: there is no plan for the value, it is an item of a list, a tracer watches every field, or the
    #   current fiber is not a resolver's.
    module RuntimePlan
      def continue_field(value, owner_type, field, current_type, ast_node, next_selections, is_non_null, owner_object, # rubocop:disable Metrics/ParameterLists
                         arguments, result_name, selection_result, was_scoped, runtime_state)
        if field && next_selections && !next_selections.empty? && result_name.is_a?(String) && (plans = pipeloader_plans)
          tree = plans.grow(value, current_type, next_selections, ast_node, context)
          return set_result(selection_result, result_name, tree, false, is_non_null) if tree
        end
        super
      end

      # (A target is for selections that the application's directives have split.)
      def evaluate_selections(fields, result, target, runtime_state)
        partial = pipeloader_partial(result) if target.nil? && !result.graphql_is_eager && !fields.key?(:graphql_directives)
        return super unless partial

        partial.is_a?(Page) ? pipeloader_evaluate_page(partial, fields, result) : pipeloader_evaluate(partial, fields, result)
      end

      private

      def pipeloader_partial(result)
        object = result.graphql_application_value
        return unless object.is_a?(GraphQL::Schema::Object) && (plans = pipeloader_plans)

        type = result.graphql_result_type
        return unless (model = Root.model_of_object(object.object, type))

        partial = plans.partial(type, result.graphql_selections, result.ast_node, model)
        partial if partial&.takes?(object.object)
      end

      # The page is read while what isn't plain of its connection goes on. Each field keeps its place among the others.
      def pipeloader_evaluate_page(page, fields, result)
        jobs = {}
        fields.each do |name, nodes|
          next @dataloader.append_job { evaluate_selection(name, nodes, result) } if page.reasons.key?(name)

          jobs[name] = @dataloader.pipeloader_reserve { evaluate_selection(name, nodes, result) }
        end
        begin
          tree = pipeloader_plans.grow_page(page, result.graphql_application_value.object, context)
        ensure
          jobs.each_value { |job| @dataloader.append_job(job) } unless tree
        end
        tree&.each do |name, value|
          set_result(result, name, value, false, false)
          @dataloader.pipeloader_release(jobs.fetch(name))
        end
      end

      # As graphql-ruby: a job for each field, but for what is plain. Where that is behind one that isn't, whose resolver may
      # change the record, a job looks at it in its place.
      def pipeloader_evaluate(partial, fields, result)
        record = result.graphql_application_value.object
        # (The record may have to be read for these: other fields go on then.)
        written, links = partial.write(record, result, context), partial.links(record)
        opaque = behind = nil
        fields.each do |name, nodes|
          owner = pipeloader_owner(links[name], nodes, record, result) if links.key?(name)
          if owner.nil? && !written.key?(name)
            @dataloader.append_job { evaluate_selection(name, nodes, result) }
            opaque, behind = true, nil
          elsif opaque
            behind ||= {}.tap { |plain| @dataloader.append_job { pipeloader_follow(plain, partial, written, result, fields) } }
            behind[name] = owner
          elsif owner then pipeloader_wait(partial, owner)
          end
        end
      end

      # @param plain [Hash{String => Owner, nil}]
      def pipeloader_follow(plain, partial, written, result, fields)
        record = result.graphql_application_value.object
        plain.each do |name, owner|
          next pipeloader_wait(partial, owner) if owner

          partial.write_again(name, written, record, result, context) { evaluate_selection(name, fields[name], result) }
        end
      end

      # @return [Owner]
      def pipeloader_owner(link, nodes, record, result)
        owner = Owner.new(link, record, result)
        owner.job = @dataloader.pipeloader_reserve do
          owner.load
          evaluate_selection(link.key, nodes, result)
        end
        owner
      end

      def pipeloader_wait(partial, owner)
        link = owner.link
        ((@pipeloader_owners ||= {}.compare_by_identity)[link] ||= pipeloader_owners(partial, link)).add(owner)
      end

      # They are read behind all jobs that are queued by then: there may be other owners. (And before any fiber goes on that has
      # parked, so that it's one burst.)
      def pipeloader_owners(partial, link)
        owners = Owners.new(partial, link, context) { |result, tree| set_result(result, link.key, tree, false, false) }
        run = @dataloader.pipeloader_run
        run.defer(owners)
        @dataloader.append_job do
          @dataloader.append_job do
            @pipeloader_owners.delete(link)
            run.take_up(owners)
            owners.read(ResolverFiber.current)
          end
        end
        owners
      end

      def pipeloader_plans
        return @pipeloader_plans if defined?(@pipeloader_plans)

        @pipeloader_plans = (Plans.of(@query) if ResolverFiber.current)
      end
    end
  end
end

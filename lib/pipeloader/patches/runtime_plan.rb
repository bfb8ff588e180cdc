# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::Interpreter::Runtime
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a field's value comes here before graphql-ruby begins with what is selected below it. An
    #   extension would be one more object for every field, and `raw_value` has another interface in Execution::Next.
    # Falls through when:: there is no plan for the value, and nothing of it is plain; it is an item of a list, a tracer watches
    #   every field, or the current fiber is not a resolver's.
    module RuntimePlan
      def continue_field(value, owner_type, field, current_type, ast_node, next_selections, is_non_null, owner_object,
                         arguments, result_name, selection_result, was_scoped, runtime_state)
        if field && next_selections && !next_selections.empty? && result_name.is_a?(String)
          fiber = ResolverFiber.current unless pipeloader_around?(ast_node)
          fiber&.settle
          if pipeloader_plans
            places = pipeloader_places
            maker = places&.known_maker(value, field, ast_node, next_selections, arguments)
            return pipeloader_bring(fiber, maker, selection_result, result_name, value) if maker

            tree = pipeloader_tree(value, current_type, next_selections, ast_node)
            return set_result(selection_result, result_name, tree, false, is_non_null) if tree

            maker = places&.maker(value, field, current_type, is_non_null, ast_node, next_selections, arguments)
            return @pipeloader_object_lists.bring(maker, selection_result, result_name, value) if maker

            value, place = pipeloader_place(places, value, current_type, field, ast_node, next_selections, arguments) if places
            return @pipeloader_object_lists.fill(place, selection_result, result_name, value) if place
          end
          value = pipeloader_list(value, current_type, next_selections, ast_node)
        end
        super
      end

      # A target is for selections that the application's directives have split.
      def evaluate_selections(fields, result, target, runtime_state)
        partial = pipeloader_partial(result) if target.nil? && !result.graphql_is_eager && !fields.key?(:graphql_directives)
        unless partial
          pipeloader_come_alone(result)
          return super
        end
        return pipeloader_evaluate_page(partial, fields, result) if partial.is_a?(ConnectionPlan)

        @pipeloader_object_lists.go_on(partial, result, fields)
      end

      # Notes what is selected of records that this runtime doesn't see. See RuntimeProjection.
      def pipeloader_expect(_records, _type, _selections, _node) = nil

      # Records are about to be gone on with.
      def pipeloader_read_ahead(records, selections, node) = ReadAhead.come(records, selections, node, @query)

      # An object that an ObjectList goes on with, and a field of it that is a ResolverCall. See RuntimeWitness.
      def pipeloader_makes(_result) = nil
      def pipeloader_calls(_result, _key) = nil

      private

      # Where no code of the application's has run since the +fiber+ has settled.
      def pipeloader_bring(fiber, maker, result, name, record)
        brought = @pipeloader_object_lists.bring(maker, result, name, record)
        fiber&.brought = brought
        brought
      end

      # True if a directive is around what the +node+ selects; looked up once for each node.
      def pipeloader_around?(node)
        return false if node.directives.empty?

        known = @pipeloader_around ||= {}.compare_by_identity
        known.fetch(node) { known[node] = Enclosures.around?(node, schema) }
      end

      def pipeloader_partial(result)
        object = result.graphql_application_value
        return unless object.is_a?(GraphQL::Schema::Object) && (plans = pipeloader_plans) && pipeloader_places

        type = result.graphql_result_type
        return unless (model = ReturnedValue.model_of_object(object.object, type))

        partial = plans.partial(type, result.graphql_selections, result.ast_node, model)
        partial if partial&.takes?(object.object)
      end

      # @return [Array(Object, (ObjectPlace | nil))] the value, or its records if they are to be gone through in their place
      def pipeloader_place(places, value, type, field, node, selections, arguments)
        type = TypeWrappers.nullable(type)
        return [value] if !type.list? || ReturnedValue.connection?(value)
        return [value] unless (model = ReturnedValue.model(value) || ReturnedValue.things(value, schema))

        place = places.at(field, type.of_type, node, selections, arguments, model) or return [value]
        records = ReturnedValue.list(value)
        records.is_a?(Array) && place.takes?(records) ? [records, place] : [records || value]
      end

      # A list that graphql-ruby goes through: a relation is read first, where reads are forecast.
      #
      # @return the value, or what is to be in its place
      def pipeloader_list(value, type, selections, node)
        return value unless TypeWrappers.nullable(type).list? && ReadAhead.awaits?(@query)

        list = ReturnedValue.list(value) if ActiveRecord::Relation === value
        return list if list.is_a?(ReturnedValue::Unloaded)

        links = pipeloader_plans&.links?(TypeWrappers.item(type), selections, node, value)
        pipeloader_read_ahead(links ? [] : [value], selections, node)
        value
      end

      # One that isn't of a list: those have come together.
      def pipeloader_come_alone(result)
        object = result.graphql_application_value
        return unless object.is_a?(GraphQL::Schema::Object) && result.graphql_result_name.is_a?(String) && ReadAhead.forecasts?

        pipeloader_read_ahead([object.object], result.graphql_selections, result.ast_node)
      end

      # The page is read while what isn't plain of its connection goes on. Each field keeps its place among the others.
      def pipeloader_evaluate_page(page, fields, result)
        jobs = {}
        fields.each do |name, nodes|
          job = @dataloader.pipeloader_job(-> { evaluate_selection(name, nodes, result) })
          next @dataloader.append_job(job) if page.reasons.key?(name)

          jobs[name] = job
          @dataloader.pipeloader_reserve(job)
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

      def pipeloader_tree(value, type, selections, node)
        FieldClock.within(@query) { pipeloader_plans.grow_either(value, type, selections, node, context) }
      end

      def pipeloader_plans
        return @pipeloader_plans if defined?(@pipeloader_plans)

        @pipeloader_plans = (Plans.of(@query) if ResolverFiber.current)
        @pipeloader_object_lists = ObjectLists.new(self, @dataloader, @pipeloader_plans) if @pipeloader_plans
        @pipeloader_plans
      end

      # Where objects are made of records; nowhere where each of their fields is to look at the clock.
      #
      # @return [ObjectPlaces, nil]
      def pipeloader_places
        return @pipeloader_places if defined?(@pipeloader_places)

        @pipeloader_places = FieldClock.watched?(@query.current_trace) ? nil : @pipeloader_object_lists.places
      end
    end
  end
end

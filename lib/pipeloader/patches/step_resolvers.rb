# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Execution::FieldResolveStep (Execution::Next)
    # Since:: graphql 2.6
    # Why no public seam does it:: there one fiber calls a field's resolver for all objects, one after the other, and goes through
    #   the lists and the lazy values that they return, so that each read would be alone in its burst. Where plans may be, what
    #   the field asks its records for is read for all of them by one statement.
    # Falls through when:: there is one object, the resolver is called once for all of them, or none is (`hash_key:`, `dig:`); for
    #   lists, directives of the application's are to see them first.
    module StepResolvers
      include StepCalls

      def build_results
        fiber = ResolverFiber.current
        if fiber && @post_processors.nil? && pipeloader_one_for_each?
          pipeloader_load(fiber) if @field_definition.type.list? && (@field_results.size > 1 || pipeloader_awaits?)
          pipeloader_read_ahead if @field_definition.type.unwrap.kind.composite?
        end
        super
      end

      # graphql-ruby goes through what has been synced as it does through lazy values: at the first error that leaves one of
      # them it stops, and the rest stay lazy.
      def sync(lazy)
        return lazy.call if lazy.is_a?(Synced)
        return super unless lazy.is_a?(Array) && lazy.size > 1 && !lazy.frozen? && (fiber = ResolverFiber.current)

        synced = fiber.side_by_side(lazy) { |it| Synced.of(it) { sync(it) } }
        result = super(synced)
        lazy.replace(synced.map { |it| it.is_a?(Synced) ? it.unsynced : it })
        result.equal?(synced) ? lazy : result
      end

      # A value of a field that graphql-ruby has yet to be told of, or the error that has left it.
      Synced = Struct.new(:unsynced, :value, :error) do
        def self.of(unsynced)
          new(unsynced, yield)
        rescue TimedOut
          raise
        rescue StandardError => e
          new(unsynced, nil, e)
        end

        def call = error ? raise(error) : value
      end
      private_constant :Synced

      private

      def pipeloader_awaits? = ReadAhead.awaits?(@selections_step.query)

      # Plans of the objects' associations are in a later level than what is read ahead here: so not both.
      def pipeloader_read_ahead
        return unless pipeloader_awaits?

        selections, query = pipeloader_selections, @selections_step.query
        one = @field_results.find { |value| ReturnedValue.model(value) }
        links = Plans.of(query)&.links?(TypeWrappers.item(@field_definition.type), selections, @ast_node, one)
        ReadAhead.come(links ? [] : @field_results, selections, @ast_node, query)
      end

      def pipeloader_load(fiber)
        unloaded = @field_results.each_index.select do |index|
          ActiveRecord::Relation === @field_results[index] && !@field_results[index].loaded?
        end
        pipeloader_load_ahead(unloaded.map { |index| @field_results[index] })
        fiber.side_by_side(unloaded) do |index|
          @field_results[index] = ReturnedValue.loaded(@field_results[index].load)
        rescue TimedOut
          raise
        rescue StandardError => e
          @field_results[index] = ReturnedValue::Unloaded.new(e)
        end
      end

      # Where they are all one association's.
      def pipeloader_load_ahead(lists)
        return unless lists.all? { |it| ReturnedValue.plain_association?(it) }

        reflections = lists.map { |it| it.proxy_association.reflection }.uniq(&:__id__)
        return unless reflections.one?

        Plans.of(@selections_step.query)&.load_ahead(lists.map { |it| it.proxy_association.owner }, reflections.first)
      end

      def resolve_batch(objects, context, args_hash)
        fiber = ResolverFiber.current
        return super unless fiber

        fiber.subject = objects.first
        if @field_definition.execution_mode == :resolver_class && fiber.loader.pipeloader_depth_first?
          return pipeloader_resolvers(fiber) { super }
        end
        return super unless objects.size > 1

        Plans.of(context.query)&.load_one_ahead(objects, @parent_type, @field_definition) unless @field_definition.type.list?
        case @field_definition.execution_mode
        when :direct_send
          fiber.side_by_side(objects) { |object| pipeloader_send(object, args_hash) }
        when :resolve_each
          fiber.side_by_side(objects) { |object| super([object], context, args_hash).first }
        when :resolve_legacy_instance_method
          graphql_objects = pipeloader_graphql_objects(objects, context)
          fiber.side_by_side(graphql_objects) { |object| pipeloader_call(object, args_hash) }
        else super
        end
      end

      # A resolver class is a step for each object. Without a dataloader these are done where they are asked for: what they return
      # is there when a field extension goes on, and when it is looked at for lazy values.
      def pipeloader_resolvers(fiber)
        results = nil
        steps = fiber.loader.pipeloader_collect([]) { results = yield }
        fiber.side_by_side(steps, &:call)
        results
      end

      # All fields share one for each of the selection's own objects.
      def pipeloader_graphql_objects(objects, context)
        return @selections_step.graphql_objects if objects.equal?(@selections_step.objects)

        objects.map { |object| @parent_type.scoped_new(object, context) }
      end
    end
  end
end

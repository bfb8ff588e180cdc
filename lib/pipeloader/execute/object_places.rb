# frozen_string_literal: true

module Pipeloader
  # Where in one query's response objects are made of records without anybody's seeing it.
  class ObjectPlaces
    alias inspect to_s

    #: (GraphQL::Execution::Interpreter::Runtime, Plans) -> void
    def initialize(runtime, plans)
      @runtime = runtime
      @plans = plans
      @watched = !FieldTrace.of(runtime.query).nil?
      @makers = {}.compare_by_identity # {Field node => ObjectMaker}, where there is no plan
    end

    # True if a trace measures fields.
    def watched? = @watched

    # @param type [Class, GraphQL::Schema::Wrapper] of the field, or of the items of its list
    # @return [ObjectPlace, nil] nil where graphql-ruby is to make the objects
    def at(field, type, node, selections, arguments, model, non_null: type.non_null?)
      item = TypeWrappers.nullable(type)
      partial = @plans.partial(item, selections, node, model) if item.kind.object?
      return unless partial.is_a?(PartialPlan) && partial.wraps?

      ObjectPlace.new(partial, field, item, non_null, node, selections, arguments, @runtime, @watched)
    end

    # @param value what a field has brought
    # @param non_null [Boolean] whether a null may not stand there, if +type+ doesn't say so
    # @return [ObjectMaker, nil] for a record; nil as #at
    def maker(value, field, type, non_null, node, selections, arguments)
      return unless ActiveRecord::Base === value && (model = ReturnedValue.record_class(value))

      place = at(field, type, node, selections, arguments, model, non_null: non_null || type.non_null?)
      return unless place&.partial&.takes?(value)

      maker = place.maker
      @makers[node] = maker if place.partial.planless? && field.type.unwrap.equal?(place.type)
      maker
    end

    # @return [ObjectMaker, nil] the one that was made there last, if it does for this, too
    def known_maker(value, field, node, selections, arguments)
      maker = @makers[node]
      maker if maker&.place&.at?(field, node, selections, arguments) && still?(maker.place.partial, value)
    end

    private

    def still?(partial, value)
      ActiveRecord::Base === value && value.class.equal?(partial.model) && partial.takes?(value) && partial.current? &&
        !OpenTransactions.around?(partial)
    end
  end
end

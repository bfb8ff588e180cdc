# frozen_string_literal: true

module Pipeloader
  # The Plans of one Operation: one for each place of the document, and model whose records come there.
  class Plans
    class << self
      # @param query [GraphQL::Query]
      # @return [Plans, nil] nil where no plan is to be used
      def of(query)
        operation = Operation.of(query)
        return unless operation&.schema&.pipeloader_compiles?

        self.for(operation) unless operation.foreign_directives? || FieldTrace.of_each?(query.current_trace)
      end

      # @return [Plans] those of the operation, which it keeps
      def for(operation) = operation.plans ||= new(operation)
    end

    alias inspect to_s

    #: (Operation) -> void
    def initialize(operation)
      @operation = operation
      # {place => {type => {model => Selection}}}; several types where a place is in a fragment on an interface
      @selections = {}
      @preloads = Preloads.new(operation)
      @associations = {} # {[type, field, model] => reflection; nil where the field gives no association}
    end

    # The part of the response for +value+, which a field's resolver has returned.
    #
    # @param type [Class, GraphQL::Schema::Wrapper] of the field
    # @return [Hash, Array<Hash>, nil] nil where there is no plan, or it doesn't fit: graphql-ruby is to do it
    def grow(value, type, selections, node, context)
      list = TypeWrappers.nullable(type).list?
      connection = ReturnedValue.connection?(value)
      return if list == (connection || ActiveRecord::Base === value) || !(model = ReturnedValue.model(value))
      return unless (plan = at(TypeWrappers.item(type), selections, node, model)) && plan.connection? == connection

      trees = attempt(plan, value, context)
      list || connection || trees.nil? ? trees : trees.first
    rescue Foreseen
      nil
    end

    # The plan's part of a connection, whose rest is graphql-ruby's.
    #
    # @param page [ConnectionPlan]
    # @return [Hash, nil] as #grow
    def grow_page(page, connection, context) = attempt(page, connection, context)

    # As #grow, for another thing than a record, or a list of such, where no code is behind what is selected of them. A trace that
    # measures fields turns this off: it would hear of a field once for all objects.
    #
    # @param value what a field's resolver has returned
    # @return [Array<Hash>, Hash, nil] as #grow
    def grow_things(value, type, selections, node, context)
      return if ActiveRecord::Base === value

      type = TypeWrappers.nullable(type)
      things = type.list? ? value : [value]
      return if ReturnedValue.things(things, @operation.schema).nil?
      return if FieldTrace.of(context.query)

      trees = write_things(things, TypeWrappers.item(type), selections, node, context)
      type.list? ? trees : trees.first
    rescue DoesNotFit
      nil
    end

    # @param things what may be an Array of them
    # @param type [Class, GraphQL::Schema::Wrapper] of each
    # @return [Array<Hash>]
    # @raise [DoesNotFit]
    def write_things(things, type, selections, node, context)
      model = ReturnedValue.things(things, @operation.schema) || raise(DoesNotFit)
      written_by = plan(type, selections, node, model) || raise(DoesNotFit)
      raise DoesNotFit unless things.all? { |it| ReturnedValue.just?(it, model) }

      written_by.use(context)
      Frame.of(written_by, things, coerced: false).build(context)
    end

    # As #grow or #grow_things, whichever it is.
    def grow_either(value, type, selections, node, context)
      grow(value, type, selections, node, context) || grow_things(value, type, selections, node, context)
    end

    # As #grow_either for each of +values+, which are one field's; their reads share a burst.
    def grow_all(values, *place)
      fiber = ResolverFiber.current
      return values.map { |value| grow_either(value, *place) } if values.one? || !fiber.parks?

      grow_associations(values, *place) || fiber.side_by_side(values) { |value| grow_either(value, *place) }
    end

    # The plain part of an object's selections.
    #
    # @return [PartialPlan, nil] nil if nothing is
    def partial(type, selections, node, model)
      partial = selection(type, selections, node, model).partial
      partial unless partial.empty? || OpenTransactions.around?(partial)
    rescue Foreseen
      nil
    end

    # True if plans look up associations of some of the +value+'s records, beside what resolvers ask.
    def links?(type, selections, node, value)
      model = ReturnedValue.model(value) or return false
      plain = partial(type, selections, node, model)
      plain.is_a?(ConnectionPlan) || (plain ? plain.links? : false)
    end

    # Has an association loaded by all of +records+ that would read it.
    #
    # @param reflection [ActiveRecord::Reflection::AbstractReflection]
    def load_ahead(records, reflection, asker = Asker.current)
      preload = preload(reflection)
      preload.load(ResolverFiber.current, records, asker) if preload && !OpenTransactions.around?(preload)
    rescue Foreseen
      nil
    end

    # @return [Preload, nil] nil where ActiveRecord has to find each owner's records itself
    def preload(reflection) = @preloads.of(reflection)

    # As #load_ahead for the association that +field+ gives, if it gives one record.
    #
    # @param type [Class] of the objects that have the field
    def load_one_ahead(records, type, field)
      model = records.first.class
      return unless field.type.unwrap.kind.composite? && model < ActiveRecord::Base && records.all?(model)

      reflection = association(type, field, model)
      load_ahead(records, reflection, PlainField.of(type, field).asker(false)) unless reflection.nil? || reflection.collection?
    rescue Foreseen
      nil
    end

    # @param type [Class, GraphQL::Schema::Wrapper] what the field returns, or a list of it
    # @param node [GraphQL::Language::Nodes::Field] the field, or the first of several
    # @return [Plan, nil]
    def at(type, selections, node, model)
      selection = known(type, selections, node, model)
      return if selection.nil? && OpenTransactions.in?(model)

      plan = (selection || analyze(type, selections, node, model)).plan
      plan unless plan.nil? || plan.history.worthless? || OpenTransactions.around?(plan)
    end

    # @return [Plan, nil] as #at, whether or not a transaction is open
    def plan(type, selections, node, model) = selection(type, selections, node, model).plan

    # @return [Array<Selection>] of objects of a +type+ that came to a place of the document, for each model
    def selections(type, selections, node) = @selections.dig(@operation.place(selections, node), type)&.values || []

    # @return [Array<Class>] of the objects that came to a place, as far as they were looked at
    def types(selections, node) = @selections.fetch(@operation.place(selections, node), {}).keys

    private

    # @return [Array<Hash>, Hash, nil] nil where the plan doesn't fit, as it may not each time
    def attempt(plan, value, context)
      plan.history.try
      Executor.new(ResolverFiber.current, context).call(plan, value)
    rescue Permit::Refused # of who asks, which is nothing about the plan
      nil
    rescue Foreseen
      plan.history.fail
      nil
    end

    def association(*place)
      @associations.fetch(place) { @associations[place] = Analyzer.new(@operation).association(*place) }
    end

    # Many owners' records of one association.
    #
    # @return [Array, nil] nil where they aren't that
    def grow_associations(values, type, selections, node, context)
      return unless TypeWrappers.nullable(type).list? && values.all? { |it| ReturnedValue.plain_association?(it) }

      associations = values.map(&:proxy_association)
      return unless associations.all? { |it| ReturnedValue.readable_association?(it) && ReturnedValue.forgets?(it) }
      return unless (link = link(associations, type, selections, node))

      associations.each(&:pipeloader_write)
      Executor.new(ResolverFiber.current, context).associations(link, associations)
    rescue Foreseen
      nil
    end

    # @return [Link, nil]
    def link(associations, type, selections, node)
      reflection = associations.first.reflection
      name = Family.owners_name(reflection)
      return unless associations.all? { |it| it.reflection.equal?(reflection) && Family.named?(it.owner.class, name) }
      return unless (plan = at(TypeWrappers.item(type), selections, node, reflection.klass)) && Lookup.objection(reflection).nil?

      lookup = Lookup.of(reflection, plan.projection)
      return if !lookup.narrows? || Link.scope_preloads_otherwise?(lookup, plan)

      link = Link.new(nil, nil, reflection, lookup, lookup.owners_key.index, plan, nullable: false)
      link unless link.leads_back?
    end

    def selection(type, place, node, model) = known(type, place, node, model) || analyze(type, place, node, model)

    # @return [Selection, nil] nil if there is none yet, or a model has changed since
    def known(type, selections, node, model)
      selection = @selections.dig(@operation.place(selections, node), type)&.[](model)
      return selection if selection.nil? || selection.current?

      ResolverFiber.current&.response&.proofs = nil # it may be what was proved that doesn't hold
      nil
    end

    # With all that is below.
    #
    # @return [Selection]
    def analyze(type, selections, node, model)
      response = ResolverFiber.current&.response
      analyzer = response ? Analyzer.new(@operation, SharedProofs.of(response, @operation)) : Analyzer.new(@operation)
      selection = analyzer.selection(type, selections, model)
      analyzer.found.each { |it| keep(it.type, it.selections, it.node, it.selection) }
      keep(type, selections, node, selection)
    end

    # Some classes are made for each request.
    def keep(type, selections, node, selection)
      places = @selections[@operation.place(selections, node)] ||= {}
      (places[type] ||= Bounded.new(Operation::LIMIT))[selection.model] = selection
    end
  end
end

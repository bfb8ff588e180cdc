# frozen_string_literal: true

module Pipeloader
  # Reads what a Plan needs, level by level, and builds the response from it. All reads of a level share a burst, with one another
  # and with what other fields read.
  class Executor
    #: (ResolverFiber, GraphQL::Query::Context) -> void
    def initialize(fiber, context)
      @fiber = fiber
      @context = context
    end

    # @param value as RootValue takes it
    # @return [Array<Hash>, Hash, nil] for each record, or the connection; nil where its rows can't be had
    def call(plan, value)
      return if plan.connection? && !value.context.equal?(@context)

      plan.check(@context) # before anything is read in vain
      root = trip(plan) { |one| rows(plan, value, one) } or return
      plan.check(@context) # by now another resolver may have put something else into the context
      root.build(@context)
    end

    # Reads what links lead to, each to itself: where one can't be read, the others are.
    #
    # @param wanted [Array(Link, Array)] each with the keys of its owners
    # @return [Array<Frame>] for each, with a row for each owner, or an error
    def below(wanted)
      alike = wanted.group_by { |link, keys| [link.lookup, link.plan, keys] } # one association under several names
      roots = alike.transform_values { |some| root_of(*some.transpose) }
      roots.each_value { |root| root.plan.check(@context) }
      plans = wanted.map { |link, _| link.plan }
      trip(plans.find { |plan| plan.links.any? } || plans.first) { |one| read(roots.values, one) }
      wanted.map { |link, keys| roots[[link.lookup, link.plan, keys]] }
    end

    # @param associations [Array<ActiveRecord::Associations::Association>] of several owners
    # @return [Array<Array<Hash>, nil>] for each owner; nil where something doesn't fit
    def associations(link, associations)
      key = link.lookup.owners_key
      root = sound(below([[link, associations.map { |it| key.of(it.owner) }]]).first)
      link.check(@context)
      root.rows.map { |row| fitting { link.build(row, root, @context) } }
    end

    private

    # Yields, to read.
    #
    # @yieldparam one [Boolean] whether by one round trip
    def trip(plan, &)
      plan.links.empty? ? yield(false) : plan.trips.as_said(@fiber.trips, plan.model, &)
    end

    # @param one [Boolean] whether it is all to come by one round trip
    # @return [Frame, nil] with all that is below
    def rows(plan, value, one)
      root = RootValue.new(plan, (Growth.new(plan, @context) if one)).frame(value) or return
      told(plan) { nil }
      sound(read([root], one).first)
    end

    # @param links [Array<Link>] of the same rows
    # @param keys [Array<Array>] of the owners, for each link
    # @return [Frame] of owners that have just these
    def root_of(links, keys)
      Frame.of(Plan.new(nil, links), links.first.lookup.owners_key.rows(keys.first), coerced: true)
    end

    # Reads all that is below.
    #
    # @param one [Boolean] whether what is looked up brings all along that it leads to
    # @return [Array<Frame>] the same
    def read(roots, one)
      roots.each { |root| root.plan.use(@context, coerced: root.coerced?) }
      level = roots.flat_map(&:children)
      until level.empty?
        level.each { |frame| attempt(frame) { frame.want(@context, one) } }
        level.reject!(&:error)
        level.zip(found(level)) { |frame, rows| attempt(frame) { told(frame) { frame.take_own(rows.value) } } }
        level = level.reject(&:error).flat_map(&:children)
      end
      roots.each { |root| root.plan.come(@context) }
    end

    # @return [Array<Outcome>] for each of the frames
    def found(level)
      asked = level.reject(&:brought?)
      outcomes = asked.empty? ? {} : asked.zip(@fiber.look_up(asked.map(&:wanted))).to_h
      level.map { |frame| outcomes[frame] || frame.brought }
    end

    # A failure that graphql-ruby will meet is its root's alone. Nothing behind it is gone into.
    def attempt(frame)
      yield unless frame.error
    rescue Foreseen => e
      frame.fail(e)
    end

    # @return [Frame] the same, if nothing has failed
    def sound(root) = root.error ? raise(root.error) : root

    # The trace, of the first of the fields of a +part+ around the block, and of the others when it is done.
    #
    # @param part [#fields] Plan or Frame
    def told(part, &block)
      return yield if (trace = trace()).nil? || (fields = part.fields).empty?

      first, *others = fields
      trace.over(first, &block).tap { others.each { |field| trace.over(field) { nil } } }
    end

    def trace
      @trace = FieldTrace.of(@context.query) unless defined?(@trace)
      @trace
    end

    def fitting
      yield
    rescue DoesNotFit
      nil
    end
  end
end

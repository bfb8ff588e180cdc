# frozen_string_literal: true

module Pipeloader
  # Reads what a Plan needs, level by level, and builds the response from it. All reads of a level share a burst, with one another
  # and with what other fields read.
  class Harvest
    #: (ResolverFiber, GraphQL::Query::Context) -> void
    def initialize(fiber, context)
      @fiber = fiber
      @context = context
    end

    # @param value as Root takes it
    # @return [Array<Hash>, Hash, nil] for each record, or the connection; nil where its rows can't be had
    def call(plan, value)
      return if plan.connection? && !value.context.equal?(@context)

      root = Root.branch(plan, value) or return
      told(plan) { nil }
      read(root)
      root.build(@context)
    end

    # Reads what a link leads to.
    #
    # @param keys [Array] of its owners
    # @return [Branch] with a row for each
    def below(link, keys)
      Branch.of(Plan.new(nil, [link]), keys.map { |key| [key] }, coerced: true).tap { |root| read(root) }
    end

    # @param associations [Array<ActiveRecord::Associations::Association>] of several owners
    # @return [Array<Array<Hash>, nil>] for each owner; nil where something doesn't fit
    def associations(link, associations)
      key = associations.first.reflection.chain.last.join_foreign_key
      root = below(link, associations.map { |it| it.owner._read_attribute(key) })
      root.rows.map { |row| fitting { link.build(row, root, @context) } }
    end

    private

    # Reads all that is below.
    def read(root)
      root.plan.use(@context, coerced: root.coerced?)
      level = root.branches
      until level.empty?
        found = @fiber.look_up(level.map { |branch| branch.wanted(@context) })
        level.zip(found) { |branch, rows| told(branch) { branch.take_own(rows) } }
        level = level.flat_map(&:branches)
      end
    end

    # The trace, of the first of the fields of a +part+ around the block, and of the others when it is done.
    #
    # @param part [#fields] Plan or Branch
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
    rescue Unfit
      nil
    end
  end
end

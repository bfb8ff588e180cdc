# frozen_string_literal: true

module Pipeloader
  # Objects that wait for one association, each for its own records: read for all of them at once, when graphql-ruby has come to
  # all that it can come to.
  class Owners
    # +job+ has graphql-ruby do it, where a plan can't.
    Owner = Struct.new(:record, :result, :job)
    private_constant :Owner

    #: (Partial, Link, GraphQL::Query::Context) -> void
    def initialize(partial, link, context)
      @partial = partial
      @link = link
      @plan = Plan.new(nil, [link])
      @context = context
      @owners = []
    end

    # @param result [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash]
    def add(record, result, job) = @owners << Owner.new(record, result, job)

    # @yield [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash, Object] each, and what is to be written there
    def read(fiber, &write)
      owners, others = @owners.partition { |owner| @partial.linked?(@link, owner.record) }
      give_up(fiber, others)
      grow(fiber, owners, &write)
    end

    private

    def grow(fiber, owners, &write)
      root = Branch.of(@plan, owners.map { |owner| [@partial.key(@link, owner.record)] }, coerced: true)
      Harvest.new(fiber, @context).read(root)
      owners.zip(root.rows) { |owner, row| put(fiber, owner, row, root, &write) }
    rescue *Plans::FORESEEN => e
      raise if Plans.interrupted?(e)

      give_up(fiber, owners)
    end

    def put(fiber, owner, row, root)
      yield(owner.result, @link.build(row, root, @context))
      fiber.loader.pipeloader_release(owner.job)
    rescue Unfit
      give_up(fiber, [owner])
    end

    def give_up(fiber, owners) = owners.each { |owner| fiber.loader.append_job(owner.job) }
  end
end

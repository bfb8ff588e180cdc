# frozen_string_literal: true

module Pipeloader
  # An object that waits for what one of its associations brings. Its +key+ is what it was when graphql-ruby came to the field;
  # its +job+ has graphql-ruby do it, where a plan can't, with the +records+ that were read for it, if any.
  Owner = Struct.new(:link, :record, :result, :job, :key, :records) do
    def load
      record.association(link.name).pipeloader_load(records) if records && !link.leaves?(self)
    end
  end

  # Those of one association: read for all of them at once, when graphql-ruby has come to all that it can come to.
  class Owners
    # @yield [GraphQL::Execution::Interpreter::Runtime::GraphQLResultHash, Object] each, and what is to be written there
    #
    #: (Partial, (Link | Preload), GraphQL::Query::Context, ?Array[Owner]) { (untyped, untyped) -> void } -> void
    def initialize(partial, link, context, owners = [], &write)
      @partial = partial
      @link = link
      @context = context
      @owners = owners
      @write = write
    end

    # @param owner [Owner] of which a resolver that came before may have changed the record
    def add(owner)
      return give_up([owner]) unless @partial.linked?(@link, owner.record)

      owner.key = @partial.key(@link, owner.record)
      @owners << owner
    end

    # @param job [Job, nil] the one that is running
    # @return [Owners] those that a serial run would have read before: they are taken out
    def before(job)
      earlier, @owners = @owners.partition { |owner| job.nil? || owner.job.compare(job).negative? }
      Owners.new(@partial, @link, @context, earlier, &@write)
    end

    # @param least [Integer] of how many records on a Preload pays: fewer are read as they are, pipelined
    def read(fiber, least = Coalesced::WORTH)
      return if @owners.empty?

      @link.is_a?(Preload) ? preload(fiber, least) : grow(fiber)
    rescue *Plans::FORESEEN => e
      raise if Plans.interrupted?(e)
    ensure # whatever it was: others wait for these fields
      give_up(@owners.select(&:job))
    end

    private

    def preload(fiber, least)
      owners = @owners.reject { |owner| @link.leaves?(owner) }
      @link.call(fiber, owners) if owners.size >= least
    end

    def grow(fiber)
      root = Branch.of(Plan.new(nil, [@link]), @owners.map { |owner| [owner.key] }, coerced: true)
      Harvest.new(fiber, @context).read(root)
      @owners.zip(root.rows) { |owner, row| put(owner, row, root) }
    end

    def put(owner, row, root)
      @write.call(owner.result, @link.build(row, root, @context))
      loader.pipeloader_release(owner.job)
      owner.job = nil
    rescue Unfit
      nil # graphql-ruby is to do it
    end

    # To graphql-ruby.
    def give_up(owners)
      owners.each do |owner|
        loader.append_job(owner.job)
        owner.job = nil
      end
    end

    # (A context may have made a dataloader of its own before its multiplex had one.)
    def loader = ResolverFiber.current.loader
  end
end

# frozen_string_literal: true

module Pipeloader
  # Extends a schema's dataloader class, which is Loader's scheduler then. Knows what else graphql-ruby has: sources, lazy values,
  # arguments, isolated mutations, multiplexes.
  module QueryLoader
    include Loader

    # Until 2.5.11 graphql-ruby takes no object for a job, but a block.
    TAKES_OBJECTS = GraphQL::Dataloader.instance_method(:append_job).parameters.any? { |kind, _| kind == :opt }
    # The loader that collects what is appended to it on this fiber, and what collects it, see #pipeloader_collect.
    WORK = :pipeloader_work
    # Where graphql-ruby keeps what a fiber works for.
    MULTIPLEX = :__graphql_current_multiplex
    # Takes the place of what is collected.
    module AtOnce
      def self.<<(work) = work.call

      def self.empty? = true
    end

    # Lazy values that wait until the block of #pipeloader_enclosed is over: it looks empty to whoever would begin them.
    class Later < Hash
      def empty? = true
      def any? = false
      def dup = Hash.new { |values, depth| values[depth] = [] } # a mutation's field begins its own
    end
    private_constant :TAKES_OBJECTS, :WORK, :MULTIPLEX, :AtOnce, :Later

    Loader.unshared.push(ArgumentGroup::KEY, WORK)

    @classes = {}

    class << self
      # The class that adds this module to +base+, made once for each set of options.
      #
      #: (Class, fiber_limit: Integer?, coalesce: bool, forecast: bool, trips: Symbol, lanes: (Integer | Hash)?) -> Class
      def over(base, fiber_limit:, coalesce:, forecast: false, trips: :depth, lanes: nil)
        queues = base <= GraphQL::Dataloader::NullDataloader ? GraphQL::Dataloader : base
        @classes[[base, fiber_limit, coalesce, forecast, trips, lanes]] ||= Class.new(queues) do
          include QueryLoader
          self.default_fiber_limit = fiber_limit || base.default_fiber_limit || Loader::FIBER_LIMIT
          self.default_nonblocking = base.default_nonblocking
          # In which order the schema would work without us.
          define_method(:pipeloader_depth_first?) { base <= GraphQL::Dataloader::NullDataloader }
          define_singleton_method(:pipeloader_base) { base }
          define_method(:pipeloader_coalesces?) { coalesce }
          define_method(:pipeloader_forecasts?) { forecast && coalesce && !pipeloader_branch? }
          define_method(:pipeloader_trips) { coalesce && !pipeloader_branch? ? trips : :depth }
          spread = Lanes.of(lanes)
          define_method(:pipeloader_lanes) { spread }
          # True if jobs wait in Dataloader's own queue: AsyncDataloader keeps them elsewhere, and begins all of them before any
          # fiber goes on.
          queued = queues.instance_method(:append_job).owner.equal?(GraphQL::Dataloader)
          define_method(:pipeloader_queues?) { queued }
          include LazyRounds if queued && LazyRounds.possible?
        end
      end
    end

    # The Multiplex of which this runs the branches.
    attr_writer :pipeloader_multiplex

    def run(...)
      QuerySettings.check_disabled(Response.queries) if Pipeloader.disabled?
      super
    end

    def append_job(callable = nil, &block)
      work = pipeloader_work
      return work << (callable || block) if work
      return super(callable || block) if TAKES_OBJECTS

      @pending_jobs.push(pipeloader_as_job(callable || block))
      nil
    end

    # Does what is appended inside the block when that ends.
    def pipeloader_do_here(&block) = pipeloader_collect(&block).each(&:call)

    # The same, so that what is read becomes one burst.
    def pipeloader_do_side_by_side(&block) = ArgumentGroup.new(self, pipeloader_collect(&block)).call

    # Keeps what is appended inside the block.
    #
    # @param work [#<<] that collects it
    # @return [#<<] it
    def pipeloader_collect(work = [])
      pipeloader_working(work) { yield }
      work
    end

    def pipeloader_collects? = !pipeloader_work.nil?

    # Does what the block around has appended so far.
    def pipeloader_do_collected
      return if (work = pipeloader_work).nil? || work.empty?

      pipeloader_working(nil) { ArgumentGroup.new(self, work.shift(work.size)).call }
    end

    # Does what is appended inside the block where it is.
    def pipeloader_at_once(&) = pipeloader_working(AtOnce, &)

    # Returns when all has been done that the block queues, but for lazy values.
    def pipeloader_enclosed(&block)
      queue, lazies, result = @pending_jobs, @lazies_at_depth, nil
      @pending_jobs, @lazies_at_depth = [], Later.new { |values, depth| values[depth] = [] }
      append_job { result = block.call }
      run
      result
    rescue StandardError => e
      Attempt.current&.enclose(e)
      raise
    ensure
      later, @pending_jobs, @lazies_at_depth = @lazies_at_depth, queue, lazies
      later.each { |depth, values| lazies[depth].concat(values) } if lazies
    end

    # AsyncDataloader doesn't queue this block by `append_job`. An argument's parts are isolated from nothing.
    def run_isolated(&block)
      return pipeloader_working(nil) { super() { pipeloader_job(block).call } } unless ArgumentGroup.under_way?(self)

      result = nil
      pipeloader_do_side_by_side { result = yield }
      result
    end

    # Query traces are not told of what a read waits for: they take a yield for the end of a slice that a field or a source has
    # begun on this fiber, and a relation is read when its field has ended (PerfettoTrace raises).
    def pipeloader_yield
      multiplex, Fiber[MULTIPLEX] = Fiber[MULTIPLEX], nil
      super
    ensure
      Fiber[MULTIPLEX] = multiplex
    end

    # Without a dataloader of the schema's own, Pipeloader is what sources work by.
    def with(...)
      @pipeloader_sourced = true
      super
    end

    # True if a source was asked for.
    def pipeloader_sourced? = @pipeloader_sourced || false

    # What is known of sources. Their own variables are their authors', and shown by PerfettoTrace.
    #
    # @return [Hash{GraphQL::Dataloader::Source => SourceRounds}]
    def pipeloader_source_rounds = @pipeloader_source_rounds ||= {}.compare_by_identity

    # @return [Hash{GraphQL::Dataloader::ActiveRecordAssociationSource => FetchTurns}] of what isn't fetched yet
    def pipeloader_fetch_turns = @pipeloader_fetch_turns ||= {}.compare_by_identity

    def pipeloader_lazies? = !!@lazies_at_depth&.any?

    # Sources and lazy values, too.
    def pipeloader_idle?
      super && !pipeloader_lazies? && @source_cache.each_value.none? { |sources| sources.each_value.any?(&:pending?) }
    end

    # graphql-ruby keeps three of its limit for other purposes.
    def pipeloader_most = fiber_limit - 3

    private

    # What is appended goes to +work+ inside the block; not what another loader is given, which executes a query there.
    def pipeloader_working(work)
      outer, Thread.current[WORK] = Thread.current[WORK], [self, work]
      yield
    ensure
      Thread.current[WORK] = outer
    end

    def pipeloader_work
      loader, work = Thread.current[WORK]
      work if loader.equal?(self)
    end

    def pipeloader_multiplexed = @pipeloader_multiplex ? [nil, @pipeloader_multiplex] : super
  end
end

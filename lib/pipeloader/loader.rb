# frozen_string_literal: true

module Pipeloader
  # What a schema's dataloader class is extended by: it says which fibers may park, and keeps their dynamic state apart.
  #
  # graphql-ruby resumes a fiber only when every job, source and lazy value has run or parked. So the first fiber that
  # wakes *is* the proof that a level is complete, and it sends it ("lazy flush on first resume", see ResolverFiber#park).
  # Nothing here decides when; that is graphql-ruby's own loop, in every version and in AsyncDataloader.
  module Loader
    # graphql-ruby's own default is no limit; 40,000 parked fibers end in "can't set a guard page" (vm.max_map_count).
    FIBER_LIMIT = 4096

    @classes = {}

    class << self
      # The class that adds this module to +base+, made once per (base, limit).
      #
      #: (Class, Integer?) -> Class
      def over(base, fiber_limit)
        base = GraphQL::Dataloader if base <= GraphQL::Dataloader::NullDataloader
        @classes[[base, fiber_limit]] ||= Class.new(base) do
          include Loader
          self.default_fiber_limit = fiber_limit || base.default_fiber_limit || FIBER_LIMIT
          self.default_nonblocking = base.default_nonblocking
        end
      end
    end

    attr_reader :pipeloader_response, :pipeloader_base

    # Also entered again from inside: by `run_isolated` (mutations), and by a query that a resolver executes.
    # The inner run shares the response (one set of levels), and starts from the state of the fiber that began it.
    def run(...)
      return super if Pipeloader.disabled?

      outer_response, outer_base = @pipeloader_response, @pipeloader_base
      Response.within do |response|
        @pipeloader_response = response
        @pipeloader_base = DynamicState.new(response.query_caches)
        super(...)
      ensure
        @pipeloader_base.install
      end
    ensure
      @pipeloader_response, @pipeloader_base = outer_response, outer_base
    end

    def append_job(callable = nil, &job)
      super(Job.new(self, callable || job))
    end

    # AsyncDataloader doesn't queue this block by `append_job`.
    def run_isolated(&block)
      super { Job.new(self, block).call }
    end

    def yield(*)
      fiber = ResolverFiber.current
      fiber ? fiber.away { super } : super
    end

    # A new fiber starts unmarked: graphql-ruby hands the spawning fiber's variables on, and a manager fiber
    # that believed it could park would never terminate.
    def get_fiber_variables
      super.tap { |variables| variables.delete(ResolverFiber::KEY) }
    end

    # One piece of graphql-ruby's work, in a fiber that may park.
    class Job
      def initialize(loader, work)
        @loader = loader
        @work = work
      end

      def call
        ResolverFiber.occupy(@loader) { @work.call }
      end
    end
  end
end

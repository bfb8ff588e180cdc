# frozen_string_literal: true

module Pipeloader
  # What Rails keeps "for the current thread or fiber", and code changes for the length of a block: scopes,
  # `connected_to`, CurrentAttributes, time zone, log tags (all in ActiveSupport's execution state), the locale, and
  # whether each query cache is on.
  #
  # All fibers of a run work on one, the *base*, which is what the response began with. A fiber that parks inside
  # `Post.unscoped { … }` leaves such a block open: it takes along what it sees, the base is put back to how it is *known*,
  # at rest, and what was taken is put in again before the fiber goes on. What still differs when a job ends was assigned
  # for good (`Current.user = …` in a login mutation): it is *settled*, and the jobs that start later, and the code after the
  # response, find it as they would in a serial run; fibers that had begun before don't.
  #
  # Limit: state that a gem keeps elsewhere, in a `Thread.current[]` of its own, is graphql-ruby's to copy
  # (GraphQL::Dataloader#get_fiber_variables), as with any dataloader.
  class DynamicState
    # How things are at rest.
    attr_reader :known

    # What this thread sees.
    #
    #: (Array[ActiveRecord::ConnectionAdapters::QueryCache::Store]) -> DynamicState
    def self.current(query_caches)
      execution = ActiveSupport::IsolatedExecutionState.context.active_support_execution_state ||= {}
      flags = query_caches.flat_map { |cache| [cache.enabled, cache.dirties] }
      new(query_caches, execution, Snapshot.new(execution, I18n.config.locale, flags))
    end

    # @param execution [Hash] ActiveSupport's own: {active_record_scope_registry: #<ScopeRegistry>, time_zone: …}
    def initialize(query_caches, execution, known)
      @query_caches = query_caches
      @execution = execution
      @known = known
    end

    # The one for a fiber that begins. (Under a fiber scheduler others go on wherever one waits, and nobody asks us.)
    def for_a_fiber
      return self unless Fiber.current_scheduler

      execution = @known.thaw
      DynamicState.new(@query_caches, execution, Snapshot.new(execution, @known.locale, @known.cache_flags))
    end

    # Makes it what code on this thread sees, as it was at +snapshot+.
    def install(snapshot = nil)
      snapshot&.restore(@execution)
      context = ActiveSupport::IsolatedExecutionState.context
      context.active_support_execution_state = @execution
      # Under :fiber isolation, ActiveSupport 8.1 looks at the fiber itself and not at its `context`.
      holder = ActiveSupport::IsolatedExecutionState.scope.current
      holder.active_support_execution_state = @execution unless holder.equal?(context)
      snapshot ||= @known
      install_rest(snapshot.locale, snapshot.cache_flags)
    end

    # Called before other code runs on this thread.
    #
    # @return [Snapshot, nil] what the fiber is to take along; nil if nothing differs
    def set_aside
      return if at_rest?

      Thread.handle_interrupt(Object => :never) { seen.tap { install(@known) } }
    end

    # A job has ended, which began when things were +known+: what differs is there to stay.
    def settle(base, known)
      now = seen unless at_rest?
      base.count(@execution) unless equal?(base)
      base.take_over(now, known) if now
    end

    # Whether code on this thread sees it as it is known: no block is open. (Asked whenever a fiber parks or ends, so without
    # allocating.)
    #
    #: () -> bool
    def at_rest?
      @execution.equal?(ActiveSupport::IsolatedExecutionState.context.active_support_execution_state) &&
        @known.like?(@execution) && @known.locale == I18n.config.locale && same_cache_flags?
    end

    protected

    # Under a fiber scheduler; where all work on the base, all have counted there.
    def count(execution)
      execution.each do |key, value|
        @execution[key] = (@execution[key] || 0) + value if Snapshot.counter?(key, value)
      end
    end

    def take_over(now, earlier)
      install(@known)
      now.apply_changes_since(earlier, @execution)
      install_rest(now.locale == earlier.locale ? @known.locale : now.locale,
                   now.cache_flags == earlier.cache_flags ? @known.cache_flags : now.cache_flags)
      @known = seen
    end

    private

    # What code on this thread sees now.
    def seen
      execution = ActiveSupport::IsolatedExecutionState.context.active_support_execution_state ||= {}
      Snapshot.new(execution, I18n.config.locale, @query_caches.flat_map { |cache| [cache.enabled, cache.dirties] })
    end

    def install_rest(locale, cache_flags)
      i18n = I18n.config # this fiber's own, or the thread's, depending on Ruby
      i18n.locale = locale unless i18n.locale == locale
      index = -1
      @query_caches.each do |cache|
        cache.enabled = cache_flags[index += 1]
        cache.dirties = cache_flags[index += 1]
      end
    end

    def same_cache_flags?
      flags = @known.cache_flags
      index = -1
      @query_caches.all? { |cache| cache.enabled == flags[index += 1] && cache.dirties == flags[index += 1] }
    end
  end
end

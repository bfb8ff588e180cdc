# frozen_string_literal: true

module Pipeloader
  # The state that Rails keeps "for the current thread or fiber", and code changes for the length of a block: scopes,
  # `connected_to`, CurrentAttributes, time zone, log tags (all in ActiveSupport's execution state), I18n's configuration and
  # locale, and whether each query cache is on.
  #
  # All fibers of a run work on one, the *base*, which is what the response began with. Between two fibers it is as it is
  # *known*. A fiber that parks inside `Post.unscoped { … }` leaves such a block open: it takes along what it sees, the base is
  # put back to how it is known, and what was taken is put in again before the fiber goes on. A difference that is left when a
  # job ends was assigned (`Current.user = …` in a login mutation), see Assignments.
  #
  # Limit: state that a gem keeps elsewhere, in a `Thread.current[]` of its own, is the scheduler's to copy
  # (GraphQL::Dataloader#get_fiber_variables, Scheduler's), as with any dataloader.
  class DynamicState
    # How things are between two fibers.
    attr_reader :known

    attr_reader :execution

    # What ActiveSupport keeps for this thread or fiber.
    #
    #: () -> Hash[Symbol, untyped]
    def self.execution = ActiveSupport::IsolatedExecutionState.context.active_support_execution_state ||= {}

    # The state that this thread sees.
    #
    #: (Array[ActiveRecord::ConnectionAdapters::QueryCache::Store]) -> DynamicState
    def self.current(query_caches)
      execution = self.execution
      flags = query_caches.flat_map { |cache| [cache.enabled, cache.dirties] }
      i18n = I18n.config
      new(query_caches, execution, Snapshot.new(execution, i18n.locale, flags, i18n))
    end

    # Yields, and puts back what is seen now.
    def self.keeping
      state = current([])
      yield
    ensure
      state&.install(state.known)
    end

    # @param execution [Hash] ActiveSupport's own: {active_record_scope_registry: #<ScopeRegistry>, time_zone: …}
    def initialize(query_caches, execution, known)
      @query_caches = query_caches
      @execution = execution
      @known = known
    end

    # The one for a fiber that begins as things were at +start+. Under a fiber scheduler others go on wherever one waits, and
    # nobody asks us, so that each fiber needs one of its own.
    #
    #: (Snapshot) -> DynamicState
    def for_a_fiber(start)
      return self unless Fiber.current_scheduler

      execution = Snapshot.memos(@execution).update(start.thaw)
      DynamicState.new(@query_caches, execution, Snapshot.new(execution, start.locale, start.cache_flags, start.i18n))
    end

    # Between two fibers, things are as they were at +snapshot+ from now on.
    #
    #: (Snapshot) -> void
    def rest_at(snapshot)
      @known = snapshot
      install(snapshot)
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
      install_rest(snapshot.i18n, snapshot.locale, snapshot.cache_flags)
    end

    # Called before other code runs on this thread: puts back how things are known.
    #
    # @param rest [Snapshot] of which the fiber has no block open
    # @return [Snapshot] what the fiber is to take along
    def set_aside(rest)
      at_rest = at_rest?(rest)
      return rest if at_rest && rest.equal?(@known)

      Thread.handle_interrupt(Object => :never) { (at_rest ? rest : seen).tap { install(@known) } }
    end

    # True if code on this thread sees it as it was at +rest+: no block is open. Asked whenever a fiber parks or ends, so without
    # allocating.
    #
    #: (Snapshot) -> bool
    def at_rest?(rest)
      @execution.equal?(ActiveSupport::IsolatedExecutionState.context.active_support_execution_state) &&
        rest.like?(@execution) && rest.same_locale?(I18n.config) && same_cache_flags?(rest.cache_flags)
    end

    # The state that code on this thread sees now.
    #
    #: () -> Snapshot
    def seen
      execution, i18n = DynamicState.execution, I18n.config
      Snapshot.new(execution, i18n.locale, @query_caches.flat_map { |cache| [cache.enabled, cache.dirties] }, i18n)
    end

    # @return [Snapshot] how +from+ is after the changes that led from +earlier+ to +now+
    def change(from, earlier, now)
      outer = DynamicState.current(@query_caches)
      install(from)
      now.apply_changes_since(earlier, @execution)
      install_rest(now.i18n.equal?(earlier.i18n) ? from.i18n : now.i18n,
                   now.locale == earlier.locale ? from.locale : now.locale,
                   now.cache_flags == earlier.cache_flags ? from.cache_flags : now.cache_flags)
      seen
    ensure
      outer.install(outer.known)
    end

    # Adds what was counted in a state of a fiber's own. Where all work on the base, all have counted there.
    #
    #: (DynamicState) -> void
    def count(other)
      other.execution.each do |key, value|
        @execution[key] = (@execution[key] || 0) + value if Snapshot.counter?(key, value)
      end
    end

    private

    def install_rest(i18n, locale, cache_flags)
      current = I18n.config # this fiber's own, or the thread's, depending on Ruby
      I18n.config = current = i18n unless i18n.nil? || current.equal?(i18n)
      current.locale = locale unless current.locale == locale
      index = -1
      @query_caches.each do |cache|
        cache.enabled = cache_flags[index += 1]
        cache.dirties = cache_flags[index += 1]
      end
    end

    # Without a block, which takes twice as long.
    def same_cache_flags?(flags)
      index = @query_caches.size
      while (index -= 1) >= 0
        cache = @query_caches[index]
        return false unless cache.enabled == flags[index * 2] && cache.dirties == flags[(index * 2) + 1]
      end
      true
    end
  end
end

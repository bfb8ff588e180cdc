# frozen_string_literal: true

require "active_record/explain_registry"

module Pipeloader
  # What Rails keeps "for the current thread or fiber", and code changes for the length of a block: scopes,
  # `connected_to`, CurrentAttributes, time zone, log tags (all in ActiveSupport's execution state), the locale, and
  # whether each query cache is on.
  #
  # A fiber that parks inside `Post.unscoped { … }` leaves such a block open while others run, so every resolver fiber
  # works on a *fork* of its own, put back whenever it goes on. The state that the response began with, the *base*, is
  # never touched by an open block. What still differs when a job ends was assigned for good (`Current.user = …` in a
  # login mutation): it is *settled* to the base, where the jobs that start later, and the code after the response,
  # find it as they would in a serial run.
  #
  # Limit: state that a gem keeps elsewhere, in a `Thread.current[]` of its own, is graphql-ruby's to copy
  # (GraphQL::Dataloader#get_fiber_variables), as with any dataloader.
  class DynamicState
    NONE = Object.new.freeze
    # Counts up in every job that reads; added to the base, and no reason for other fibers to fork anew.
    COUNTER = "active_record_"
    private_constant :NONE, :COUNTER

    # +execution+ is ActiveSupport's Hash itself: {active_record_scope_registry: #<ScopeRegistry>, time_zone: …}
    attr_reader :execution, :version

    #: (Array[ActiveRecord::ConnectionAdapters::QueryCache::Store]) -> void
    def initialize(query_caches)
      @query_caches = query_caches
      @version = 0
      capture
    end

    # A state of its own that starts out equal to this one.
    #
    #: () -> DynamicState
    def fork = dup.forked_at(@version)

    # False once another job has settled something that this fork doesn't know.
    def current?(base) = @forked_at == base.version

    # Takes up what is: called before other code runs on this thread.
    def capture
      @execution = ActiveSupport::IsolatedExecutionState.context.active_support_execution_state ||= {}
      @i18n = I18n.config # this fiber's own, or the thread's, depending on Ruby
      @locale = @i18n.locale
      @cache_flags = @query_caches.flat_map { |cache| [cache.enabled, cache.dirties] }
    end

    # Makes this the state that code on this thread sees.
    def install
      context = ActiveSupport::IsolatedExecutionState.context
      context.active_support_execution_state = @execution
      # Under :fiber isolation, ActiveSupport 8.1 looks at the fiber itself and not at its `context`.
      holder = ActiveSupport::IsolatedExecutionState.scope.current
      holder.active_support_execution_state = @execution unless holder.equal?(context)
      @i18n = I18n.config
      @i18n.locale = @locale unless @i18n.locale == @locale
      @query_caches.each_with_index do |cache, index|
        cache.enabled = @cache_flags[2 * index]
        cache.dirties = @cache_flags[(2 * index) + 1]
      end
    end

    # Hands to +base+ what changed since this state was forked or last settled.
    def settle(base)
      return if unchanged?

      capture
      base.version_up if settle_execution(base) | settle_attributes(base) | settle_rest(base)
      remember
      @forked_at = base.version
    end

    protected

    attr_writer :locale, :cache_flags

    def forked_at(version)
      @execution = @execution.transform_values { |value| copy(value) }
      @cache_flags = @cache_flags.dup
      @forked_at = version
      remember
      self
    end

    def version_up = @version += 1

    # @return {Symbol => CurrentAttributes}, nil where none was ever asked for
    def current_attributes
      @execution[:current_attributes_instances] ||
        (context = @execution[:active_support_execution_context]).respond_to?(:current_attributes_instances) &&
          context.current_attributes_instances || nil
    end

    # The attributes of +instance+'s class in this state: {user: #<User>, …}
    def attributes_like(name, instance)
      (current_attributes[name] ||= copy(instance)).instance_variable_get(:@attributes)
    end

    private

    def remember
      @known_execution = @execution.dup
      @known_attributes = current_attributes&.transform_values { |it| it.instance_variable_get(:@attributes).dup }
      @known_locale = @locale
      @known_flags = @cache_flags
    end

    # Asked at the end of every job, so without allocating. (Hash#== takes identical values for equal without a call.)
    def unchanged?
      @execution == @known_execution && @i18n.locale == @known_locale && same_cache_flags? && same_attributes?
    end

    def same_cache_flags?
      @query_caches.each_with_index do |cache, index|
        return false if cache.enabled != @known_flags[2 * index] || cache.dirties != @known_flags[(2 * index) + 1]
      end
      true
    end

    def same_attributes?
      return true unless (instances = current_attributes)

      instances.size == @known_attributes&.size &&
        instances.all? { |name, it| it.instance_variable_get(:@attributes) == @known_attributes[name] }
    end

    def settle_execution(base)
      settled = false
      each_difference(@execution, @known_execution) do |key, value, was|
        if key.start_with?(COUNTER) && value.is_a?(Numeric)
          base.execution[key] = (base.execution[key] || 0) + value - (was.equal?(NONE) ? 0 : was)
        else
          settled = true
          value.equal?(NONE) ? base.execution.delete(key) : base.execution[key] = copy(value)
        end
      end
      settled
    end

    def settle_attributes(base)
      return false if same_attributes?

      base.execution[:current_attributes_instances] ||= {} if @execution.key?(:current_attributes_instances)
      current_attributes.each do |name, instance|
        # (ActiveSupport 7.2.0 makes one of CurrentAttributes itself while that is loaded, and it has none.)
        next unless (attributes = instance.instance_variable_get(:@attributes))

        theirs = base.attributes_like(name, instance)
        each_difference(attributes, @known_attributes&.[](name) || {}) do |key, value|
          value.equal?(NONE) ? theirs.delete(key) : theirs[key] = value
        end
      end
      true
    end

    def settle_rest(base)
      return false if @locale == @known_locale && @cache_flags == @known_flags

      base.locale = @locale
      base.cache_flags = @cache_flags
      true
    end

    def each_difference(now, was)
      now.each do |key, value|
        before = was.fetch(key, NONE)
        yield key, value, before unless before.equal?(value)
      end
      was.each { |key, before| yield key, NONE, before unless now.key?(key) }
    end

    # As deep as blocks change things in place: stacks and registries, and each CurrentAttributes' own Hash. What user
    # code put there stays shared, as it is in a serial run.
    def copy(value)
      case value
      when Array, Set then value.dup
      when Hash then value.transform_values { |it| it.is_a?(ActiveSupport::CurrentAttributes) ? copy(it) : it }
      when ActiveSupport::CurrentAttributes, *REGISTRIES then copy_with_containers(value)
      else value
      end
    end

    def copy_with_containers(object)
      object.dup.tap do |twin|
        twin.instance_variables.each do |name|
          value = twin.instance_variable_get(name)
          twin.instance_variable_set(name, copy(value)) if value.is_a?(Array) || value.is_a?(Hash)
        end
      end
    end

    REGISTRIES = [
      ActiveRecord::Scoping::ScopeRegistry,
      ActiveRecord::ExplainRegistry,
      ActiveSupport::TaggedLogging.const_get(:TagStack),
      (ActiveSupport::ExecutionContext::Record if ActiveSupport::ExecutionContext.const_defined?(:Record))
    ].compact.freeze
    private_constant :REGISTRIES
  end
end

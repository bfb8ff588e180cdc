# frozen_string_literal: true

require "active_record/explain_registry"

module Pipeloader
  # The content of a DynamicState at one moment: compares, and puts it back.
  #
  # As deep as blocks change things in place: stacks and registries, and each CurrentAttributes' own Hash. They are put back
  # into the same objects, since a block that is open keeps some of those (Current.set). What user code put there stays
  # shared, as it is in a serial run. Nothing (nil, an empty stack) is the same as what isn't there.
  class Snapshot
    # An object that is changed in place, and what was in it: an Array's or Set's twin, {key => value}, or {@name => value}.
    Container = Struct.new(:object, :content) do
      # The object, as it was.
      def restore
        case object
        when Array, Set then object.replace(content)
        when Hash then refill(restored { |container| container.restore })
        else restored { |container| container.restore }.each { |name, value| object.instance_variable_set(name, value) }
        end
        object
      end

      # Another that is as it was.
      def thaw
        case object
        when Array, Set then content.dup
        when Hash then object.dup.clear.update(restored { |container| container.thaw })
        else
          object.dup.tap do |twin|
            restored { |container| container.thaw }.each { |name, value| twin.instance_variable_set(name, value) }
          end
        end
      end

      private

      # Keeps its default. While somebody iterates over a Hash, no key can be added to it, but all can be set.
      def refill(pairs) = object.keep_if { |key, _| pairs.key?(key) }.update(pairs)

      def restored
        content.transform_values { |value| value.is_a?(Container) ? yield(value) : value }
      end
    end

    # ActiveSupport 8.1 has one for each execution state.
    CONTEXT = (ActiveSupport::ExecutionContext::Record if ActiveSupport::ExecutionContext.const_defined?(:Record, false))

    REGISTRIES = [
      ActiveSupport::CurrentAttributes,
      ActiveRecord::ExplainRegistry,
      ActiveSupport::TaggedLogging.const_get(:TagStack, false),
      CONTEXT
    ].compact.freeze

    # Where CurrentAttributes are: {Current => #<Current>}, or (ActiveSupport 8.1) a registry that has them.
    ATTRIBUTES = %i[current_attributes_instances active_support_execution_context].freeze

    # Counts up in every job that reads: no block of anybody's.
    COUNTER = "active_record_"
    # Lists to which events are added by whoever reads: ActionDispatch::ServerTiming's, which is on in development.
    COLLECTIONS = %i[action_dispatch_server_timing_events].freeze
    # Made by ActiveSupport and ActiveRecord when they first need it, and kept: the instrumenter by which all events are sent;
    # from ActiveRecord 8.1 on, what adds up times.
    MEMOS = %i[active_support_notifications_registry active_record_instrumenter active_record_runtime].freeze
    # Where ActiveRecord::QueryLogs has its `cached_comment`, with its number behind it.
    COMMENT = "attr_cached_comment_"
    # True if a configuration of I18n may be one fiber's: i18n 1.15 keeps them in the storage of fibers, where there is one.
    OWNED = I18n::Config.method_defined?(:owned_by?)
    private_constant :Container, :CONTEXT, :REGISTRIES, :ATTRIBUTES, :COUNTER, :COLLECTIONS, :MEMOS, :COMMENT, :OWNED

    # True if the value is one list for all, however it grows.
    def self.collection?(key) = COLLECTIONS.include?(key)

    def self.counter?(key, value) = value.is_a?(Numeric) && key.start_with?(COUNTER)

    def self.memo?(key) = MEMOS.include?(key)

    # {key => memo} of those that +execution+ has
    def self.memos(execution) = execution.slice(*MEMOS)

    # True if ActiveRecord makes it from the rest whenever it isn't there: the comment of query log tags, where those are cached.
    def self.derived?(key)
      String === key && key.start_with?(COMMENT) && key == "#{COMMENT}#{ActiveRecord::QueryLogs.object_id}"
    end

    # True if it's neither compared nor put back.
    def self.left_alone?(key, value) = counter?(key, value) || memo?(key)

    # @return [I18n::Config, nil] nil where each fiber has one to itself
    attr_reader :i18n

    attr_reader :locale, :cache_flags, :entries, :instances, :attributes

    # @param execution [Hash] {active_record_scope_registry: #<ScopeRegistry>, time_zone: …}
    # @param cache_flags [Array] of each query cache, whether it is on, and whether writes empty it
    # @param i18n [I18n::Config] that all fibers see: an action of a controller's or a mailer's puts its own in place
    def initialize(execution, locale, cache_flags, i18n = I18n.config)
      @i18n = i18n unless OWNED && Fiber.respond_to?(:[])
      @locale = locale
      @cache_flags = cache_flags
      @entries = execution.reject { |key, value| Snapshot.left_alone?(key, value) || nothing?(key, value) }
                          .to_h { |key, value| [key, Snapshot.collection?(key) ? value : keep(value)] }
      @instances = instances_in(execution).to_h.dup # that Hash itself is put back to how it was
      @attributes = @instances.transform_values { |instance| attributes_of(instance).dup }
    end

    # The kind of +value+, worked out once for each class.
    def self.kind(value) = KINDS[value.class] ||= kind_of(value)

    def self.kind_of(value)
      case value
      when Array then :array
      when Hash then :hash
      when Set then :set
      when ActiveRecord::Scoping::ScopeRegistry then :scopes
      when *REGISTRIES then :object
      else :plain
      end
    end
    private_class_method :kind_of

    # Each instance has all of them from the start.
    def self.variables_of(object) = (VARIABLES[object.class] ||= object.instance_variables)

    # True if +execution+ is as it was.
    def like?(execution)
      return true if @fingerprint&.of?(execution)

      compare(execution).tap { |same| @fingerprint = Fingerprint.new(execution) if same }
    end

    # True if +i18n+ is the same, and its locale.
    def same_locale?(i18n) = (@i18n.equal?(i18n) || @i18n.nil?) && @locale == i18n.locale

    # Makes +execution+ what it was, but for what is left alone.
    def restore(execution)
      execution.delete_if { |key, value| !@entries.key?(key) && !Snapshot.left_alone?(key, value) }
      @entries.each { |key, value| execution[key] = value.is_a?(Container) ? value.restore : value }
    end

    # Another execution state that is as it was.
    def thaw = @entries.transform_values { |value| value.is_a?(Container) ? value.thaw : value }

    # Makes the changes to +execution+ that led from +earlier+ to this.
    def apply_changes_since(earlier, execution)
      thaw.each do |key, value|
        next if ATTRIBUTES.include?(key)

        execution[key] = value unless (was = earlier.entries[key]) && same?(value, was)
      end
      (earlier.entries.keys - @entries.keys - ATTRIBUTES).each { |key| execution.delete(key) }
      apply_attributes_changed_since(earlier, execution)
    end

    private

    def compare(execution)
      matched = 0
      execution.each do |key, value|
        next if (was = @entries[key]).nil? && (Snapshot.left_alone?(key, value) || nothing?(key, value))
        return false if was.nil? || !same?(value, was)

        matched += 1
      end
      matched == @entries.size
    end

    def apply_attributes_changed_since(earlier, execution)
      @attributes.each do |name, now|
        # One that was set and set back is there now, and nil.
        was = earlier.attributes[name] || attributes_of(@instances[name].class.new)
        changed = now.reject { |key, value| was[key].equal?(value) }
        gone = was.keys - now.keys
        next if changed.empty? && gone.empty?

        theirs = attributes_of((instances_in(execution) || begin_in(execution))[name] ||= @instances[name].class.new)
        theirs.merge!(changed)
        gone.each { |key| theirs.delete(key) }
      end
    end

    # {Current => #<Current>}; nil where none was ever asked for
    def instances_in(execution)
      execution[:current_attributes_instances] ||
        (context = execution[:active_support_execution_context]).respond_to?(:current_attributes_instances) &&
          context.current_attributes_instances || nil
    end

    def begin_in(execution)
      return execution[:current_attributes_instances] = {} unless CONTEXT

      (execution[:active_support_execution_context] = CONTEXT.new).current_attributes_instances
    end

    # {user: #<User>, …}. ActiveSupport 7.2.0 makes one of CurrentAttributes itself while that is loaded, and it has none.
    def attributes_of(instance) = instance.instance_variable_get(:@attributes) || {}

    def kind(value) = Snapshot.kind(value)

    def keep(value)
      return value if value.frozen?

      case kind(value)
      when :array, :set then Container.new(value, value.dup)
      when :hash
        Container.new(value, value.transform_values { |it| it.is_a?(ActiveSupport::CurrentAttributes) ? keep(it) : it })
      when :object, :scopes
        Container.new(value, Snapshot.variables_of(value).to_h { |name| [name, keep(value.instance_variable_get(name))] })
      else value
      end
    end

    def same?(value, was)
      return value.equal?(was) unless was.is_a?(Container)
      return false unless value.instance_of?(was.object.class)

      case kind(value)
      when :array then same_items?(value, was.content)
      when :hash then same_pairs?(value, was.content)
      when :set then value == was.content
      when :scopes then same_scopes?(value, was.content)
      else same_variables?(value, was.content)
      end
    end

    def same_items?(items, others)
      index = -1
      items.size == others.size && items.all? { |item| item.equal?(others[index += 1]) }
    end

    # Hash#all? would make an Array of each pair.
    def same_pairs?(pairs, others)
      matched = 0
      pairs.each do |key, value|
        next if (was = others[key]).nil? && blank?(value)
        return false if was.nil? || !same?(value, was)

        matched += 1
      end
      matched == others.size || others.all? { |key, was| !pairs.fetch(key, nil).nil? || blank?(was) }
    end

    def same_variables?(object, others)
      others.each { |name, was| return false unless same?(object.instance_variable_get(name), was) }
      true
    end

    # False is no scope, as nil is: ActiveRecord leaves it behind for each model of which it has looked at the default scope.
    def same_scopes?(registry, others)
      others.all? do |name, was|
        scopes = registry.instance_variable_get(name)
        was = was.content
        scopes.all? { |model, scope| (scope || nil).equal?(was[model] || nil) } &&
          (scopes.size == was.size || was.all? { |model, scope| !scope || scopes[model] })
      end
    end

    # True if it is as if the key weren't there.
    def nothing?(key, value) = Snapshot.collection?(key) ? value.nil? : Snapshot.derived?(key) || blank?(value)

    # As if it weren't there.
    def blank?(value)
      return true if value.nil?

      case kind(value)
      when :array, :set then value.empty?
      when :hash then blank_values?(value)
      when :object then blank_object?(value)
      when :scopes then Snapshot.variables_of(value).all? { |name| value.instance_variable_get(name).values.none? }
      else value.is_a?(Container) && blank?(value.content)
      end
    end

    def blank_values?(pairs)
      pairs.each_value { |value| return false unless value.nil? || blank?(value) }
      true
    end

    def blank_object?(object)
      Snapshot.variables_of(object).each do |name|
        value = object.instance_variable_get(name)
        return false unless !value || blank?(value)
      end
      true
    end

    KINDS = {}.compare_by_identity
    private_constant :KINDS

    VARIABLES = {} # rubocop:disable Style/MutableConstant
    private_constant :VARIABLES
  end
end

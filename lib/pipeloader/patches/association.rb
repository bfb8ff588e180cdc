# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Associations::Association
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: two fields that read `post.author` are two fibers; the second must find the target
    #   loaded, as it does when they run one after the other. And ActiveRecord builds for each owner what is the same for all.
    # Falls through when:: the current fiber is not a resolver's, or no other fiber is loading this association; more than the
    #   owner's keys decides what is asked for (AssociationQuery), or it is asked for asynchronously.
    module Association
      def initialize(owner, reflection)
        super
        planned = Thread.current[ResolverFiber::KEY]&.planned(owner, reflection.name)
        @pipeloader_flight = planned if planned
      end

      def load_target
        fiber = Thread.current[ResolverFiber::KEY]
        fiber.nil? || @loaded ? super : pipeloader_load_for(fiber) { super() }
      end

      # ActiveRecord 8.0 and later pass `async:`.
      def find_target(**options)
        fiber = Thread.current[ResolverFiber::KEY]
        return super if fiber.nil? || options[:async] || violates_strict_loading?

        changes = @pipeloader_changes
        found = fiber.response.association(self, fiber) do
          Flight.over(self, fiber) { pipeloader_find_by_keys(fiber) || pipeloader_unscoped { super } }
        end
        return found if changes == @pipeloader_changes

        (@pipeloader_changed ||= {}.compare_by_identity)[fiber] = Changed.new(found, @loaded, pipeloader_left, @stale_state)
        found
      end

      # A sibling's load in flight no longer counts for later callers.
      def reset
        remove_instance_variable(:@pipeloader_flight) if pipeloader_change
        super
      end

      def target=(...)
        pipeloader_change
        super
      end

      # True if it is read by a relation of its own, and not by a statement that all owners have in common.
      def pipeloader_dynamic? = skip_statement_cache?(NothingToEagerLoad)

      # As load_target, when it has found +records+.
      def pipeloader_load(records, dynamic = pipeloader_dynamic?)
        @target = pipeloader_target(pipeloader_adopt(records, dynamic))
        loaded!
      end

      # As find_target, when it has found +records+.
      def pipeloader_adopt(records, dynamic = pipeloader_dynamic?)
        records.each { |record| dynamic ? pipeloader_take_over(record) : pipeloader_take(record) }
      end

      # @return [AssociationRead, nil] what it would read by its owner's keys; nil where more than these decides that
      def pipeloader_read(fiber, pool)
        query = AssociationQuery.of(klass, reflection)
        query.known_read_for(self) ||
          fiber.response.holding(pool, fiber) { |connection| query.read_for(self, connection, nil) }
      end

      def scope
        return super unless @pipeloader_unscoped

        @pipeloader_unscoped = nil # while its fiber is parked others may ask
        NothingToEagerLoad
      end

      # Whoever asks while another fiber loads, waits: `size`, `empty?`, `ids` and the readers all ask this first.
      def loaded?
        @pipeloader_flight&.await unless @pipeloader_changed&.key?(Thread.current[ResolverFiber::KEY])
        super
      end

      # A resolver may put its record into a cache while a sibling loads one of its associations. Nothing of ours goes along.
      def marshal_dump
        name, variables = super
        [name, variables.reject { |variable, _| variable.start_with?("@pipeloader_") }]
      end

      # True if that class's `scope` is ActiveRecord's own: somebody else's would want a relation from it.
      def self.host_scope?(type)
        (@host_scopes ||= {}.compare_by_identity).fetch(type) do
          owner = type.instance_method(:scope).owner
          @host_scopes[type] = equal?(owner) || owner == ActiveRecord::Associations::CollectionAssociation
        end
      end

      # Stands in for a relation.
      module NothingToEagerLoad
        def self.eager_loading? = false
      end

      # What a sibling has made of an association while its records were +found+.
      Changed = Struct.new(:found, :loaded, :target, :stale_state) do
        # True if it has only been forgotten: the next load writes over what this one stores.
        def nothing? = !loaded && Array(target).empty?
      end
      private_constant :Changed

      private

      # Takes note that it is about to be changed.
      #
      # @return [Boolean] whether a sibling is loading it
      def pipeloader_change
        return false unless @pipeloader_flight && Flight.elsewhere?(self)

        @pipeloader_changes = (@pipeloader_changes || 0) + 1
        true
      end

      # Yields, to load it where nobody has done so.
      def pipeloader_load_for(fiber)
        return Flight.over(self, fiber) { pipeloader_keeping_changes(fiber) { yield } } unless fiber.response.ahead_of?(self)

        pipeloader_take_ahead(fiber) ? @target : pipeloader_keeping_changes(fiber) { yield }
      end

      # Yields, to load it. What a sibling has made of it meanwhile stays, and the caller gets the records that were found.
      def pipeloader_keeping_changes(fiber)
        target = yield
        changed = @pipeloader_changed&.fetch(fiber, nil)
        return target if changed.nil? || changed.nothing?

        @loaded, @target, @stale_state = changed.loaded, changed.target, changed.stale_state
        pipeloader_missed(changed.found, fiber)
      ensure
        @pipeloader_changed&.delete(fiber)
      end

      def pipeloader_missed(found, fiber) = found.first.tap { |record| fiber.missed = [self, record] }
      def pipeloader_left = @target

      # As load_target, with what has been read ahead. A :through association asks more of its owner before it reads.
      #
      # @return [Boolean] false where ActiveRecord is to find out by itself
      def pipeloader_take_ahead(fiber)
        return false if reflection.through_reflection? || violates_strict_loading?

        records = fiber.response.hand_over(self, fiber) or return false
        @target = pipeloader_target(records)
        loaded!
        true
      end

      def pipeloader_target(records) = records.first

      # @param projection [Projection, nil] of the rows; nil for whole ones
      # @return [Array<ActiveRecord::Base>, nil] nil where more than the owner's keys decides what is asked for
      def pipeloader_find_by_keys(fiber, projection = nil)
        klass = self.klass
        query = AssociationQuery.of(klass, reflection)
        read = result = nil
        fiber.response.holding(klass.connection_pool, fiber) do |connection|
          read = query.read_for(self, connection, projection)
          result = connection.pipeloader_select(read, query.keys_of(owner), fiber) if read
        end
        return unless result

        result = projection.narrowed(result) if projection
        klass._load_from_sql(result) { |record| read.dynamic? ? pipeloader_take_over(record) : pipeloader_take(record) }
      end

      def pipeloader_take(record)
        set_inverse_instance(record) if pipeloader_inverse?
        pipeloader_set_strict_loading(record)
      end

      # Without one there is nothing to set, which ActiveRecord would ask each record; a polymorphic one depends on the record.
      def pipeloader_inverse? = reflection.polymorphic? || !reflection.inverse_of.nil?

      def pipeloader_take_over(record)
        set_inverse_instance_from_queries(record) if pipeloader_inverse?
        pipeloader_set_strict_loading(record) if RELATIONS_SET_STRICT_LOADING
      end

      # ActiveRecord 7.2 has this in find_target itself.
      RELATIONS_SET_STRICT_LOADING = ActiveRecord::Associations::Association.method_defined?(:set_strict_loading)
      private_constant :RELATIONS_SET_STRICT_LOADING
      if RELATIONS_SET_STRICT_LOADING
        def pipeloader_set_strict_loading(record) = set_strict_loading(record)
      else
        def pipeloader_set_strict_loading(record)
          owner = @owner
          if owner.strict_loading_n_plus_one_only? && reflection.macro == :has_many
            record.strict_loading!
          elsif record.strict_loading? || owner.strict_loading_mode != record.strict_loading_mode
            record.strict_loading!(false, mode: owner.strict_loading_mode)
          end
        end
      end

      # Lets find_target ask its scope one thing, `eager_loading?`, before it takes the statement that it has for all owners.
      # Building that scope is a third of what a read costs ActiveRecord; without scopes of any kind the answer is no.
      def pipeloader_unscoped
        @pipeloader_unscoped = !disable_joins && !pipeloader_dynamic? && Association.host_scope?(self.class)
        yield
      ensure
        @pipeloader_unscoped = nil
      end
    end

    # Host:: ActiveRecord::Associations::CollectionAssociation, which has a `load_target` of its own; see Association.
    module CollectionAssociation
      # A plan writes its rows: without Pipeloader its records would be in memory from now on.
      def pipeloader_write = @pipeloader_written = true

      # `first` and `last` are of what is in memory: where nothing orders the records, others than ActiveRecord would ask for.
      def find_from_target? = super || @pipeloader_written || false

      def reset
        @pipeloader_written = nil if @pipeloader_written
        super
      end

      def load_target
        fiber = Thread.current[ResolverFiber::KEY]
        fiber.nil? || @loaded ? super : pipeloader_load_for(fiber) { super() }
      end

      # A record that is made in memory (`object.comments.build`) isn't an earlier field's, whose records are on their way.
      def add_to_target(...)
        pipeloader_begin_change
        super
      end

      private

      # Neither is a record that is deleted. Inside a transaction there is no waiting.
      def delete_or_destroy(...)
        pipeloader_begin_change
        super
      end

      def pipeloader_begin_change
        return unless (flight = @pipeloader_flight)

        fiber = ResolverFiber.current
        Flight.await_end(self, fiber)
        pipeloader_change if fiber && flight.before?(fiber)
      end

      # A target that was loaded while this fiber was parked stays. ActiveRecord would take the records out of the Array that
      # was handed to them.
      def merge_target_lists(persisted, memory) = @loaded && ResolverFiber.current ? memory : super

      def pipeloader_target(records) = merge_target_lists(records, @target)

      def pipeloader_missed(found, _fiber) = found
      def pipeloader_left = @target.dup
    end

    # Host:: ActiveRecord::Associations::SingularAssociation; see CollectionAssociation.
    module SingularAssociation
      # Where a sibling has changed it meanwhile, the record is the one that was found.
      def reader
        ResolverFiber.current&.missed = nil if @pipeloader_changes
        record = super
        return record unless @pipeloader_changes && (fiber = ResolverFiber.current)

        association, found = fiber.missed
        association.equal?(self) ? found : record
      end

      def writer(...)
        Flight.await_end(self) if @pipeloader_flight
        super
      end

      def build(...)
        Flight.await_end(self) if @pipeloader_flight
        super
      end
    end
  end
end

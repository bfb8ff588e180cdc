# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: ActiveRecord::Associations::Association
    # Since:: ActiveRecord 7.2
    # Why no public seam does it:: two fields that read `post.author` are two fibers; the second must find the target
    #   loaded, as it does when they run one after the other.
    # Falls through when:: the current fiber is not a resolver's, or no other fiber is loading this association.
    module Association
      def load_target
        fiber = Thread.current[ResolverFiber::KEY]
        return super if fiber.nil? || @loaded

        Flight.over(self, fiber) { super }
      end

      # Asks its scope one thing, `eager_loading?`, before it takes the statement that it has for all owners. Building that
      # scope is a third of what a read costs ActiveRecord; without scopes of any kind the answer is no.
      def find_target(...)
        @pipeloader_unscoped = ResolverFiber.current && !disable_joins && !reflection.has_scope? && !klass.scope_attributes? &&
                               Association.host_scope?(self.class)
        super
      ensure
        @pipeloader_unscoped = nil
      end

      def scope
        return super unless @pipeloader_unscoped

        @pipeloader_unscoped = nil # while its fiber is parked others may ask
        NothingToEagerLoad
      end

      # Whether that class's `scope` is ActiveRecord's own: somebody else's would want a relation from it.
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

      # Whoever asks while another fiber loads, waits: `size`, `empty?`, `ids` and the readers all ask this first.
      def loaded?
        @pipeloader_flight&.await
        super
      end
    end

    # Host:: ActiveRecord::Associations::CollectionAssociation, which has a `load_target` of its own; see Association.
    module CollectionAssociation
      def load_target
        fiber = Thread.current[ResolverFiber::KEY]
        return super if fiber.nil? || @loaded

        Flight.over(self, fiber) { super }
      end
    end
  end
end

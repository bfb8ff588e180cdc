# frozen_string_literal: true

module Pipeloader
  module Patches
    # Host:: GraphQL::Pagination::Connection
    # Since:: graphql 2.5.2
    # Why no public seam does it:: a connection of the application's own class keeps what it has loaded, `@nodes ||= …`. `nodes`,
    #   `edges` and `pageInfo` are sibling fields, so sibling fibers, and each finds nothing kept. Measured: 12 queries, not 2.
    # Falls through when:: the connection gets its context where no field is resolved, or its class is graphql-ruby's. Without a
    #   context it may go into a cache, and Marshal dumps no object that an anonymous module extends.
    module ConnectionTurns
      def initialize(...)
        super
        ConnectionTurns.take(self) if @context
      end

      def context=(_context)
        super
        ConnectionTurns.take(self)
      end

      def self.take(connection)
        turns = of(connection.class) if ResolverFiber.current && !connection.frozen?
        connection.extend(turns) if turns
      end

      # One for each class of the application's, which keeps it.
      #
      # @return [Module, nil] for a connection to be extended with: its methods are run by one fiber after the other
      def self.of(type)
        known = type.instance_variable_get(:@pipeloader_turns)
        return known || nil unless known.nil?

        names = names(type)
        type.instance_variable_set(:@pipeloader_turns, names.any? && taking(names)) unless type.frozen?
      end

      # @return [Array<Symbol>] of methods that classes of the application's define, and that are public in the +type+ itself: an
      #   heir may make one private, or have it undefined
      def self.names(type)
        own = type.ancestors.take_while { |it| !it.equal?(GraphQL::Pagination::Connection) }
        own.flat_map { |it| it.public_instance_methods(false) }.uniq.reject do |name|
          name.end_with?("=") || !type.public_method_defined?(name) || Provenance.graphql_alone?(type.instance_method(name))
        end
      end

      def self.taking(names)
        Module.new do
          names.each do |name|
            define_method(name) do |*arguments, **keywords, &block|
              fiber = ResolverFiber.current unless frozen?
              fiber ? Flight.over(self, fiber) { super(*arguments, **keywords, &block) } : super(*arguments, **keywords, &block)
            end
          end
        end
      end
      private_class_method :names, :taking
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # What a type's `scope_items` calls of the items that a field returns:
  #
  #     def self.scope_items(items, context) = super.where(owner_id: context[:viewer_id])
  #
  # graphql-ruby gives it what the resolver method has returned, so it says how the Chain of that method goes on.
  #
  # Limits: branches and variables; `super` with anything else than what the method is given.
  class ItemScope < Guard
    METHOD = :scope_items
    EXTENSIONS = [GraphQL::Schema::Field::ScopeExtension, GraphQL::Schema::Field::ConnectionExtension].freeze
    # Those who have graphql-ruby's own: it returns the items, or asks the type of a connection's nodes.
    HOST = GraphQL::Schema::Member::Scoped
    OF_NODES = GraphQL::Types::Relay::ConnectionBehaviors::ClassMethods
    private_constant :METHOD, :EXTENSIONS, :HOST, :OF_NODES

    class << self
      # @param field [GraphQL::Schema::Field]
      # @return [ItemScope, nil] nil where it isn't known what becomes of the items
      def of(field)
        return NONE if field.extensions.none?(EXTENSIONS.first)

        scope = new(field.type.unwrap)
        scope if scope.chain && in_front?(field)
      end

      private

      # True if it is called once, and before there is a connection.
      def in_front?(field)
        known = field.extensions.map(&:class).select { |it| EXTENSIONS.include?(it) }
        EXTENSIONS.take(known.size) == known
      end
    end

    # @return [Chain, nil] without calls where it returns the items; nil where it does what isn't known
    attr_reader :chain

    # @param type [Module, nil] of the items, or of a connection
    def initialize(type)
      super
      @watched = []
      @chain = type.respond_to?(METHOD) ? continued(type) : Chain.new([], {})
    rescue Unknown
      @chain = nil
    end

    # True if one of its methods is the application's.
    def own? = @watched.any? { |it| !Provenance.of_host?(it.found, HOST) && !Provenance.of_host?(it.found, OF_NODES) }

    # True if one of them is another by now.
    def over? = @watched.any?(&:over?)

    private

    # For a resolver method that returns nil, graphql-ruby doesn't call it.
    def continued(type)
      method = type.method(METHOD)
      chain = Delegation.of_code([*steps_of(method), [:leave]], Bytecode.of(method, %i[req]), GraphQL::Schema::Object) || unknown
      unknown if chain.calls.any? { |call| KnownMethods.refined?(call.name) || call.name == :first } # no relation
      chain.calls.each { |call| call.safe = true }
      chain
    end

    # @param above [Integer] as Watched's
    # @return [Array<Array, Symbol>] of all that is run, but the last `leave`; the items are `object`
    def steps_of(method, above = 0)
      watch(method, above)
      return OBJECT if Provenance.of_host?(method, HOST)
      return of_nodes(method.receiver.node_type) if Provenance.of_host?(method, OF_NODES)

      given = given(method, [OBJECT, CONTEXT])
      walk(method.unbind, given) { |steps, places| of_above(steps, method, above, given, places) }
      *steps, last = @found.pop
      last == [:leave] ? steps : unknown
    end

    def of_nodes(type) = type.respond_to?(METHOD) ? steps_of(type.method(METHOD)) : unknown

    def of_above(steps, method, above, given, places)
      behind = behind_super(steps, given, places) or return
      [steps_of(method.super_method || unknown, above + 1), behind]
    end

    def watch(method, above)
      it = Watched.new(method.receiver, METHOD, above, method)
      @watched.include?(it) ? unknown : @watched << it
    end

    NONE = new(nil)
    private_constant :NONE
  end
end

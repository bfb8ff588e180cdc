# frozen_string_literal: true

module Pipeloader
  # What Provenance knows of graphql-ruby.
  module GraphQLProvenance
    #: (Method | UnboundMethod) -> bool
    def graphql?(method) = ruby?(method) || in?(method, GraphQL)

    # True if graphql-ruby's method runs as it is: nothing but it, and our patches, is run by calling +method+.
    #
    #: (Method | UnboundMethod) -> bool
    def graphql_alone?(method) = alone?(method) { |it| graphql?(it) }

    # True if it is the method of +host+, a module of graphql-ruby's, and not one by which somebody has replaced it there.
    #
    #: (Method | UnboundMethod, Module) -> bool
    def of_host?(method, host) = method.owner.equal?(host) && graphql?(method)

    # True if +type+ has its method +name+ from +host+, a module of graphql-ruby's, and as it is there.
    #
    #: (Class, Symbol, Module) -> bool
    def hosted?(type, name, host)
      type.method_defined?(name) && (method = type.instance_method(name)).owner.equal?(host) && graphql_alone?(method)
    end

    Provenance.know(GraphQL)
    Provenance.extend(self)
  end
end

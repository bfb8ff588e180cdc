# frozen_string_literal: true

module Pipeloader
  # Proves that graphql-ruby resolves a field by calling one method of the record, without arguments, and does nothing else with
  # the record.
  class PlainField
    HOST = GraphQL::Schema::Field
    SAMPLE = HOST.new(name: "sample", type: String, null: true, owner: nil)
    PAGES = %w[after before first last].freeze
    private_constant :HOST, :SAMPLE, :PAGES

    def initialize(type, field)
      @type = type
      @field = field
    end

    # @return [String, nil] what stands in the way; nil if it is plain
    def objection
      own_code || shadowed || configured
    end

    # What is called of the record, where nothing stands in the way.
    #
    #: () -> Symbol
    def reader = calls ? calls.first.name : @field.method_sym

    # What its resolver method asks of one of the record's associations, where that is all that stands in the way.
    #
    # @return [Array<Delegation::Call>, nil] the association's reader, and what is called of what it returns
    def calculation
      calls if own_code.nil? && configured.nil? && calls && calls.size > 1 && calls.first.alone?
    end

    # Whether Execution::Next calls something else: unless it's told to, it doesn't look for resolver methods.
    def other_on_next? = mode == :direct_send && !(calls.nil? || (delegated? && reader == @field.method_sym))

    # True if no `scope_items` sees the value.
    def unscoped?
      return true unless @field.extensions.any?(HOST::ScopeExtension)

      returned = @field.type.unwrap
      !returned.respond_to?(:scope_items) || Host.graphql?(returned.method(:scope_items))
    end

    private

    def own_code
      return "it has a resolver, #{@field.resolver}" if @field.resolver

      %i[resolve authorized? with_extensions].each do |name|
        return "`#{name}` of its field class is its own" unless @field.method(name).owner.equal?(HOST)
      end
      foreign = @field.extensions.find { |extension| !known_extensions.include?(extension.class) }
      return "extension #{foreign.class}" if foreign

      "it has validators" if @field.validators.any?
    end

    def known_extensions = [HOST::ScopeExtension, HOST::ConnectionExtension]

    # (A connection's arguments, and its lookahead, are its extension's.)
    def configured
      return "`trace: true`" if @field.trace && @field.type.unwrap.kind.leaf?
      return "it is introspection" if @field.introspection? || @field.dynamic_introspection
      return "it reads a key of a Hash" unless @field.hash_key.equal?(SAMPLE.hash_key) && @field.dig_keys.nil?
      return "extras #{extras.join(", ")}" if extras.any?
      return "it takes arguments" unless arguments.empty?

      "execution mode #{mode}" unless mode == :direct_send || (mode == :resolve_legacy_instance_method && calls)
    end

    def extras = @field.connection? ? @field.extras - [:lookahead] : @field.extras

    def arguments
      names = @field.all_argument_definitions.map(&:graphql_name)
      @field.connection? ? names - PAGES : names
    end

    # How Execution::Next resolves it.
    def mode = @field.respond_to?(:execution_mode) ? @field.execution_mode : :direct_send

    # A method of the type's comes first.
    def shadowed
      method = @field.resolver_method
      return if delegated? || !@type.method_defined?(method)

      "resolver method `#{method}` on #{@type.instance_method(method).owner}"
    end

    # Whether its resolver method does nothing but to call one of the record.
    def delegated? = !calls.nil? && calls.one? && calls.first.alone?

    # What its resolver method does, if that is known.
    def calls
      return @calls if defined?(@calls)

      @calls = Delegation.calls(@type, @field.resolver_method)
    end
  end
end

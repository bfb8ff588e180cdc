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
      own_code || shadowed || configured || ("it takes arguments" unless arguments.empty?)
    end

    # What is called of the record, where nothing stands in the way.
    #
    #: () -> Symbol
    def reader = asked ? asked.reader : @field.method_sym

    # What its resolver method asks of what a reader of the record's returns, where that is all that stands in the way.
    #
    # @return [Chain, nil]
    def chain
      asked if own_code.nil? && configured.nil? && asked && asked.calls.size > 1 && asked.calls.first.alone? && takes_arguments?
    end

    # Whether Execution::Next calls something else: unless it's told to, it doesn't look for resolver methods.
    def other_on_next? = mode == :direct_send && !(asked.nil? || (asked.reader_alone? && reader == @field.method_sym))

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
      "execution mode #{mode}" unless mode == :direct_send || (mode == :resolve_legacy_instance_method && asked)
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
      return if asked&.reader_alone? || !@type.method_defined?(method)

      "resolver method `#{method}` on #{@type.instance_method(method).owner}"
    end

    # Whether its resolver method has an argument for each of its own.
    def takes_arguments?
      FieldArguments.plain?(@field) &&
        @field.all_argument_definitions.all? { |argument| asked.parameters.key?(argument.keyword) }
    end

    # What its resolver method does, if that is known.
    def asked
      return @asked if defined?(@asked)

      @asked = Delegation.chain(@type, @field.resolver_method)
    end
  end
end

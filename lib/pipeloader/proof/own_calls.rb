# frozen_string_literal: true

module Pipeloader
  # The code of a method that works something out, with that of the methods of the same object that it calls:
  #
  #     def heading = shown(object.title)
  #     def shown(text) = text.strip.presence || "none"
  #
  # Formula proves what the code does; values that are passed on are what it knows.
  #
  # Limits: keywords, default values, `super`, recursion.
  class OwnCalls
    # How many methods one may call: each takes some of a fiber's stack.
    MOST = 50
    # In place of a call whose method's code is among that which is found.
    PROVED = [:putobject, true].freeze
    # What graphql-ruby's objects have: no method of an application's.
    GIVEN = %i[object context].freeze
    # As `case` asks `===` of what isn't self, by the same instruction.
    NAME = /\A[a-z_]/
    private_constant :MOST, :PROVED, :GIVEN, :NAME

    # Something that isn't known; never leaves this class.
    class Unknown < StandardError; end
    private_constant :Unknown

    # @param host [Class] whose instances have the +method+: an object type or a model
    # @param reads [Proc] true for the name of a reader, whose code isn't looked at
    # @return [Hash{UnboundMethod => Array}, nil] the steps of each method, without the calls of one another
    def self.of(host, method, &reads) = new(host, reads).of(method)

    def initialize(host, reads)
      @host = host
      @reads = reads
      @found = {} # {method => its steps; nil as long as these are looked at}
    end

    def of(method)
      prove(method, %i[key keyreq])
      @found
    rescue Unknown
      nil
    end

    private

    # @param kinds [Array<Symbol>] of parameters
    def prove(method, kinds)
      return @found[method] || unknown if @found.key?(method) # it may go on for ever
      return unknown if @found.size >= MOST

      instructions = Bytecode.of(method, kinds)
      unknown unless instructions&.straight?
      @found[method] = nil
      steps = ConstantNames.fold(instructions.steps, method)
      @found[method] = without_own(@host < GraphQL::Schema::Object ? ContextValue.fold(steps, @host) : steps)
    end

    # Each call of `self` has one `putself`, so where there are as many as calls, nothing else is done with it.
    def without_own(steps)
      calls = steps.select { |step| own?(step) }
      selves = steps.each_index.select { |index| lone?(*steps[index, 2]) }
      unknown unless calls.size == selves.size

      calls.each { |_, call| prove(method(call), %i[req]) }
      steps.each_with_index.filter_map { |step, index| own?(step) ? PROVED : step unless selves.include?(index) }
    end

    # True if it calls a method whose code is to be looked at.
    def own?(step)
      case step
      in [:opt_send_without_block, { mid: } => call] then mid.match?(NAME) && Bytecode.on_self?(call) && !reads?(call)
      else false
      end
    end

    # True if a `putself` isn't there for what follows to be read.
    def lone?(step, following = nil)
      step == [:putself] && Array(following).grep(Hash).none? { |call| reads?(call) }
    end

    # `super` has no name.
    def reads?(call) = call[:mid] && call[:orig_argc] == 0 && (GIVEN.include?(call[:mid]) || @reads.call(call[:mid]))

    def method(call)
      name, size = call.values_at(:mid, :orig_argc)
      method = @host.instance_method(name) if @host.method_defined?(name) || @host.private_method_defined?(name)
      method && method.parameters.size == size && !call.key?(:kw_arg) ? method : unknown
    end

    def unknown = raise(Unknown)
  end
end

# frozen_string_literal: true

module Pipeloader
  # The code of a method that works something out, with that of the methods of the same object that it calls:
  #
  #     def heading = shown(object.title)
  #     def shown(text) = text.strip.presence || "none"
  #
  # Formula proves what the code does; values that are passed on are what it knows.
  #
  # `format("%.2f", score)` is what `"%.2f" % [score]` is.
  #
  # Limits: keywords, default values, `super` but for OwnAttribute's, recursion.
  class OwnCalls
    # How many methods one may call: each takes some of a fiber's stack.
    MOST = 50
    # In place of a call whose method's code is among that which is found.
    PROVED = [:putobject, true].freeze
    # Of Ruby's own, which do what % does; and those that make one value of another.
    FORMATTING = %i[format sprintf].freeze
    CONVERTING = %i[Integer Float Rational String Array].freeze
    # What graphql-ruby's objects have: no method of an application's.
    GIVEN = %i[object context].freeze
    # As `case` asks `===` of what isn't self, by the same instruction.
    NAME = /\A[A-Za-z_]/
    private_constant :MOST, :PROVED, :FORMATTING, :CONVERTING, :GIVEN, :NAME

    # Something that isn't known; never leaves this class.
    class Unknown < StandardError; end
    private_constant :Unknown

    # @return [Array(UnboundMethod, String, Array), nil] the method that isn't known, what it does, and the step at which it does
    #   so, if that is one
    attr_reader :obstacle

    # @return [Array<Captured>] on which these methods' steps depend
    attr_reader :captured

    # @param host [Class] whose instances have the method: an object type or a model
    # @param receiver [Module, nil] the one that it is the singleton class of, if it's one
    # @param modules [ModuleCalls, nil] that ask for this: the host is a module's, or the class of what is made for a call
    def initialize(host, receiver = nil, modules = nil)
      @host = host
      @receiver = receiver
      @of_module = !modules.nil?
      @modules = modules || ModuleCalls.new
      @model = host if host < ActiveRecord::Base
      @found = {} # {method => its steps; nil as long as these are looked at}
      @captured = []
    end

    # @return [Module] whose methods they are
    def named = @receiver || @host

    # @return [Hash{UnboundMethod => Array}] the steps of all methods of others
    def bodies = @modules.bodies

    # @return [Array<#over?>] methods of others
    def rests_on = @modules.rests_on

    # @param kinds [Array<Symbol>] of parameters that it may have
    # @return [Hash{UnboundMethod => Array}, nil] the steps of each method, without the calls of one another
    def of(method, kinds = %i[key keyreq])
      prove(method, kinds)
      @found
    rescue Unknown
      nil
    end

    private

    # @param kinds [Array<Symbol>] of parameters
    def prove(method, kinds)
      return @found[method] || unknown(method, "may call itself") if @found.key?(method)
      return @found[method] = [] if @of_module && @receiver.nil? && variable?(method)
      return unknown(method, "calls more than #{MOST} others") if @found.size >= MOST

      instructions = Bytecode.of(method, kinds) or unknown(method, "takes arguments by their place, or isn't Ruby's code")
      unknown(method, "rescues, ensures or loops") unless instructions.straight?
      @found[method] = nil
      steps = ConstantNames.fold(LocalVariables.written_out(instructions), @receiver ? method.bind(@receiver) : method)
      steps = Captured.fold(steps, captured = Captured.of(method))
      @captured.push(*captured)
      steps = @model ? OwnAttribute.fold(steps, @model, method) : steps
      steps = ContextValue.fold(steps, (@host unless @model))
      steps = ModuleCalls.without_variables(steps) if @of_module && @receiver.nil?
      steps = @modules.fold(steps, @receiver ? method.bind(@receiver) : method) { PROVED }
      @found[method] = without_own(method, steps)
    end

    # True if it only returns one of the variables that its object has.
    def variable?(method)
      method.parameters.empty? && !method.source_location.nil? && RubyVM::InstructionSequence.of(method).nil?
    end

    # Each call of `self` has one `putself`, so where there are as many as calls, nothing else is done with it.
    def without_own(caller, steps)
      calls = steps.select { |step| own?(step) }
      selves = steps.each_index.select { |index| lone?(*steps[index, 2]) }
      unknown(caller, "does something else with `self` than to call a method") unless calls.size == selves.size

      calls.each { |step| prove(method(caller, step), %i[req]) unless rubys?(step) }
      steps.each_with_index.filter_map { |step, index| own?(step) ? in_place_of(step) : step unless selves.include?(index) }
    end

    def in_place_of(step) = FORMATTING.include?(step.last[:mid]) && rubys?(step) ? [step.first, step.last.merge(mid: :%)] : PROVED

    # True if it's Ruby's own, and as it is there.
    def rubys?(step)
      name, size = step.last.values_at(:mid, :orig_argc)
      known = FORMATTING.include?(name) ? size.positive? : CONVERTING.include?(name) && size == 1
      return false unless known && !step.last.key?(:kw_arg)

      method = @host.instance_method(name)
      known = method.owner.equal?(Kernel) && Provenance.core_alone?(method)
      @found[method] ||= [] if known
      known
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
    def reads?(call) = call[:mid] && call[:orig_argc] == 0 && !@of_module && (GIVEN.include?(call[:mid]) || reader?(call[:mid]))

    # True if it's a reader of the model's, whose code isn't looked at: all but a method of the application's that the model has
    # in common with its heirs.
    def reader?(name)
      return false unless @model

      family = [@model, *@model.descendants]
      return true unless family.all? { |it| it.method_defined?(name) || it.private_method_defined?(name) }

      methods = family.map { |it| it.instance_method(name) }
      methods.map(&:owner).uniq.many? || Provenance.attributes?(@model, name) || Provenance.active_record?(methods.first) ||
        Provenance.of_gem?(:ActiveStorage, methods.first)
    end

    def method(caller, step)
      name, size = step.last.values_at(:mid, :orig_argc)
      method = @host.instance_method(name) if @host.method_defined?(name) || @host.private_method_defined?(name)
      return method if method && method.parameters.size == size && !step.last.key?(:kw_arg)

      unknown(caller, "calls `#{name}`", step)
    end

    def unknown(*obstacle)
      @obstacle = obstacle
      raise(Unknown)
    end
  end
end

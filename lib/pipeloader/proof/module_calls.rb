# frozen_string_literal: true

module Pipeloader
  # Calls of methods that a module or a class has itself, and of an object that is made for one call:
  #
  #     Prices.in_euros(object.cents)                   # def self.in_euros(cents) = format("%.2f €", cents / 100.0)
  #     FullName.new(object.first, object.last).to_s    # def to_s = [@first, @last].compact.join(" ")
  #
  # Their code is looked through as OwnCalls does with methods of the object's own, and may be given what such code works out.
  #
  # Limits: keywords, splats and default values; variables of a module's own; objects that are given on, or asked more than once;
  # what Ruby's libraries and the frameworks have.
  class ModuleCalls
    # What a step takes from the stack, and leaves there, where its name tells.
    EFFECTS = {
      putself: [0, 1], putnil: [0, 1], putobject: [0, 1], putstring: [0, 1], duparray: [0, 1], duphash: [0, 1],
      putobject_INT2FIX_0_: [0, 1], putobject_INT2FIX_1_: [0, 1], getlocal_WC_0: [0, 1], opt_getconstant_path: [0, 1],
      context_value: [0, 1], attribute: [0, 1], opt_str_freeze: [0, 1],
      block_parameter: [0, 1], getlocal_of_block: [0, 1],
      setlocal_WC_0: [1, 0], pop: [1, 0], dup: [1, 2], swap: [2, 2], nop: [0, 0], newrange: [2, 1],
      objtostring: [1, 1], anytostring: [2, 1], intern: [1, 1]
    }.freeze
    COLLECTING = %i[newarray newhash concatstrings].freeze
    BRANCHES = %i[branchif branchunless branchnil].freeze
    # Of an object that is made for a call, in place of what only it sees.
    VARIABLES = { getinstancevariable: [:putnil], setinstancevariable: [:pop] }.freeze
    # Past what the application may have made of these.
    RESPOND = Module.instance_method(:respond_to?)
    METHOD = Kernel.instance_method(:method)
    # How many methods it looks at.
    MOST = 50
    private_constant :EFFECTS, :COLLECTING, :BRANCHES, :VARIABLES, :RESPOND, :METHOD, :MOST

    class << self
      # @param steps [Array<Array, Symbol>] as Bytecode#steps
      # @param at [Integer] of one that leaves a value
      # @return [Integer, nil] of the one that calls this value, and does nothing else with it
      def call_of(steps, at)
        depth, depths = 1, {} # of the stack, from that value on; and behind each branch
        while (step = steps[at += 1])
          next depth = depths.fetch(step, depth) if Symbol === step

          takes, leaves = effect(step)
          return if takes.nil? || depth.nil?
          return (at if takes == depth && calls?(step)) unless takes < depth

          depth += leaves - takes
          depths[step.last] = depth if BRANCHES.include?(step.first) || step.first == :jump
          depth = nil if step.first == :jump
        end
        nil
      end

      # Code of an object that is made for a call.
      #
      # @return [Array<Array, Symbol>] the same, without its variables
      def without_variables(steps) = steps.map { |step| Array === step ? VARIABLES.fetch(step.first, step) : step }

      private

      # @return [Array(Integer, Integer), nil] nil where it isn't known
      def effect(step)
        case step
        in [:jump, _] then [0, 0]
        in [name, _] if BRANCHES.include?(name) then [1, 0]
        in [name, size] if COLLECTING.include?(name) then [size, 1]
        in [:send, { orig_argc: } => call, nil] if Bytecode.block_pass?(call) then [orig_argc + 2, 1]
        in [name, *operands] then EFFECTS[name] || of_call(name, operands.grep(Hash).first)
        end
      end

      def of_call(name, call) = ([call[:orig_argc] + 1, 1] if call && name.start_with?("opt_") && Bytecode.simple?(call))

      def calls?(step)
        case step
        in [:opt_send_without_block, call] then Bytecode.simple?(call) && !call.key?(:kw_arg)
        else false
        end
      end
    end

    # @return [Hash{UnboundMethod => Array}] the steps of all methods
    attr_reader :bodies

    # @return [Array<#over?>] on which these depend
    attr_reader :rests_on

    # As it was found by its name.
    Named = Struct.new(:type) { def over? = !ConstantNames.still?(type) }
    private_constant :Named

    def initialize
      @bodies = {}
      @rests_on = []
      @known = {} # {[module or class, name] => whether it does nothing else; nil as long as it is looked at}
    end

    # @param steps [Array<Array, Symbol>] of a +method+
    # @yieldreturn [Array] what is to be in a call's place
    # @return [Array<Array, Symbol>] the same, without such calls: the values that they are given stay
    def fold(steps, method)
      at = 0
      while at < steps.size
        places = proved(steps, at, method)
        steps = without(steps, at, places, yield) if places
        at += 1 unless places
      end
      steps
    end

    private

    # @return [Array<Integer>, nil] the places of the calls; nil where none begins there, or they may do anything else
    def proved(steps, at, method)
      path, = Bytecode.constants([steps[at]])
      first = ModuleCalls.call_of(steps, at) if path || itself?(steps[at], method)
      name, size = call(steps[first]) if first
      host = path ? candidate(path, name, method) : method.receiver if first
      places = plain_calls(host, name, size, steps, first) if host && (path || name == :new)
      places if places && (path.nil? || host.equal?(ConstantNames.only(path) { |it| !(Module === it) || answers?(it, name) }))
    end

    # True if it's a class whose own method that is.
    def itself?(step, method) = step == [:putself] && Method === method && Class === method.receiver

    def call(step) = step.last.values_at(:mid, :orig_argc)

    # @return [Module, nil] that is asked there, if the constant has the name that it seems to have
    def candidate(path, name, method)
      ConstantNames.of(path, method).find { |it| Module === it && !(it < ActiveRecord::Base) && answers?(it, name) }
    rescue StandardError, ScriptError # where one is loaded
      nil
    end

    def answers?(host, name) = RESPOND.bind_call(host, name)

    def plain_calls(host, name, size, steps, first)
      return ([first] if plain?(host, name, size)) unless name == :new && made_plainly?(host, size)

      second = ModuleCalls.call_of(steps, first) or return
      [first, second] if plain_of_instances?(host, *call(steps[second]))
    end

    def without(steps, at, (*made, called), proved)
      steps.each_with_index.filter_map do |step, index|
        if index == called then proved
        else step unless index == at || made.include?(index)
        end
      end
    end

    def plain?(host, name, size)
      once(host, name) do
        method = METHOD.bind_call(host, name)
        next !!(@rests_on << Watched.new(host, name, 0, method)) if KnownMethods.function?(host, name)

        look_through(OwnCalls.new(host.singleton_class, host, self), method.unbind, size) do |found|
          Watched.new(host, found.name, 0, METHOD.bind_call(host, found.name))
        end
      end
    end

    # True if nothing but its `initialize` is called where one is made, and that only takes note of what it is given.
    def made_plainly?(host, size)
      return false unless Class === host && Provenance.ruby_makes?(host) && of_instances?(host, :initialize, size)

      @rests_on << Watched.new(host, :new, 0, host.method(:new))
      true
    end

    def plain_of_instances?(host, name, size) = host.public_method_defined?(name) && of_instances?(host, name, size)

    def of_instances?(host, name, size)
      once(host, [name]) do
        look_through(OwnCalls.new(host, nil, self), host.instance_method(name), size) { |it| Watched::OfInstances.new(host, it) }
      end
    end

    def once(host, name)
      place = [host, name]
      return @known[place] if @known.key?(place) || @known.size >= MOST # nil: it calls itself

      @known[place] = nil
      @known[place] = yield
    end

    def look_through(calls, method, size)
      found = calls.of(method, %i[req]) if method.parameters.size == size && !Provenance.of_library?(method)
      return false if found.nil? || found.each_key.any? { |it| KnownMethods.refined?(it.name) }

      @bodies.update(found)
      @rests_on.concat(found.keys.map { |it| yield(it) }, calls.captured, [Named.new(calls.named)])
      true
    end
  end
end

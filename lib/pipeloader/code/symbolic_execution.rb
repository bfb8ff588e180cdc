# frozen_string_literal: true

module Pipeloader
  # Which ways code of an object's may take, and on what conditions: told from its instructions, which are gone through with what
  # values are made of in place of values.
  #
  #     return if new_record?                  # of what isn't new: no condition
  #     self.status ||= "draft" if score       # score ? (status ? DONE : ACTS) : DONE
  #
  # A way is DONE where the code has only computed by then, and ACTS at the first instruction that may do more. What it computes
  # for nothing is among the conditions: it may raise.
  #
  # Limits: loops, variables, constants, blocks, which all are taken to act.
  class SymbolicExecution
    # The object whose code it is.
    SELF = :self
    DONE = :done
    ACTS = :acts
    # How many places its ways may come to by branches: each takes some of a fiber's stack.
    MOST = 50
    # Through how many methods it is gone: one may call itself.
    DEEP = 10
    # Of how many instructions.
    FAR = 5_000

    # Values: one that is known, and what a known method makes of others. Who answers for SELF has more.
    Literal = Struct.new(:value) do
      def of(_told) = value
    end
    Call = Struct.new(:receiver, :name, :arguments) do
      def of(told) = receiver.of(told).public_send(name, *arguments.map { |it| it.of(told) })
    end
    # met, otherwise: Branch, DONE or ACTS
    Branch = Struct.new(:condition, :met, :otherwise) do
      # @return [Symbol] DONE or ACTS
      def come_to(told)
        way = self
        way = way.condition.of(told) ? way.met : way.otherwise while Branch === way
        way
      end
    end

    # The instructions of a method, or of a block.
    class Code
      # @param method [UnboundMethod, Proc] that is given nothing, or the object itself
      # @return [Code, nil] nil where they aren't Ruby's, or somebody has changed what they rest on
      def self.of(method)
        instructions = Bytecode.of(method, %i[req opt])
        steps = instructions&.steps
        new(steps) { |place| instructions.parameter(place) } if steps && KnownMethods.alone_in?(steps)
      end

      # @yield [Integer] place of a variable
      # @yieldreturn [Boolean] whether the object is there
      def initialize(steps, &given)
        @steps = steps
        @given = given
      end

      def [](index) = @steps[index]
      def index(label) = @steps.index(label)
      def given?(place) = @given&.call(place)
    end

    # How far code has come. caller: where to go on then. pending: values that no condition has asked for, and that may raise
    Position = Struct.new(:code, :at, :stack, :caller, :pending) do
      def step = code[at]
      def on(stack = self.stack, pending = self.pending) = Position.new(code, at + 1, stack, caller, pending)
      def back = (Position.new(caller.code, caller.at + 1, [*caller.stack, stack.last], caller.caller, pending) if caller)
      def depth = caller ? caller.depth + 1 : 0
      def asked = Position.new(code, at, stack, caller, [])

      # There are no loops.
      def to(label, stack = self.stack)
        index = code.index(label)
        Position.new(code, index, stack, caller, pending) if index > at
      end

      # @param stack [Array] what is left of its own
      def within(other, stack = self.stack)
        Position.new(other, 0, [], Position.new(code, at, stack, caller, []), pending) if depth < DEEP
      end
    end

    # {instruction => what becomes of the stack}
    EFFECTS = {
      nop: ->(stack) { stack },
      putself: ->(stack) { [*stack, SELF] },
      putnil: ->(stack) { [*stack, Literal.new(nil)] },
      putobject: ->(stack, value) { [*stack, Literal.new(value)] if KnownMethods.literal?(value) },
      putstring: ->(stack, text) { [*stack, Literal.new(text)] },
      putobject_INT2FIX_0_: ->(stack) { [*stack, Literal.new(0)] },
      putobject_INT2FIX_1_: ->(stack) { [*stack, Literal.new(1)] },
      newarray: ->(stack, size) { array(stack, size) },
      pop: ->(stack) { stack[0..-2] },
      adjuststack: ->(stack, size) { stack.take(stack.size - size) },
      dup: ->(stack) { [*stack, stack.last] },
      dupn: ->(stack, size) { stack + stack.last(size) },
      swap: ->(stack) { [*stack[0..-3], *stack.last(2).reverse] },
      topn: ->(stack, place) { [*stack, stack[-1 - place]] },
      setn: ->(stack, place) { stack.dup.tap { |it| it[-1 - place] = stack.last } },
      opt_case_dispatch: ->(stack, *) { stack[0..-2] } # what is behind it compares
    }.freeze
    # {branch => whether it is taken where the condition is met}
    BRANCHES = { branchif: true, branchunless: false, branchnil: true }.freeze
    # Whose receiver isn't below the arguments.
    ON_ARRAY = %i[opt_newarray_send opt_duparray_send].freeze
    private_constant :MOST, :DEEP, :FAR, :Position, :EFFECTS, :BRANCHES, :ON_ARRAY

    def self.array(stack, size)
      items = stack.last(size)
      [*stack.take(stack.size - size), Literal.new(items.map(&:value))] if items.all?(Literal)
    end
    private_class_method :array

    # @return [Branch, Symbol] where it begins: DONE or ACTS where nothing is asked
    attr_reader :decision

    # @param code [Code]
    # @yield [Symbol, Array, Boolean] what is asked of SELF: a method, its arguments, and whether it may be a private one
    # @yieldreturn [#of, Code, nil] the value, the code that makes it, or nil where that may do more
    def initialize(code, &asked)
      @asked = asked
      @known = {} # {Position => Branch, DONE or ACTS}
      @ends = []
      @places = @gone = 0
      @decision = way(Position.new(code, 0, [], nil, []))
    end

    # True if there is a way on which it may do more.
    def acts? = @ends.include?(ACTS)

    # True if there is one on which it doesn't.
    def done? = @ends.include?(DONE)

    private

    # Without blocks, which would take more of the stack.
    def way(frame)
      return ended(ACTS) if frame.nil?

      @known[frame] ||= (@places += 1) > MOST ? ended(ACTS) : followed(frame)
    end

    def ended(how)
      @ends |= [how]
      how
    end

    # Up to its next branch.
    def followed(frame)
      while frame && (@gone += 1) < FAR
        case frame.step
        in [:leave] then return asking(frame.pending, ended(DONE)) unless frame.caller
        in [kind, label] if BRANCHES.key?(kind) then return branch(frame, kind, label)
        else nil
        end
        frame = after(frame, frame.step)
      end
      ended(ACTS)
    end

    # Where one of the +values+ can't be had, an error is raised.
    def asking(values, behind) = values.reverse.inject(behind) { |it, value| Branch.new(value, it, it) }

    # @return [Position, nil] nil where the +step+ may do more
    def after(frame, step)
      case step
      in Symbol then frame.on
      in [:leave] then frame.back
      in [:jump, label] then frame.to(label)
      in [:getlocal_WC_0, place] then frame.on([*frame.stack, SELF]) if frame.code.given?(place)
      in [:run, Code => code] then frame.within(code)
      in [:ask, name] then made(frame, frame.stack, [], @asked.call(name, [], true))
      in [:call, name, size] then sent(frame, name, size, false)
      in [name, *operands] if EFFECTS.key?(name)
        stack = EFFECTS[name].call(frame.stack, *operands)
        frame.on(stack) if stack
      in [name, Hash, *others] if others.all?(Hash) && name.start_with?("opt_") && !ON_ARRAY.include?(name)
        called(frame, step)
      else nil
      end
    end

    def branch(frame, kind, label)
      *stack, value = frame.stack
      taken, passed = frame.to(label, stack), frame.on(stack)
      return way(met?(value, kind) == BRANCHES[kind] ? taken : passed) if known?(value)

      condition = kind == :branchnil ? Call.new(Literal.new(nil), :equal?, [value]) : value
      ways = [way(taken&.asked), way(passed.asked)]
      asking(frame.pending - [value], Branch.new(condition, *(BRANCHES[kind] ? ways : ways.reverse)))
    end

    def known?(value) = value == SELF || Literal === value

    # @param value what is known
    def met?(value, kind)
      value = value == SELF || value.value
      kind == :branchnil ? value.nil? : !!value
    end

    # An instruction may have two calls: `!=` falls back on `==`.
    def called(frame, step)
      calls = step.grep(Hash)
      call = calls.find { |it| it[:mid] == :!= } || calls.first
      name, size = call.values_at(:mid, :orig_argc)
      return if !Bytecode.simple?(call) || call.key?(:kw_arg) || KnownMethods.refined?(name)

      sent(frame, name, size, Bytecode.on_self?(call))
    end

    # To what is below its arguments.
    def sent(frame, name, size, private)
      parts = frame.stack.last(size + 1)
      below = frame.stack.take(frame.stack.size - parts.size)
      made(frame, below, parts, value(*parts, name: name, private: private))
    end

    # @param parts [Array] of which the +value+ is made
    def made(frame, below, parts, value)
      case value
      when nil then nil
      when Code then frame.within(value, below)
      when Literal then frame.on([*below, value])
      else frame.on([*below, value], [*(frame.pending - parts), value])
      end
    end

    def value(receiver, *arguments, name:, private:)
      return @asked.call(name, arguments, private) if receiver == SELF
      return if arguments.include?(SELF) || !KnownMethods.callable?(name)

      name == :! && Literal === receiver ? Literal.new(!receiver.value) : Call.new(receiver, name, arguments)
    end
  end
end

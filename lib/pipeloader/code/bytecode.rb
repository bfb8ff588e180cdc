# frozen_string_literal: true

module Pipeloader
  # The bytecode that Ruby has compiled a method to.
  class Bytecode
    # Stands for what has no default.
    REQUIRED = Object.new.freeze
    # Where the frame of a method ends, and its local variables begin (VM_ENV_DATA_SIZE).
    FRAME = 3
    # Calls that have neither a splat nor a block, on an object and on `self`.
    ON_OBJECT = ["nil.call", "nil.call(with: nil)"].freeze
    ON_SELF = ["call", "call()", "case nil when nil then nil end"].freeze
    BLOCK_PASS = ["nil.call(&:it)"].freeze
    BLOCK = ["nil.call { nil }"].freeze
    private_constant :FRAME, :ON_OBJECT, :ON_SELF, :BLOCK_PASS, :BLOCK

    class << self
      # @param method [UnboundMethod, Proc]
      # @param kinds [Array<Symbol>] of parameters that it may have
      # @return [Bytecode, nil] nil for Ruby's own, those that are written in C, and those that take other parameters
      def of(method, kinds = %i[key keyreq])
        return unless method.parameters.all? { |kind, _| kinds.include?(kind) }

        sequence = RubyVM::InstructionSequence.of(method) or return
        made = new(sequence.to_a, method)
        made unless made.anothers?(sequence)
      end

      # True if it's a call of an object, as `object.title` or `limit(3)` of it.
      #
      # @param call [Hash] as an instruction has it: {mid: :limit, flag: 16, orig_argc: 1}
      def on_object?(call) = (@on_object ||= flags(ON_OBJECT)).include?(call[:flag])

      # True if it's a call of `self`, as `title`.
      def on_self?(call) = (@on_self ||= flags(ON_SELF)).include?(call[:flag])

      # True if it's a call at all that has neither a splat nor a block.
      def simple?(call) = on_object?(call) || on_self?(call)

      # True if what is on the stack is passed as its block, and nothing else.
      def block_pass?(call) = (@block_pass ||= flags(BLOCK_PASS)).include?(call[:flag])

      # True if it has a literal block, and nothing else.
      def block?(call) = (@block ||= flags(BLOCK)).include?(call[:flag])

      # @param sequence [Array] of a method or a block
      # @return [Array<Array, Symbol>] its instructions and labels, without events and lines
      def raw(sequence) = sequence.last.select { |it| it.is_a?(Array) || (it.is_a?(Symbol) && it.start_with?("label")) }

      # @param index [Integer] of one of its variables
      # @return [Integer] where that is in its frame
      def place(sequence, index) = sequence[10].size + FRAME - 1 - index

      # True if Ruby has compiled a +method+ to what it makes of that +text+, which defines one. Lines don't count.
      #
      # On a fiber of its own, as what is compiled by a Compiler.
      def alike?(method, text)
        host = Module.new
        Fiber.new(blocking: true) { host.module_eval(text) }.resume
        name = host.instance_methods(false).first
        method.original_name == name && told(method) == told(host.instance_method(name))
      end

      # @return [Array] a method's instructions, and those of what it rescues, without lines
      def told(method) = RubyVM::InstructionSequence.of(method)&.then { |sequence| unlined(sequence.to_a) }

      # @param steps [Array<Array, Symbol>]
      # @yieldparam from [Array<Array, Symbol>] each step, with those behind
      # @yieldreturn [Array(Array, Array), nil] one step in place of the first ones, and those behind these; nil for none
      # @return [Array<Array, Symbol>]
      def fold(steps)
        folded = []
        until steps.empty?
          step, behind = yield(steps)
          folded << (step || steps.first)
          steps = step ? behind : steps.drop(1)
        end
        folded
      end

      # True if any of +names+ is called or read in it, or it isn't known what is.
      #
      #: (UnboundMethod, Array[Symbol]) -> bool
      def mentions?(method, names)
        sequence = RubyVM::InstructionSequence.of(method)
        sequence.nil? || sequence.to_a.inspect.match?(/:(?:#{Regexp.union(names.map(&:to_s))})(?![\w?!=])/)
      end

      # @param steps [Array<Array, Symbol>]
      # @return [Array<Array<Symbol>>] the names of each constant that is asked for, with an empty one in front of `::Car`
      def constants(steps) = steps.filter_map { |name, path| path if name == :opt_getconstant_path }

      private

      def unlined(sequence)
        rescued = sequence[12].map { |entry| entry.map { |it| it.is_a?(Array) ? unlined(it) : it } }
        [*sequence.values_at(10, 11), rescued, sequence.last.grep_v(Integer).grep_v(/\ARUBY_EVENT/)]
      end

      def flags(texts)
        steps = texts.flat_map { |text| RubyVM::InstructionSequence.compile(text).to_a.last.grep(Array) }
        steps.flat_map { |step| step.grep(Hash) }.map { |call| call[:flag] }.uniq
      end
    end

    # What is compiled for these is compiled now: on a resolver's fiber, a debugger would stop to look at it.
    simple?({})
    block_pass?({})
    block?({})

    def initialize(sequence, method)
      @sequence = sequence
      @method = method
    end

    # @return [Array<Array, Symbol>] [[:putself], :label_4, …], with those of its blocks
    def steps = BlockCode.written_out(@sequence)

    # @param step [Array] one of #steps
    # @return [Integer, nil] the line of the first like it
    def line(step)
      step, body = LocalVariables.unmarked(step), @sequence.last
      ends = body.each_index.select { |index| body[index].is_a?(Integer) }.drop(1) << body.size
      found = ends.find { |at| BlockCode.written_out([*@sequence[0..-2], body.take(at)]).include?(step) }
      body.take(found || 0).grep(Integer).last
    end

    # True if it is the code of another method, which was made this one by `define_method`, or a Proc: it has another `self`.
    def anothers?(sequence)
      @sequence[9] == :method && (Proc === @method || sequence.base_label != @method.original_name.name)
    end

    # True if nothing is rescued, or ensured, and no loop can be left.
    def straight? = @sequence[12].empty?

    # True if it doesn't read the parameter at that +index+, and no other has its name.
    def leaves?(index)
      _, parameter = @method.parameters.fetch(index)
      @method.parameters.one? { |_, it| it == parameter } &&
        steps.none? { |name, place| name == :getlocal_WC_0 && parameter(place) == parameter }
    end

    # @return [Symbol, nil] of the local variable at +place+ of the frame, if it's one of the method's parameters
    def parameter(place)
      name = @sequence[10].fetch(Bytecode.place(@sequence, place))
      name if @method.parameters.any? { |_, it| it == name }
    end

    # @return [Hash{Symbol => Object}] the literal that is each keyword's default; REQUIRED where it has none
    # A default that isn't a literal has instructions of its own; a String may have, too.
    def keywords
      strings = CommonSteps.defaults(Bytecode.raw(@sequence)).to_h { |place, text| [parameter(place), text] }
      @sequence[11].fetch(:keyword, []).to_h { |name, *default| [name, default.fetch(0) { strings.fetch(name, REQUIRED) }] }
    end
  end
end

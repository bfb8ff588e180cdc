# frozen_string_literal: true

module Pipeloader
  # Sees through resolver methods that only ask the record, and what it returns: `def title = object.title` is as plain as no
  # method at all, and what `def hidden = object.comments.where(hidden: true).count` asks of one record can be asked for many.
  # Told by the instructions that Ruby has compiled such a method to; any that it doesn't know make it opaque.
  #
  # Where lines are counted (Coverage) resolver methods are run, since that is what somebody wants to see.
  module Delegation
    CALLS = %i[opt_send_without_block opt_size opt_length opt_empty_p].freeze
    # Where the frame of a method ends, and its local variables begin (VM_ENV_DATA_SIZE).
    FRAME = 3
    private_constant :CALLS, :FRAME

    class << self
      # @param type [Class] object type
      # @param name [Symbol] of a method of its own
      # @return [Chain, nil] what it asks of the record; nil if it does anything else
      def chain(type, name)
        return unless type.public_method_defined?(name) && Host.graphql?(type.instance_method(:object)) && !counted?

        method = type.instance_method(name)
        return unless method.parameters.all? { |kind, _| %i[key keyreq].include?(kind) }

        # (Ruby's own, and those that are written in C, have none.)
        sequence = RubyVM::InstructionSequence.of(method)&.to_a
        calls = sequence && asked(instructions(sequence), given(method, sequence))
        Chain.new(calls, parameters(sequence[11])) if calls
      end

      private

      def counted? = defined?(::Coverage) && ::Coverage.running?
      def instructions(sequence) = sequence.last.grep(Array)

      # @return [Array<Symbol, nil>] the method's local variables; nil for one that isn't an argument
      def given(method, sequence)
        names = method.parameters.map(&:last)
        sequence[10].map { |name| name if names.include?(name) }
      end

      # (A default that isn't a literal has instructions of its own.)
      def parameters(described)
        described.fetch(:keyword, []).to_h { |it| it.is_a?(Array) ? it : [it, Chain::REQUIRED] }
      end

      # What a call looks like that has neither a splat nor a block.
      def flags
        @flags ||= ["nil.call", "nil.call(with: nil)"].flat_map do |text|
          instructions(RubyVM::InstructionSequence.compile(text).to_a).filter_map { |_, call| call[:flag] if call.is_a?(Hash) }
        end
      end

      # As of `object.comments.where(hidden: true).count`.
      #
      # @param locals [Array<Symbol, nil>] as of #given
      def asked(instructions, locals)
        case instructions
        in [[:putself], [:opt_send_without_block, { mid: :object, orig_argc: 0 }], *steps, [:leave]]
          stack, calls = [], []
          calls if steps.all? { |step| step(step, stack, calls, locals) } && stack.empty? && calls.any?
        else nil
        end
      end

      # Runs one instruction. (The stack has all but what the last call has returned: literals, and arguments.)
      #
      # @return [Object, nil] nil if it isn't known
      def step(instruction, stack, calls, locals)
        case instruction
        in [:putnil] then stack.push(nil)
        in [:putobject | :putstring | :duparray | :duphash, literal] then stack.push(literal)
        in [:putobject_INT2FIX_0_] then stack.push(0)
        in [:putobject_INT2FIX_1_] then stack.push(1)
        in [:getlocal_WC_0, place] then (name = locals.fetch(locals.size + FRAME - 1 - place)) && stack.push(Chain::Parameter.new(name))
        in [:newarray, size] then stack.push(stack.pop(size))
        in [:newhash, size] then stack.push(stack.pop(size).each_slice(2).to_h)
        in [name, { mid:, flag:, orig_argc: } => call] if CALLS.include?(name) && flags.include?(flag)
          call(mid, orig_argc, call.fetch(:kw_arg, []), stack, calls)
        else nil
        end
      end

      # (All that is on the stack is for it, or it isn't the chain's.)
      def call(name, size, keywords, stack, calls)
        return unless stack.size == size + keywords.size

        named = keywords.zip(stack.pop(keywords.size)).to_h
        calls.push(Chain::Call.new(name, stack.pop(size), named))
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Local variables, written out where they are read, so that code which judges a method by its steps sees what is asked of them:
  #
  #     author = object.author                    # object.author ? object.author.name : "nobody"
  #     author ? author.name : "nobody"
  #
  # The steps are read, never run: they may ask for more than the code does on each of its ways.
  #
  # Limits: parameters, variables of blocks; a variable that is assigned twice, never read, or assigned by an expression with
  # branches, operators or blocks. One that is read more than once stays as it is, unless it is what one reader returns. That is
  # marked as #shared?: a relation which has been loaded for one question answers others from memory.
  module LocalVariables
    # Instructions that only add a value.
    VALUES = %i[
      putself putnil putobject putstring duparray duphash putobject_INT2FIX_0_ putobject_INT2FIX_1_
      getlocal_WC_0 opt_getconstant_path
    ].freeze
    CALLS = %i[opt_send_without_block opt_aref opt_size opt_length opt_empty_p].freeze
    MARK = { shared: true }.freeze
    private_constant :VALUES, :CALLS, :MARK

    class << self
      # @param instructions [Bytecode]
      # @return [Array<Array, Symbol>] as Bytecode#steps
      def written_out(instructions)
        steps = instructions.steps
        assigned = steps.filter_map { |name, place| place if name == :setlocal_WC_0 }.tally
        once = assigned.select { |place, times| times == 1 && instructions.parameter(place).nil? }
        once.each_key.inject(steps) { |it, place| without(it, place) }
      end

      # True if what a +call+ returns is asked in several places.
      def shared?(call) = call.key?(:shared)

      # @return [Array] the +step+ as Ruby has compiled it
      def unmarked(step) = step.map { |it| Hash === it ? it.except(*MARK.keys) : it }

      private

      def without(steps, place)
        at = steps.index([:setlocal_WC_0, place])
        kept = steps[at - 1] == [:dup] # `if (author = object.author)`
        before = steps.take(kept ? at - 1 : at)
        value = value_at_end(before) or return steps
        reads = steps.count([:getlocal_WC_0, place]) + (kept ? 1 : 0)
        written = reads == 1 ? value : shared(value)
        return steps if reads.zero? || written.nil? || before.include?([:getlocal_WC_0, place])

        [*before.take(before.size - value.size), *(written if kept), *steps.drop(at + 1)].flat_map do |step|
          step == [:getlocal_WC_0, place] ? written : [step]
        end
      end

      # @return [Array<Array>, nil] the last of the +steps+, which leave one value
      def value_at_end(steps)
        missing, value = 1, []
        until missing.zero?
          step = steps[-1 - value.size]
          takes = needed(step) or return
          missing += takes - 1
          value.unshift(step)
        end
        value
      end

      # @return [Integer, nil] how many values a +step+ takes to leave one
      def needed(step)
        case step
        in [name, *] if VALUES.include?(name) then 0
        in [:newarray | :newhash, size] then size
        in [name, { orig_argc: } => call] if CALLS.include?(name) then 1 + orig_argc + call.fetch(:kw_arg, []).size
        else nil
        end
      end

      # @return [Array<Array>, nil] nil where two of them may not be the same
      def shared(value)
        case value
        in [[:putself], [_, { mid: :context }], [:putobject, Symbol], [:opt_aref, *]] then value
        in [[:putself], *object, [:opt_send_without_block => name, { orig_argc: 0 } => call]] if object.size < 2
          [*value[0..-2], [name, call.merge(MARK)]]
        else nil
        end
      end
    end
  end
end

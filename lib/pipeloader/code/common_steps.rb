# frozen_string_literal: true

module Pipeloader
  # Instructions that one Ruby has and another hasn't, as those that all have. What reads them needn't know which Ruby compiled.
  #
  #     Car                  opt_getinlinecache and more (3.1)   opt_getconstant_path
  #     "x"                  putchilledstring (since 3.4)        putstring
  #     object["x"]          opt_aref_with (up to 3.4)           putstring, opt_aref
  #     [a, b].max           opt_newarray_max, opt_newarray_send newarray, opt_send_without_block
  #     [1, 2].include?(a)   opt_duparray_send (since 3.4)       duparray, opt_duparray_send
  #     { a: 1, b: c }       core#hash_merge_ptr (since 3.4)     newhash
  #     Car.new(a)           opt_new and more (since 4.0)        opt_send_without_block
  #     return a             leave, putnil, leave (since 3.4)    leave
  #     f(...)               sendforward (since 3.4)             send
  #     def it(a: "x")       checkkeyword and more               none
  #
  # Limits: where `include?` is an instruction of its own, its array comes behind its argument. So it keeps its name, which only
  # those know to whom the order is all the same.
  module CommonSteps
    # Instructions before the arguments of `new`, and behind the entries of a Hash that are literals.
    PLACE = [[:putnil], [:swap]].freeze
    MERGED = [[:putspecialobject, 1], [:swap]].freeze
    # Asked of arrays that are written where they are asked.
    ASKED = { max: "[itself, itself].max", min: "[itself, itself].min", include?: "[itself, itself].include?(itself)" }.freeze
    # Of a block: what `|item|` and `_1` are, and not `|item,|`; and `it` of Ruby 3.4.
    ITEM = [{ lead_num: 1, ambiguous_param0: true }, { ambiguous_param0: true }].freeze
    private_constant :PLACE, :MERGED, :ASKED, :ITEM

    class << self
      # @param steps [Array<Array, Symbol>] as this Ruby has compiled them
      # @return [Array<Array, Symbol>]
      def of(steps)
        made = []
        steps = take(steps, made) until steps.empty?
        made
      end

      # True if a block has these +parameters+ that takes what it is given as one.
      def item?(parameters) = ITEM.include?(parameters)

      # @param steps [Array<Array, Symbol>] as for #of
      # @return [Array<Array(Integer, String)>] the places of keywords whose defaults are Strings, and these
      def defaults(steps) = steps.each_cons(5).filter_map { |some| default(some) }

      private

      def default(steps)
        case steps
        in [[:checkkeyword, *], [:branchif, label], [_, String => text], [:setlocal_WC_0, place], ^label, *]
          [place, text]
        else nil
        end
      end

      # @param made [Array<Array, Symbol>] what comes before; the first of the +steps+ go there
      # @return [Array<Array, Symbol>] those behind
      def take(steps, made)
        case steps
        in [[:leave], *behind]
          made << [:leave]
          return behind.drop_while { |step| step.is_a?(Array) }
        in [[:checkkeyword, *], *] if default(steps) then return steps.drop(5)
        in [[:opt_getinlinecache, label, *], *] if steps.include?(label)
          inside = steps.take(steps.index(label) + 1)
          made << [:opt_getconstant_path, path(inside)]
          return steps.drop(inside.size)
        in [[:opt_new, call, other], [_, { mid: :initialize }, *], [:jump, both], ^other, [_, ^call, *] => step, [:swap], ^both,
            [:pop], *behind] if (parts = around(made, PLACE))
          made.replace(parts.sum([])) << step
        in [[_, { mid: :"core#hash_merge_ptr", orig_argc: }], *behind] if (parts = around(made, MERGED, :duphash))
          made.replace(of_hash(*parts, orig_argc - 1))
        in [step, *behind] then made.concat(alone(step))
        end
        behind
      end

      # @return [Array<Array, Symbol>] what one instruction stands for
      def alone(step)
        case step
        in [:putchilledstring, text] then [[:putstring, text]]
        in [:opt_aref_with, text, call] then [[:putstring, text], [:opt_aref, call]]
        in [:opt_duparray_send, values, name, size] then [[:duparray, values], [:opt_duparray_send, call(name, size)]]
        in [:sendforward, *rest] then [[:send, *rest]]
        in [name, size, *operand] if (call = @asked[[name, *operand]]) then of_array(size, call)
        else [step]
        end
      end

      # @return [Array<Symbol>] with an empty name in front of `::Car`
      def path(inside)
        inside.filter_map { |name, value| name == :getconstant ? value : (:"" if name == :putobject && value == Object) }
      end

      # Of such pairs the last is that of what comes to an end here: those between have come to theirs.
      #
      # @param behind [Symbol, nil] the instruction that must be before the +pair+
      # @return [Array(Array, Array), nil] the steps before the +pair+, and behind
      def around(steps, pair, behind = nil)
        at = (steps.size - 2).downto(1).find { |index| steps[index, 2] == pair } or return
        [steps.take(at), steps.drop(at + 2)] if behind.nil? || Array(steps[at - 1]).first == behind
      end

      # @param entries [Array<Array, Symbol>] the steps of those that aren't literals
      # @param size [Integer] of keys and values that these leave
      def of_hash((*before, literals), entries, size)
        pairs = literals.last.to_a.flatten(1)
        [*before, *pairs.map { |value| [:putobject, value] }, *entries, [:newhash, pairs.size + size]]
      end

      def of_array(size, call)
        argument = call[:orig_argc]
        name = argument.zero? ? :opt_send_without_block : :opt_newarray_send
        [[:newarray, size - argument], [name, call]]
      end

      def call(name, size) = { mid: name, flag: @flag, orig_argc: size }

      def compiled(text) = RubyVM::InstructionSequence.compile(text).to_a.last.grep(Array)

      # @return [Hash{Array => Hash}] the instruction without its size => the call: {[:opt_newarray_send, :max] => {mid: :max, …}}
      def asked
        ASKED.filter_map do |name, text|
          instruction, _, *operand = compiled(text)[-2]
          [[instruction, *operand], call(name, name == :include? ? 1 : 0)] if instruction.start_with?("opt_newarray")
        end.to_h
      end
    end

    # Compiled when it is loaded, as what Bytecode compiles.
    @flag = compiled("nil.call").flatten.grep(Hash).first[:flag]
    @asked = asked
  end
end

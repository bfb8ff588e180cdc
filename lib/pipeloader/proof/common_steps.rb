# frozen_string_literal: true

module Pipeloader
  # Instructions that one Ruby has and another hasn't, as those that all have. What reads them needn't know which Ruby compiled.
  #
  #     Car                  opt_getinlinecache and more (3.1)   opt_getconstant_path
  #     "x"                  putchilledstring (since 3.4)        putstring
  #     object["x"]          opt_aref_with (up to 3.4)           putstring, opt_aref
  #     [a, b].max           opt_newarray_max, opt_newarray_send newarray, opt_send_without_block
  #     [1, 2].include?(a)   opt_duparray_send (since 3.4)       duparray, opt_duparray_send
  #     Car.new(a)           opt_new and more (since 4.0)        opt_send_without_block
  #     f(...)               sendforward (since 3.4)             send
  #
  # Limits: where `include?` is an instruction of its own, its array comes behind its argument. So it keeps its name, which only
  # those know to whom the order is all the same.
  module CommonSteps
    # On the stack before the arguments of `new`.
    PLACE = [[:putnil], [:swap]].freeze
    # Asked of arrays that are written where they are asked.
    ASKED = { max: "[itself, itself].max", min: "[itself, itself].min", include?: "[itself, itself].include?(itself)" }.freeze
    private_constant :PLACE, :ASKED

    class << self
      # @param steps [Array<Array, Symbol>] as this Ruby has compiled them
      # @return [Array<Array, Symbol>]
      def of(steps)
        made = []
        steps = take(steps, made) until steps.empty?
        made
      end

      private

      # @param made [Array<Array, Symbol>] what comes before; the first of the +steps+ go there
      # @return [Array<Array, Symbol>] those behind
      def take(steps, made)
        case steps
        in [[:putchilledstring, text], *behind] then made << [:putstring, text]
        in [[:opt_aref_with, text, call], *behind] then made.push([:putstring, text], [:opt_aref, call])
        in [[:opt_duparray_send, values, name, size], *behind]
          made.push([:duparray, values], [:opt_duparray_send, call(name, size)])
        in [[:sendforward, *rest], *behind] then made << [:send, *rest]
        in [[:opt_getinlinecache, label, *], *]
          inside = steps.take(steps.index(label) + 1)
          behind = steps.drop(inside.size)
          made << [:opt_getconstant_path, path(inside)]
        in [[:opt_new, call, rarely], [_, { mid: :initialize }, *], [:jump, behind_both], ^rarely, [_, ^call, *] => step, [:swap],
            ^behind_both, [:pop], *behind]
          made.concat(without_place(made.pop(made.size))) << step
        in [[name, size, *operand], *behind] if (call = @asked[[name, *operand]])
          made.concat(of_array(size, call))
        in [step, *behind] then made << step
        end
        behind
      end

      # @return [Array<Symbol>] with an empty name in front of `::Car`
      def path(inside)
        inside.filter_map { |name, value| name == :getconstant ? value : (:"" if name == :putobject && value == Object) }
      end

      # Of those pairs the last is that of the `new` whose arguments come to an end here.
      def without_place(steps)
        at = steps.each_cons(2).with_index.filter_map { |pair, index| index if pair == PLACE }.last
        steps.values_at(*0...at, *(at + 2)...steps.size)
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

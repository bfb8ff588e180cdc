# frozen_string_literal: true

module Pipeloader
  # The code of literal blocks, written out where they are given, so that who reads a method's steps reads theirs, too:
  #
  #     object.items.sum { |item| item.price * factor }
  #
  #     [:block, 3, {mid: :sum, …}]    what is given the block; what it is asked of is on the stack
  #     [:block_parameter, 3]          item
  #     [:getlocal_WC_0, 4]            a variable of the method's
  #     [:leave]
  #     [:given, 3, {mid: :sum, …}]    the call
  #
  # Limits: a block that takes anything but one parameter, is left by `break` or `return`, or rescues, stays as it is. So does an
  # instruction that assigns the parameter, or that asks for a variable from around a method which is a block itself.
  class BlockCode
    LOCAL = /\A([gs]etlocal)(?:_WC_([01]))?\z/
    JUMPS = %i[jump branchif branchunless branchnil].freeze
    private_constant :LOCAL, :JUMPS

    # @param sequence [Array] of a method, as RubyVM::InstructionSequence#to_a
    # @return [Array<Array, Symbol>]
    def self.written_out(sequence) = new.steps(sequence)

    def initialize
      @blocks = 0
    end

    # @param around [Array<Array(Integer, Integer)>] the blocks that it stands in, from the inside: each one's number, and the
    #   place of its parameter
    def steps(sequence, around = [])
      CommonSteps.of(Bytecode.raw(sequence)).flat_map do |step|
        case step
        in [:send, Hash => call, Array => block] if one?(block) then block(call, block, around)
        else [around.empty? ? step : inside(step, around)]
        end
      end
    end

    private

    def one?(block) = block[9] == :block && CommonSteps.item?(block[11]) && block[12].empty?

    def block(call, block, around)
      number = (@blocks += 1)
      place = Bytecode.place(block, 0)
      [[:block, number, call], *steps(block, [[number, place], *around]), [:given, number, call]]
    end

    def inside(step, around)
      case step
      in Symbol then label(step, around)
      in [name, label] if JUMPS.include?(name) then [name, label(label, around)]
      in [LOCAL, *] then local(*step, around)
      else step
      end
    end

    # Each block counts its own.
    def label(name, around) = :"#{name}_#{around.first.first}"

    # @param level [Integer] how far out the variable is: in the block itself, in one around that, in the method, or around this
    def local(name, place, level = name.name[-1].to_i, around)
      kind = name.name[LOCAL, 1]
      block, parameter = around[level]
      if block && place != parameter then [:"#{kind}_of_block", block, place]
      elsif block && kind == "getlocal" then [:block_parameter, block]
      elsif level == around.size then [:"#{kind}_WC_0", place]
      else [:unknown, name]
      end
    end
  end
end

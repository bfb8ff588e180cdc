# frozen_string_literal: true

module Pipeloader
  # What code asks of its record where it asks a model first, and so is in that one's conditions:
  #
  #     ::User.find_by(id: object.author_id)         # of a resolver method
  #     Comment.where(post: self).count              # of the record's own
  module OwnersValues
    class << self
      # @param steps [Array<Array, Symbol>] as Bytecode#steps, of a resolver method
      # @return [Array<Array, Symbol>] the same, with [:of_owner, :author_id] in place of each; nil stands for the record itself
      def of_object(steps)
        fold(steps) do |from|
          case from
          in [[:putself], [:opt_send_without_block, { mid: :object, orig_argc: 0 }], *behind]
            reader = reader(behind.first) { |call| Bytecode.on_object?(call) }
            [[:of_owner, reader], reader ? behind.drop(1) : behind]
          else nil
          end
        end
      end

      # The same of a method of the model's.
      def of_self(steps)
        fold(steps) do |from|
          case from
          in [[:putself], *behind]
            reader = reader(behind.first) { |call| Bytecode.on_self?(call) }
            [[:of_owner, reader], reader ? behind.drop(1) : behind]
          else nil
          end
        end
      end

      private

      def fold(steps, &) = Bytecode.constants(steps.first(1)).any? ? Bytecode.fold(steps, &) : steps

      # @return [Symbol, nil] what a +step+ asks, without arguments
      def reader(step)
        case step
        in [_, { mid:, orig_argc: 0 } => call] if yield(call) && !call.key?(:kw_arg) then mid
        else nil
        end
      end
    end
  end
end

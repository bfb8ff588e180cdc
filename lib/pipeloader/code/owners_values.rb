# frozen_string_literal: true

module Pipeloader
  # What the conditions of a model's query ask of the record, in code that begins with that model:
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
            asked(behind) { |call| Bytecode.on_object?(call) }
          else nil
          end
        end
      end

      # The same of a method of the model's.
      def of_self(steps)
        fold(steps) do |from|
          case from
          in [[:putself], *behind] then asked(behind) { |call| Bytecode.on_self?(call) }
          else nil
          end
        end
      end

      private

      def fold(steps, &) = Bytecode.constants(steps.first(1)).any? ? Bytecode.fold(steps, &) : steps

      # @param steps [Array<Array, Symbol>] behind the record
      # @yield [Hash] a call
      # @yieldreturn [Boolean] whether it is the record's
      # @return [Array(Array, Array)] the step in place of the record, and of a call without arguments; those behind
      def asked(steps)
        case steps
        in [[_, { mid:, orig_argc: 0 } => call], *behind] if yield(call) && !call.key?(:kw_arg) then [[:of_owner, mid], behind]
        else [[:of_owner, nil], steps]
        end
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Sees through resolver methods that only ask the record: `def title = object.title` is as plain as no method at all. Told by
  # the instructions that Ruby has compiled such a method to; any that it doesn't know make it opaque.
  #
  # Where lines are counted (Coverage) resolver methods are run, since that is what somebody wants to see.
  module Delegation
    CALL = :opt_send_without_block
    private_constant :CALL

    class << self
      # @param type [Class] object type
      # @param name [Symbol] of a method of its own
      # @return [Symbol, nil] what it asks of the record; nil if it does anything else
      def target(type, name)
        return unless type.public_method_defined?(name) && Host.graphql?(type.instance_method(:object)) && !counted?

        method = type.instance_method(name)
        asked(instructions(method)) if method.parameters.empty?
      end

      private

      def counted? = defined?(::Coverage) && ::Coverage.running?

      # (Ruby's own, and those that are written in C, have none.)
      def instructions(method) = RubyVM::InstructionSequence.of(method)&.to_a&.last&.grep(Array) || []

      # As of `object.title`.
      def asked(instructions)
        case instructions
        in [[:putself], [CALL, { mid: :object, orig_argc: 0 }], [CALL, { mid:, orig_argc: 0 }], [:leave]] then mid
        else nil
        end
      end
    end
  end
end

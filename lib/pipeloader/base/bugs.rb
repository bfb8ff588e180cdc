# frozen_string_literal: true

module Pipeloader
  # To be rescued where an execution ends: errors that only a bug in Pipeloader raises. Their class is one that code raises by
  # mistake, and the line that raised them is in lib/pipeloader or in a compiled plan.
  #
  # Limits: code that calls a method of a host's which Pipeloader has overridden, with arguments that it doesn't take, raises
  # there, too.
  module Bugs
    CLASSES = [NameError, TypeError, ArgumentError, IndexError, RangeError, EncodingError, FrozenError, FiberError, ThreadError,
               LocalJumpError, ZeroDivisionError, NoMatchingPatternError, DoesNotFit].freeze
    CODE = ["#{File.expand_path("..", __dir__)}/", "(pipeloader: "].freeze # the second is Compiler's
    # Files of which a line calls other code on behalf of a resolver: Ruby's own locks, masks and commands, and a field's method.
    # A method written in C raises by that line.
    PASSED_ON = %w[patches/locks patches/interrupt_mask patches/strikes patches/outside patches/step_calls plan/resolver_call]
                .map { |name| "#{CODE.first}#{name}.rb:" }.freeze
    SAID = "this is a bug in Pipeloader"
    private_constant :CLASSES, :CODE, :PASSED_ON, :SAID

    class << self
      # An error of the application's is asked for its place alone: it may have no message that we could read.
      def ===(error)
        ours?(error) && (CLASSES.any? { |it| it === error } || (RuntimeError === error && error.message.end_with?(SAID)))
      end

      private

      def ours?(error)
        line = error.backtrace&.first
        line&.start_with?(*CODE) && !line.start_with?(*PASSED_ON)
      end
    end
  end
end

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
    SAID = "this is a bug in Pipeloader"
    private_constant :CLASSES, :CODE, :SAID

    class << self
      def ===(error)
        (CLASSES.any? { |it| it === error } || (RuntimeError === error && error.message.end_with?(SAID))) && ours?(error)
      end

      private

      def ours?(error) = error.backtrace&.first&.start_with?(*CODE)
    end
  end
end

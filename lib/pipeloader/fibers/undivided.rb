# frozen_string_literal: true

module Pipeloader
  # Tells whether the current fiber is in the middle of code that has to be over before a sibling goes on: a handler of a
  # TracePoint or of a signal, a file that is being loaded, code that is evaluated (a prompt), a subscriber to events. A debugger
  # waits there for a thread of its own, and half a class is no class.
  #
  # Handlers of TracePoints are asked for at each read. To look at the frames takes 30 to 50 µs, so they are looked at where a
  # fiber would sleep, and at a read only if anything was compiled on this fiber since its job began.
  #
  # Limit: a `class_eval` or `instance_eval` of a String is taken for the code around it.
  module Undivided
    # A TracePoint that is never enabled: it describes the event whose handler is running, or else itself.
    PROBE = TracePoint.new(:line) { nil }
    NO_EVENT = "#<TracePoint:disabled>"
    # Frames of files being loaded, the second one by bootsnap; blocks that were written there have other labels. At the bottom of
    # a stack there is the program itself. Then those of Kernel#eval and Binding#eval.
    LOADED = "<top (required)>"
    MAIN = "<main>"
    EVALUATED = "eval"
    # Where subscribers are called.
    SUBSCRIBERS = ActiveSupport::Notifications::Fanout.instance_method(:subscribe).source_location.first
    private_constant :PROBE, :NO_EVENT, :LOADED, :MAIN, :EVALUATED, :SUBSCRIBERS

    class << self
      # Runs the block whenever code is compiled from now on. To enable a TracePoint, JIT code is thrown away: once.
      def watch_compiling(&note)
        @compiled ||= TracePoint.new(:script_compiled, &note).tap(&:enable)
      end

      # True if a TracePoint's handler is running on this fiber.
      def handler? = PROBE.inspect != NO_EVENT

      # True if a file is being loaded, or code evaluated.
      def unfinished? = unfinished_among?(caller_locations)

      # True if the wait that would begin now is not that of the resolver's own code.
      def wait?
        return true if handler? || signal?

        frames = caller_locations
        unfinished_among?(frames) || frames.any? { |frame| frame.path == SUBSCRIBERS }
      end

      private

      def unfinished_among?(frames)
        program = frames.last
        frames.any? do |frame|
          case frame.label
          when LOADED then true
          when MAIN then !frame.equal?(program)
          else frame.base_label == EVALUATED
          end
        end
      end

      # There Ruby refuses any lock.
      def signal?
        Mutex.new.synchronize { false }
      rescue ThreadError
        true
      end
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Pipeloader's lines in the log, at debug level, as Pipeloader.log says.
  class LogSubscriber < ActiveSupport::LogSubscriber
    MODES = %i[summary bursts reads].freeze
    private_constant :MODES

    @mode = :reads

    class << self
      attr_reader :mode

      # @raise [ArgumentError]
      def mode=(mode)
        raise ArgumentError, "log must be one of #{MODES.inspect}, got #{mode.inspect}" unless MODES.include?(mode)

        @mode = mode
      end

      # True if a read needs no line of its own: its burst, or its response, has one.
      #
      # @param payload [Hash] of `sql.active_record`
      def tells_of?(payload)
        return false if @mode == :reads || !payload.key?(:pipeloader) || payload.key?(:exception)

        @mode == :bursts || executed?
      end

      private

      # True if the current response executes a query with Pipeloader, of which Summary tells.
      def executed? = Response.here&.told_by&.schema.respond_to?(:pipeloader_options)
    end

    # One line per burst:
    #
    #     Burst 2 (1.4ms)  53 reads in 4 statements, 3.2 kB out, 14.0 kB in  Author Load ×50 → 1, Comment Load ×3
    def burst(event)
      return if summary?

      payload = event.payload
      debug do
        format("  %s (%.1fms)  %s in %s, %s out, %s in  %s",
               color("Burst #{payload[:position]}", MAGENTA, bold: true), event.duration,
               count(payload[:reads].size, "read"), count(payload[:statements], "statement"),
               size(payload[:bytes_sent]), size(payload[:bytes_received]), names(payload))
      end
    end
    subscribe_log_level :burst, :debug

    # One line per response:
    #
    #     Pipeloader: 128 reads, 10 statements, 4 round trips, 46 ms
    def response(event)
      payload = event.payload
      return if LogSubscriber.mode == :reads

      debug do
        format("  %s %s, %s, %s, %.0f ms", color("Pipeloader:", MAGENTA, bold: true), count(payload[:reads], "read"),
               count(payload[:statements], "statement"), count(payload[:bursts], "round trip"), payload[:waited] * 1000)
      end
    end
    subscribe_log_level :response, :debug

    # One line per column that a projection had left out and code read all the same:
    #
    #     Projection miss (0.9ms)  Work.hidden reads `body`: fetched for 12 records. Declare `selects: %i[body]`
    def projection_miss(event)
      payload = event.payload
      debug do
        column = payload[:column]
        format("  %s (%.1fms)  %s reads %s: fetched for %s.%s",
               color("Projection miss", YELLOW, bold: true), event.duration, payload[:field] || payload[:model].name,
               column ? "`#{column}`" : "all columns", count(payload[:records], "record"),
               (" Declare `selects: %i[#{column}]`" if column))
      end
    end
    subscribe_log_level :projection_miss, :debug

    # One line per response for which something was read before resolvers asked for it:
    #
    #     Forecast  Comment.commenter ×53, Post.author ×25 (2 not asked for)
    def forecast(event)
      return if summary?

      debug do
        associations = event.payload[:reads].map { |name, count| Tally.told(name, **count) }
        "  #{color("Forecast", MAGENTA, bold: true)}  #{associations.join(", ")}"
      end
    end
    subscribe_log_level :forecast, :debug

    # One line when an operation has been tried with Pipeloader and without:
    #
    #     Trial  GetViewer goes on without Pipeloader: 2.1ms, with it 2.6ms
    def trial(event)
      return if summary?

      payload = event.payload
      debug do
        format("  %s  %s goes on %s Pipeloader: %.1fms, %s it %.1fms",
               color("Trial", MAGENTA, bold: true), payload[:query].selected_operation_name || "a query without a name",
               *told(payload[:rests], payload))
      end
    end
    subscribe_log_level :trial, :debug

    private

    def summary? = LogSubscriber.mode == :summary

    # @return [Array] what is faster, and how fast each is
    def told(rests, payload)
      both = [["without", payload[:seconds_without] * 1000], ["with", payload[:seconds_with] * 1000]]
      (rests ? both : both.reverse).flatten
    end

    def count(number, word) = "#{number} #{word}#{"s" unless number == 1}"

    def size(bytes) = format("%.1f kB", bytes / 1000.0)

    def names(payload)
      statements = payload[:answers].group_by(&:first).transform_values(&:size)
      payload[:reads].map(&:name).tally.map { |name, reads| times(name, reads, statements.fetch(name, reads)) }.join(", ")
    end

    def times(name, reads, statements)
      [name || "SQL", ("×#{reads}" if reads > 1), ("→ #{statements}" if statements < reads)].compact.join(" ")
    end
  end
end

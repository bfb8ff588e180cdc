# frozen_string_literal: true

module Pipeloader
  # One line per burst, at debug level:
  #
  #     Burst 2 (1.4ms)  51 reads in 51 statements, 3.2 kB out, 14.0 kB in  Author Load ×50, Comment Load
  class LogSubscriber < ActiveSupport::LogSubscriber
    def burst(event)
      payload = event.payload
      debug do
        format("  %s (%.1fms)  %s in %s, %s out, %s in  %s",
               color("Burst #{payload[:position]}", MAGENTA, bold: true), event.duration,
               count(payload[:reads].size, "read"), count(payload[:statements], "statement"),
               size(payload[:bytes_sent]), size(payload[:bytes_received]), names(payload[:reads]))
      end
    end

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

    private

    def count(number, word) = "#{number} #{word}#{"s" unless number == 1}"

    def size(bytes) = format("%.1f kB", bytes / 1000.0)

    def names(reads)
      reads.map { |read| read.name || "SQL" }.tally.map { |name, times| times > 1 ? "#{name} ×#{times}" : name }.join(", ")
    end
  end
end

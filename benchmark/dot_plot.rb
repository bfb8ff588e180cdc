# frozen_string_literal: true

require_relative "drawing"
require_relative "scale"

module Bench
  # A contest as a picture: a row for each contender, at each distance a dot for the median and a line to the p99.
  class DotPlot
    LEFT = 150
    RIGHT = Drawing::WIDTH - 60
    ROW = 22
    SHADES = [1.0, 0.62, 0.34].freeze # the nearest is the strongest

    def initialize(title, table)
      @title = title
      @table = table
      @names = table.names.select { |name| table.rtts.any? { |rtt| table.summary(name, rtt) } }
    end

    def to_s
      @drawing = Drawing.new(@title, 74 + @names.size * ROW + 30)
      @scale = Scale.new(times, LEFT, RIGHT)
      axis
      @names.each_with_index { |name, i| row(name, 70 + i * ROW) }
      @drawing.to_s
    end

    private

    def times
      @names.flat_map { |name| @table.rtts.filter_map { |rtt| @table.summary(name, rtt) } }.flat_map { |s| [s.median, s.p99] }
    end

    def axis
      bottom = 66 + @names.size * ROW
      distances = @table.rtts.map { |rtt| Table.plain(rtt) }.join(", ")
      @drawing.text(16, 46, "ms, logarithmic; ● median, line to p99; RTT #{distances} ms from strong to pale", "soft")
      @scale.marks.each do |mark|
        x = @scale.at(mark)
        @drawing.line(x, 56, x, bottom, class: "grid")
        @drawing.text(x, bottom + 16, Scale.label(mark), "soft middle")
      end
    end

    def row(name, y)
      @drawing.text(LEFT - 12, y + 4, name, "end#{" strong" if name.start_with?("pipeloader")}")
      @table.rtts.each_with_index do |rtt, i|
        next unless (summary = @table.summary(name, rtt))
        x = @scale.at(summary.median)
        @drawing.line(x, y, @scale.at(summary.p99), y, stroke: Drawing.colour(name), opacity: SHADES.fetch(i, 0.2))
        @drawing.dot(x, y, Drawing.colour(name), [5 - i, 2].max)
      end
    end
  end
end

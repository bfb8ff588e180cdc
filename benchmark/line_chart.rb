# frozen_string_literal: true

require_relative "drawing"
require_relative "scale"

module Bench
  # A curve as a picture: a line for each contender, named at its end. Both axes are logarithmic; a distance of 0 is drawn
  # where 0.3 ms would be.
  class LineChart
    LEFT = 60
    RIGHT = Drawing::WIDTH - 150
    TOP = 60
    BOTTOM = 420
    ZERO = 0.3

    # lines: {name => [[x, ms], …]}
    def initialize(title, axis, lines)
      @title = title
      @axis = axis
      @lines = lines.transform_values { |points| points.map { |x, ms| [x.zero? ? ZERO : x, ms] } }
    end

    def to_s
      @drawing = Drawing.new(@title, BOTTOM + 50)
      @x = Scale.new(@lines.values.flatten(1).map(&:first), LEFT, RIGHT)
      @y = Scale.new(@lines.values.flatten(1).map(&:last), BOTTOM, TOP)
      axes
      @lines.each { |name, points| curve(name, points) }
      names
      @drawing.to_s
    end

    private

    def axes
      @drawing.text(16, 46, "median ms; both axes logarithmic", "soft")
      @y.marks.each do |mark|
        @drawing.line(LEFT, @y.at(mark), RIGHT, @y.at(mark), class: "grid")
        @drawing.text(LEFT - 8, @y.at(mark) + 4, Scale.label(mark), "soft end")
      end
      @lines.values.flatten(1).map(&:first).uniq.each do |x|
        @drawing.text(@x.at(x), BOTTOM + 18, x == ZERO ? "0" : Scale.label(x), "soft middle")
      end
      @drawing.text((LEFT + RIGHT) / 2, BOTTOM + 38, @axis, "soft middle")
    end

    def curve(name, points)
      places = points.map { |x, ms| [@x.at(x), @y.at(ms)] }
      @drawing.path(places, Drawing.colour(name), name.start_with?("pipeloader") ? 3 : 1.5)
      places.each { |x, y| @drawing.dot(x, y, Drawing.colour(name), 2.5) }
    end

    # Beside the lines' ends, pushed apart where they would overlap.
    def names
      free = TOP - 20.0
      @lines.sort_by { |_, points| @y.at(points.last.last) }.each do |name, points|
        free = [@y.at(points.last.last), free + 14].max
        @drawing.line(@x.at(points.last.first) + 4, @y.at(points.last.last), RIGHT + 22, free, stroke: Drawing.colour(name),
                                                                                               opacity: 0.4)
        @drawing.text(RIGHT + 26, free + 4, name, name.start_with?("pipeloader") ? "strong" : "")
      end
    end
  end
end

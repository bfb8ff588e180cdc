# frozen_string_literal: true

require "victor"

module Bench
  # What the charts share: an SVG that suits light and dark pages, with logarithmic scales and one colour per contender.
  class Drawing
    WIDTH = 900
    # Told apart by those, too, who don't see all colours (Okabe and Ito's, and greys for what is no contender).
    COLOURS = { "naive" => "#999999", "includes" => "#0072B2", "dataloader" => "#E69F00", "graphql-batch" => "#009E73",
                "goldiloader" => "#56B4E9", "pipeloader" => "#D55E00", "pipeloader-exact" => "#CC79A7",
                "pipeloader-uncompiled" => "#A0522D",
                "next-dataloader" => "#B8A200", "next-pipeloader" => "#8E5BD0", "floor-rows" => "#7A7A7A",
                "floor-json" => "#5A5A5A" }.freeze
    STYLE = <<~CSS
      text { font: 12px ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2933 }
      .title { font-size: 15px; font-weight: 600 }
      .strong { font-weight: 700 }
      .soft { fill: #52606d }
      .end { text-anchor: end }
      .middle { text-anchor: middle }
      .ground { fill: #ffffff }
      .grid { stroke: #d9dee3; fill: none }
      @media (prefers-color-scheme: dark) {
        text { fill: #e4e7eb }
        .soft { fill: #9aa5b1 }
        .ground { fill: #0d1117 }
        .grid { stroke: #30363d }
      }
    CSS

    def self.colour(name) = COLOURS.fetch(name, "#888888")

    def initialize(title, height)
      @height = height
      @svg = Victor::SVG.new(width: WIDTH, height: height, viewBox: "0 0 #{WIDTH} #{height}", role: "img")
      @svg.element(:title, title)
      @svg.element("style!", STYLE)
      rect(0, 0, WIDTH, height, class: "ground")
      text(16, 26, title, "title")
    end

    def text(x, y, words, classes = "") = @svg.text(words.to_s, x: x.round(1), y: y.round(1), class: classes)
    def rect(x, y, width, height, **rest) = @svg.rect(x: x, y: y, width: width, height: height, **rest)

    def line(from_x, from_y, to_x, to_y, **rest)
      @svg.line(x1: from_x.round(1), y1: from_y.round(1), x2: to_x.round(1), y2: to_y.round(1), **rest)
    end

    def dot(x, y, colour, radius = 4) = @svg.circle(cx: x.round(1), cy: y.round(1), r: radius, fill: colour)

    def path(points, colour, width = 2)
      @svg.polyline(points: points.map { |x, y| "#{x.round(1)},#{y.round(1)}" }.join(" "), fill: "none", stroke: colour,
                    stroke_width: width)
    end

    def to_s = @svg.render
  end
end

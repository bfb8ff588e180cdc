# frozen_string_literal: true

module Demo
  # Colours for a terminal that shows them, plain text for everything else.
  class Paint
    CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 }.freeze

    def self.for(io) = new(io.tty? && ENV.fetch("NO_COLOR", "").empty?)

    def initialize(on)
      @on = on
    end

    CODES.each { |name, code| define_method(name) { |text| @on ? "\e[#{code}m#{text}\e[0m" : text.to_s } }
  end
end

# frozen_string_literal: true

module Bench
  # What `bin/bench` fills in a file that is written by hand: the part between two markers.
  module Marked
    PART = /(?<=<!-- bin\/bench writes this -->\n).*(?=<!-- up to here -->)/m
    ROOT = File.expand_path("..", __dir__)

    class << self
      # @param name of the file, below +root+
      # @return [String, nil] the name; nil if the file has no such part
      def fill(name, text, root: ROOT)
        file = "#{root}/#{name}"
        whole = File.read(file)
        name if whole.match?(PART) && File.write(file, whole.sub(PART) { text })
      end

      # Fills in a table, and where it comes from.
      def fill_table(name, heads, rows, environment)
        command, date, machine, versions = environment.values_at(:command, :date, :machine, :versions)
        fill(name, "`#{command}`, #{date}, Ruby #{versions["Ruby"]}, #{machine}:\n\n#{Document.grid(heads, rows)}\n")
      end
    end
  end
end

# frozen_string_literal: true

module Demo
  # How numbers and reads are written, in the terminal and in the SVG alike.
  module Words
    module_function

    # 0.84 → "0.8 ms", 12.3 → "12 ms", 1234 → "1,234 ms"
    def ms(value) = "#{short(value)} ms"

    # 1.84 → "1.8×", 16.4 → "16×"
    def times(ratio) = "#{short(ratio)}×"

    # 9.94 → "9.9", 1234.5 → "1,235"
    def short(number) = number < 9.95 ? number.round(1).to_s : count(number.round)

    # 1234567 → "1,234,567"
    def count(number) = number.to_s.gsub(/\d(?=(\d{3})+$)/, '\0,')

    def plural(number, noun) = "#{count(number)} #{noun}#{"s" unless number == 1}"

    # { "Track Load" => 12, "Album Count" => 1 } → ["Track ×12", "Album Count"], the most first
    def reads(reads)
      reads.sort_by { |name, times| [-times, name] }.map do |name, times|
        times == 1 ? read(name) : "#{read(name)} ×#{count(times)}"
      end
    end

    def read(name) = name.delete_suffix(" Load")
  end
end

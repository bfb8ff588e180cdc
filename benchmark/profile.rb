# frozen_string_literal: true

module Bench
  # Where the time of a contender's answer goes, by library and by part of ours.
  class Profile
    SECONDS = 4

    def initialize(contender, workload, address, progress)
      @contender = contender
      @workload = workload
      @address = address
      @progress = progress
    end

    def print(out)
      result = measure
      @progress.clear
      out.puts "#{@contender}, #{@workload.title}, RTT 0: #{result[:samples]} samples of #{result[:runs]} answers", ""
      out.puts Terminal::Table.new(headings: ["library", "%"], rows: percents(result[:libraries], result[:samples])), ""
      return if result[:parts].empty?
      out.puts Terminal::Table.new(headings: ["part of Pipeloader", "own %", "with all it calls %"],
                                   rows: part_rows(result))
    end

    private

    def measure
      worker = Worker.new(@contender, @workload.name)
      worker.load
      worker.connect(@address)
      worker.warm
      @progress.say("profiling #{@contender}")
      worker.profile(SECONDS)
    ensure
      worker&.stop
    end

    def percents(counts, all)
      counts.sort_by { |_, count| -count }.map { |name, count| [name, percent(count, all)] }
    end

    def part_rows(result)
      result[:parts].sort_by { |_, (own, all)| [-own, -all] }.map do |part, (own, all)|
        [part, percent(own, result[:samples]), percent(all, result[:samples])]
      end
    end

    def percent(count, all) = format("%5.1f", 100.0 * count / all)
  end
end

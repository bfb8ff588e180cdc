# frozen_string_literal: true

require "stackprof"

module Bench
  # Samples the stack while a contender answers, in its process. A sample belongs to the library whose code is on top, a C
  # function to who called it; waiting for the server is a library of its own.
  class Profiler
    WAITING = "waiting for the server"
    OURS = "Pipeloader"
    WAITS = /\APG::Connection#(block|exec_prepared|exec_params|async_|sync_|flush|get_last_result|query|discard|wait)|\AIO(\.select|#wait)/

    def initialize(contender, lib)
      @contender = contender
      @lib = lib
    end

    # {runs:, samples:, libraries: {name => samples}, parts: {"burst" => [own, with all it calls], …}}
    def run(seconds)
      runs = 0
      profile = StackProf.run(mode: :wall, interval: 200, raw: true, ignore_gc: false) do
        finish = Sample.now + seconds
        (@contender.answer && runs += 1) while Sample.now < finish
      end
      { runs: runs, **count(profile) }
    end

    private

    def count(profile)
      @frames = profile[:frames]
      libraries, parts = Hash.new(0), Hash.new { |all, part| all[part] = [0, 0] }
      stacks(profile[:raw]) do |stack, weight|
        libraries[library(stack)] += weight
        inside = stack.filter_map { |frame| part(frame) }
        parts[inside.last][0] += weight if inside.any? && inside.last == part(topmost(stack))
        inside.uniq.each { |name| parts[name][1] += weight }
      end
      [libraries, parts].each { |counts| counts.default = nil } # what is sent away can't hold a block
      { samples: libraries.values.sum, libraries: libraries, parts: parts }
    end

    # StackProf's raw form: [depth, frame, frame, …, times, depth, …], outermost first.
    def stacks(raw)
      at = 0
      while at < raw.size
        depth = raw[at]
        yield raw[at + 1, depth], raw[at + 1 + depth]
        at += depth + 2
      end
    end

    def library(stack)
      top = @frames[stack.last]
      return "garbage collection" if top[:name].start_with?("(garbage", "(marking", "(sweeping")
      return WAITING if top[:name].match?(WAITS)
      @frames[topmost(stack)][:file].then { |file| name_of(file) }
    end

    # The innermost frame that has a file: not a C function.
    def topmost(stack) = stack.reverse_each.find { |frame| @frames[frame][:file].to_s.start_with?("/") } || stack.last

    def name_of(file)
      case file
      when nil, "" then "Ruby"
      when /\A#{Regexp.escape(@lib)}/ then OURS
      when %r{/gems/([^/]+?)-\d[^/]*/} then Regexp.last_match(1)
      when /\A#{Regexp.escape(__dir__)}/, /\A#{Regexp.escape(File.expand_path("../example", __dir__))}/ then "the application"
      else "Ruby"
      end
    end

    def part(frame)
      file = @frames[frame][:file].to_s
      file.delete_prefix(@lib).delete_prefix("/").delete_prefix("pipeloader/").delete_suffix(".rb") if file.start_with?(@lib)
    end
  end
end

# frozen_string_literal: true

require "json"
require_relative "recording"

module Demo
  # One query run both ways, at one or more round-trip times, and what came of it.
  class Comparison
    # Both ways take turns until they have run this long together, yet within RUNS.
    BUDGET_MS = 1500
    RUNS = (3..15)

    attr_reader :query

    # ways: { plain: schema, piped: schema }
    def initialize(query, ways)
      @query = query
      @ways = ways
      @medians = {} # { 0 => { plain: Recording, piped: Recording }, 1 => … }
      @answers = [] # each different answer once, plain's first
    end

    # Runs both ways on the present connection, which is +rtt+ milliseconds away, by the proxy if there is one. Yields before
    # each turn: (its number, of how many).
    def run(rtt, proxy = nil)
      @proxy = proxy
      first = @ways.keys.map { |way| record(way) } # not counted: connection, caches and code warm up
      runs = (BUDGET_MS / first.sum(&:ms)).to_i.clamp(RUNS)
      samples = Hash.new { |all, way| all[way] = [] }
      runs.times do |turn|
        yield turn + 1, runs if block_given?
        @ways.keys.rotate(turn).each { |way| samples[way] << record(way) }
      end
      @medians[rtt] = samples.transform_values { |recordings| recordings.sort_by(&:ms)[runs / 2] }
    end

    def rtts = @medians.keys

    # The run of median length.
    def median(way, rtt) = @medians.fetch(rtt).fetch(way)

    def medians(rtt) = [median(:plain, rtt), median(:piped, rtt)]

    def ratio(rtt) = median(:plain, rtt).ms / median(:piped, rtt).ms

    def same? = @answers.size == 1

    def bytes = @answers.first.bytesize

    # The byte at which two answers part, and what each has around it.
    #: () -> [Integer, String, String]
    def first_difference
      one, other = @answers
      at = one.each_byte.zip(other.each_byte).index { |a, b| a != b } || one.bytesize
      [at, *[one, other].map { |answer| answer.byteslice([at - 30, 0].max, 80).to_s.scrub("") }]
    end

    private

    def record(way)
      GC.start
      before = wire
      recording = Recorder.record { ActiveRecord::Base.cache { answer(way) } }
      recording.wire = wire - before if @proxy
      @answers |= [recording.answer]
      recording
    end

    def wire = @proxy&.stats&.fetch(:round_trips)

    # If plain fails there is nothing to compare; if Pipeloader alone does, that is its answer.
    def answer(way)
      JSON.generate(@ways.fetch(way).execute(query.text).to_h)
    rescue ActiveRecord::ActiveRecordError => e
      raise if way == :plain

      "#{e.class}: #{e.message}"
    end
  end
end

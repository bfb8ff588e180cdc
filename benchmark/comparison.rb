# frozen_string_literal: true

module Bench
  # Whether a change helped: this checkout against another commit, round by round of the same run.
  #
  # What is said of time rests on the ratios within each round, in which both ran one after the other. The interval is a
  # bootstrap's (2,000 resamples of the rounds) for the median ratio: where it includes 1, no difference was shown. On a busy
  # machine, trust allocations first, then CPU, then time.
  class Comparison
    RESAMPLES = 2_000
    PARTS = { "time" => 0, "client CPU" => 1, "server CPU" => 2, "objects" => 3 }.freeze

    def initialize(contest, revision, random: Random.new(42))
      @entries = contest[:entries]
      @revision = revision
      @random = random
    end

    def to_s = pairs.flat_map { |name, other| lines(name, other) }.join("\n")

    # [median ratio, its interval's ends] of what is measured, this checkout's by the other's.
    def ratio(now, before, part)
      ratios = now.zip(before).filter_map { |a, b| a[part] / b[part].to_f if a && b && a[part] && b[part]&.positive? }
      return if ratios.empty?
      medians = Array.new(RESAMPLES) { Array.new(ratios.size) { ratios.sample(random: @random) }.median }
      [ratios.median, *medians.percentile([2.5, 97.5])]
    end

    private

    # {"pipeloader" => "pipeloader@abc1234"}
    def pairs = @entries.keys.to_h { |name| [name, @revision.name_of(name)] }.select { |_, other| @entries[other] }

    def lines(name, other)
      now, before = @entries.values_at(name, other).map { |entry| entry[:samples] }
      ["#{name}, this checkout by #{@revision.name} (#{@revision.commit[0, 7]}); below 1 it needs less now:"] +
        now.keys.map { |rtt| "  RTT #{rtt} ms, #{now[rtt].size} rounds: #{parts(now[rtt], before[rtt])}" } + [wire(name, other)]
    end

    def parts(now, before)
      PARTS.filter_map do |title, part|
        median, low, high = ratio(now, before, part)
        format("%s %.3f [%.3f, %.3f]%s", title, median, low, high, verdict(low, high)) if median
      end.join(" · ")
    end

    def verdict(low, high) = high < 1 ? " less" : low > 1 ? " MORE" : ""

    def wire(name, other)
      counts = %i[round_trips statements bytes_to_client].map do |count|
        format("%s %d (was %d)", count.to_s.tr("_", " "), *@entries.values_at(name, other).map { |entry| entry[count] })
      end
      "  #{counts.join(" · ")}"
    end
  end
end

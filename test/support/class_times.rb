# frozen_string_literal: true

# PIPELOADER_TIMES=1: which classes of tests took longest is said at the end of a run. (A number above 1 says how many.)
#
#   12.31 s   184 tests  ReadFormsUnpreparedTest (slowest: test_with_lock, 1.02 s)
class ClassTimes < Minitest::StatisticsReporter
  SHOWN = [Integer(ENV.fetch("PIPELOADER_TIMES")), 1].max.then { |number| number > 1 ? number : 10 }

  def initialize(...)
    super
    @classes = Hash.new { |classes, name| classes[name] = [] }
  end

  def record(result)
    super
    @classes[result.klass] << [result.time, result.name]
  end

  def report
    super
    slowest = @classes.transform_values { |tests| tests.sum(&:first) }.max_by(SHOWN, &:last)
    io.puts "", "The #{slowest.size} slowest of #{@classes.size} classes, #{format("%.1f", @classes.values.flatten(1).sum(&:first))} s in all:"
    slowest.each do |name, seconds|
      io.puts format("%8.2f s %5d tests  %s (slowest: %s, %.2f s)", seconds, @classes[name].size, name, *@classes[name].max.reverse)
    end
  end
end

Minitest.extensions << "pipeloader_times"
Minitest.define_singleton_method(:plugin_pipeloader_times_init) { |options| reporter << ClassTimes.new(options[:io], options) }

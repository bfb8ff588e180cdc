# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../support/gathering_program"

# Random programs of Pipeloader.map and Pipeloader.gather: what they return, raise, write and leave assigned is what they do without
# Pipeloader. `PIPELOADER_SEED=7 PIPELOADER_PROGRAMS=1000` runs others.
class GatheringRandomTest < AnswerTest
  def test_programs
    seed = Integer(ENV.fetch("PIPELOADER_SEED", 20_261_128))
    Integer(ENV.fetch("PIPELOADER_PROGRAMS", 120)).times do |i|
      plain, piped = [true, false].map { |disabled| GatheringProgram.outcome(seed + i, disabled) }
      assert_equal plain, piped, "seed #{seed + i}"
    end
  ensure
    restore
  end
end

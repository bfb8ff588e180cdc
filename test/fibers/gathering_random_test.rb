# frozen_string_literal: true

require_relative "../support/answers"
require_relative "../support/gathering_program"

# Random programs of Pipeloader.map and Pipeloader.gather: what they return, raise, write and leave assigned is what they do without
# Pipeloader, also when it is known from earlier runs what they read. `PIPELOADER_SEED=7 PIPELOADER_PROGRAMS=1000` runs others.
class GatheringRandomTest < AnswerTest
  def test_programs
    seed = Integer(ENV.fetch("PIPELOADER_SEED", 20_261_128))
    Integer(ENV.fetch("PIPELOADER_PROGRAMS", 120)).times do |i|
      plain = GatheringProgram.outcome(seed + i, true)
      4.times { |run| assert_equal plain, GatheringProgram.outcome(seed + i, false), "seed #{seed + i}, run #{run}" }
    end
  ensure
    restore
  end
end

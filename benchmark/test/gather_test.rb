# frozen_string_literal: true

require "minitest/autorun"
require "open3"

# gather.rb, each tree with all contenders, which must answer alike. Nothing here asserts how long anything takes.
class GatherTest < Minitest::Test
  LINE = /^(?:plain Ruby|alba|jbuilder|AMS) +(.+?) +[\d.]+ ms, .* (\d+) round trips$/

  def gather(*arguments) = Open3.capture2e(RbConfig.ruby, "#{__dir__}/../gather.rb", "--budget", "0", *arguments)

  # {contender => the round trips of each serializer}
  def round_trips(tree, size)
    said, status = gather("--tree", tree, size.to_s, "5")
    assert_predicate status, :success?, said
    said.scan(LINE).group_by(&:first).transform_values { |lines| lines.map { |_, trips| trips.to_i } }
  end

  { "posts" => 4, "narrow" => 4, "wide" => 10 }.each do |tree, statements|
    define_method("test_#{tree}") do
      found = round_trips(tree, 6)
      assert_equal ["a serial loop", "includes", "load_async", "goldiloader", "ar_lazy_preload", "Pipeloader.map"], found.keys
      assert_equal [4], found.each_value.map(&:size).uniq
      assert_equal [statements] * 4, found["load_async"]
    end
  end

  def test_the_example_has_no_more
    said, status = gather("--tree", "wide", "61", "0")
    refute_predicate status, :success?
    assert_match(/There are 60 example_issues, not 61/, said)
  end
end

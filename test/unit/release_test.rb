# frozen_string_literal: true

require "rubygems"
require_relative "../support/unit_helper"

# What is published, and what bin/test --quick chooses.
class ReleaseTest < UnitTest
  ROOT = File.expand_path("../..", __dir__)
  QUICK = File.readlines("#{ROOT}/test/quick.txt", chomp: true).freeze

  def spec = @spec ||= Gem::Specification.load("#{ROOT}/pipeloader.gemspec")
  def read(path) = File.read("#{ROOT}/#{path}")

  def test_quick_takes_some_of_each_room
    assert_empty(QUICK.reject { |path| File.file?("#{ROOT}/#{path}") })
    rooms = Dir["#{ROOT}/lib/pipeloader/*/"].map { |room| File.basename(room) }
    with_tests = rooms.select { |room| Dir["#{ROOT}/test/#{room}/*_test.rb"].any? }
    assert_empty with_tests - ["patches"] - QUICK.map { |path| path[%r{\Atest/(\w+)/}, 1] }
  end
end

# frozen_string_literal: true

$LOAD_PATH.unshift(File.expand_path("../../lib", __dir__)) unless $LOAD_PATH.include?(File.expand_path("../../lib", __dir__))

# A warning from our own code fails the test that caused it, or the loading of the file.
module RaiseOurWarnings
  def warn(message, ...)
    raise "warning: #{message}" if message.match?(%r{(?:\A|/)(?:lib/pipeloader|test/)})

    super
  end
end
Warning.extend(RaiseOurWarnings)
Warning[:deprecated] = true

require "minitest/autorun"
require "zlib"
require "pg"
require "pipeloader"
require "active_record"
require "active_record/connection_adapters/postgresql_adapter"
require_relative "class_times" if ENV["PIPELOADER_TIMES"]
require_relative "progress" if ENV["PIPELOADER_PROGRESS"]

# What needs no server: mostly tables of what goes in and what comes out.
class UnitTest < Minitest::Test
  # PIPELOADER_PART=1/6: the second sixth of all tests, whichever these are.
  def self.runnable_methods
    part, parts = ENV["PIPELOADER_PART"]&.split("/")&.map { |number| Integer(number) }
    part ? super.select { |name| Zlib.crc32("#{self}##{name}") % parts == part } : super
  end

  # Defines a test for each entry of a table: its name, and what the block is given.
  #
  #   each_case(SUMS) { |given, sum| assert_equal sum, given.sum }
  def self.each_case(table, prefix = nil, &block)
    table.each { |name, values| define_method(["test", prefix, name].compact.join("_")) { instance_exec(*values, &block) } }
  end

  # A test without an assertion fails.
  def teardown
    flunk "no assertion was made" if passed? && assertions.zero?
  end
end

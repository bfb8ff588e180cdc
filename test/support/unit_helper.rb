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

# What needs no server: mostly tables of what goes in and what comes out.
class UnitTest < Minitest::Test
  # PIPELOADER_HALF=0 or 1: every other test alone, whichever these are.
  def self.runnable_methods
    half = ENV["PIPELOADER_HALF"]
    half ? super.select { |name| Zlib.crc32("#{self}##{name}") % 2 == Integer(half) } : super
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

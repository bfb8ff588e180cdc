# frozen_string_literal: true

require "minitest"
require "pipeloader/report/testing"

module Pipeloader
  # Assertions about what a block asks of its databases, for every Minitest::Test; so for ActiveSupport::TestCase, too. See
  # docs/testing.md.
  #
  #     require "pipeloader/minitest" # in test_helper.rb
  #
  #     assert_round_trips(3) { AppSchema.execute(QUERY) }
  module Assertions
    # Fails if the block makes more round trips than +at_most+, or not +exactly+ as many.
    #
    # @return what the block returns
    #
    #: [T] (?Integer?, ?exactly: Integer?) { () -> T } -> T
    def assert_round_trips(at_most = nil, exactly: nil, &block)
      pipeloader_assert(Budget.new(:round_trips, at_most: at_most, exactly: exactly), &block)
    end

    # Fails if the block sends more statements than +at_most+, or not +exactly+ as many.
    #
    # @return what the block returns
    #
    #: [T] (?Integer?, ?exactly: Integer?) { () -> T } -> T
    def assert_statements(at_most = nil, exactly: nil, &block)
      pipeloader_assert(Budget.new(:statements, at_most: at_most, exactly: exactly), &block)
    end

    # Fails if more rows than +at_most+ come from the databases, or not +exactly+ as many.
    #
    # @return what the block returns
    #
    #: [T] (?Integer?, ?exactly: Integer?) { () -> T } -> T
    def assert_rows_read(at_most = nil, exactly: nil, &block)
      pipeloader_assert(Budget.new(:rows, at_most: at_most, exactly: exactly), &block)
    end

    # Fails unless the block's queries select each of these +fields+, "Post.author", and have it compiled wherever they do.
    #
    # @return what the block returns
    #
    #: [T] (*String) { () -> T } -> T
    def assert_compiled(*fields, &block)
      pipeloader_explained(fields, block) { |found| assert found.all?, found.complaint }
    end

    # Fails unless the block's queries select each of these +fields+, something comes there, and it is compiled nowhere.
    #
    # @return what the block returns
    #
    #: [T] (*String) { () -> T } -> T
    def refute_compiled(*fields, &block)
      pipeloader_explained(fields, block) { |found| assert found.none?, found.complaint("none of these") }
    end

    # Compares what named operations take in each test with test/pipeloader_budgets.yml; PIPELOADER_BUDGETS=write writes that.
    #
    #     class ActiveSupport::TestCase
    #       include Pipeloader::Assertions::Budgeted
    #     end
    module Budgeted
      def before_setup # begins to record what a test takes
        super
        @pipeloader_ledger = Ledger.new.tap(&:start)
      end

      def after_teardown # fails the test if an operation took more than its budget
        return unless @pipeloader_ledger # an error in before_setup

        @pipeloader_ledger.stop
        complaints = Budgets.settle(@pipeloader_ledger)
        flunk complaints.join("\n\n") if complaints.any?
      ensure
        super
      end
    end

    private

    def pipeloader_assert(budget, &block)
      ledger = Ledger.new
      value = ledger.record(&block)
      assert budget.kept?(ledger), -> { budget.complaint(ledger) }
      value
    end

    def pipeloader_explained(fields, block)
      ledger = Ledger.new(explains: true)
      value = ledger.record(&block)
      yield CompiledFields.new(fields, ledger)
      value
    end
  end
end

Minitest::Test.include(Pipeloader::Assertions)

# frozen_string_literal: true

require "yaml"

module Pipeloader
  # How many round trips and rows each named operation takes at most while a test suite runs: a file that is committed, so that a
  # pull request shows which operation takes more.
  #
  #     GetPosts:
  #       round_trips: 2
  #       rows: 62
  #
  # With PIPELOADER_BUDGETS=write in the environment the suite writes it, otherwise what takes more than it says fails.
  class Budgets
    PATH = "test/pipeloader_budgets.yml"
    FIGURES = %i[round_trips rows].freeze
    HEAD = "# The most that each operation takes in a test. Written by the tests with PIPELOADER_BUDGETS=write, see\n" \
           "# Pipeloader's docs/testing.md.\n"
    private_constant :PATH, :FIGURES, :HEAD

    class << self
      # Where the file is.
      #
      #: () -> String
      def path = @path || PATH

      #: (String?) -> String?
      attr_writer :path

      # Yields, once, to run a test. Executions of named operations are written down, or compared with the file.
      #
      # @return what the block returns
      # @raise [BudgetExceededError] behind the block
      def check
        ledger = Ledger.new
        value = ledger.record { yield }
        complaints = settle(ledger)
        raise BudgetExceededError, complaints.join("\n\n") if complaints.any?

        value
      end

      # @param ledger [Ledger] of one test
      # @return [Array<String>] what takes more than the file says; nothing where it is being written
      def settle(ledger)
        budgets = new(path)
        return budgets.complaints(ledger) unless ENV["PIPELOADER_BUDGETS"] == "write"

        budgets.write(ledger)
        []
      end
    end

    def initialize(path)
      @path = path
    end

    # @return [Array<String>] of executions that take more than before; an operation that the file hasn't got may take anything
    def complaints(ledger)
      budgets = read
      ledger.executions.flat_map do |name, execution|
        limits = (budgets[name] || {}).filter_map { |figure, most| Budget.new(figure.to_sym, at_most: most) }
        limits.reject { |limit| limit.kept?(execution) }.map { |limit| complaint(name, limit, execution) }
      end
    end

    # Writes down what is more than the file says. Other processes may do so, too.
    def write(ledger)
      executions = ledger.executions
      return if executions.empty?

      File.open(@path, File::RDWR | File::CREAT) do |file|
        file.flock(File::LOCK_EX)
        before = YAML.safe_load(file.read) || {}
        after = most(before, executions)
        next if after == before

        file.rewind
        file.truncate(0)
        file.write(HEAD, YAML.dump(after.sort.to_h).delete_prefix("---\n"))
      end
    end

    private

    #: () -> Hash[String, Hash[String, Integer]]
    def read = (File.exist?(@path) && YAML.safe_load_file(@path)) || {}

    def most(before, executions)
      executions.each_with_object(before.transform_values(&:dup)) do |(name, execution), budgets|
        budget = budgets[name] ||= {}
        FIGURES.each { |figure| budget[figure.to_s] = [budget[figure.to_s].to_i, execution.public_send(figure)].max }
      end
    end

    def complaint(name, budget, execution)
      "#{name}: #{budget.complaint(execution)}\n" \
        "If that is as it should be, run this test with PIPELOADER_BUDGETS=write, and commit #{@path}"
    end
  end
end

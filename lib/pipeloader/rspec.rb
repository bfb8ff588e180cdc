# frozen_string_literal: true

require "rspec/expectations"
require "pipeloader/report/testing"

module Pipeloader
  # Matchers for what a block asks of its databases, in every example group of RSpec; elsewhere `include Pipeloader::Matchers`.
  # See docs/testing.md.
  #
  #     require "pipeloader/rspec" # in rails_helper.rb
  #
  #     expect { AppSchema.execute(query) }.to make_round_trips(at_most: 3).and have_compiled("Post.author")
  module Matchers
    # @param exactly [Integer, nil] how many; with neither, any: `expect { … }.not_to make_round_trips`
    #
    #: (?Integer?, ?at_most: Integer?) -> Spending
    def make_round_trips(exactly = nil, at_most: nil) = Spending.new("make", :round_trips, exactly, at_most)

    #: (?Integer?, ?at_most: Integer?) -> Spending
    def send_statements(exactly = nil, at_most: nil) = Spending.new("send", :statements, exactly, at_most)

    # expect { … }.to read_at_most(100).rows
    #: (Integer) -> Spending
    def read_at_most(rows) = Spending.new("read", :rows, nil, rows)

    # @param fields [Array<String>] "Post.author": each must be selected, and compiled wherever it is; with `not_to`, something
    #   must come there, and be compiled nowhere
    #
    #: (*String) -> Compiling
    def have_compiled(*fields) = Compiling.new(fields)

    # A matcher of blocks, each of which is run once.
    class OfBlock
      include ::RSpec::Matchers::Composable

      def supports_block_expectations? = true
      def supports_value_expectations? = false

      private

      def record(block, **options)
        @ledger = Ledger.new(**options)
        @ledger.record(&block)
      end
    end

    class Spending < OfBlock # what make_round_trips, send_statements and read_at_most return
      NEGATED = "`not_to` goes with no number: `expect { … }.not_to make_round_trips`"
      private_constant :NEGATED

      def initialize(verb, figure, exactly, at_most)
        @verb = verb
        @figure = figure
        @budget = Budget.new(figure, exactly: exactly, at_most: at_most) if exactly || at_most
      end

      #: () -> Spending
      def rows = self

      def matches?(block)
        record(block)
        @budget ? @budget.kept?(@ledger) : @ledger.public_send(@figure).positive?
      end

      # @raise [ArgumentError] with a number, as it isn't clear what else there should be
      def does_not_match?(block)
        raise ArgumentError, NEGATED if @budget

        @budget = Budget.new(@figure, exactly: 0)
        matches?(block)
      end

      def description = "#{@verb} #{@budget || @figure.to_s.tr("_", " ")}" # of an example without a name
      # Each round trip, and the line that made one too many.
      def failure_message = @budget ? @budget.complaint(@ledger) : "expected #{@figure.to_s.tr("_", " ")}, but there were none"
      alias failure_message_when_negated failure_message
    end

    class Compiling < OfBlock # what have_compiled returns
      def initialize(fields)
        @fields = fields
      end

      def matches?(block) = found(block).all?
      def does_not_match?(block) = found(block).none?
      def description = "have compiled #{@fields.join(", ")}" # of an example without a name
      def failure_message = @found.complaint # which fields aren't compiled, and why
      def failure_message_when_negated = @found.complaint("none of these") # which are

      private

      def found(block)
        record(block, explains: true)
        @found = CompiledFields.new(@fields, @ledger)
      end
    end
  end
end

RSpec.configure { |config| config.include(Pipeloader::Matchers) } if RSpec.respond_to?(:configure)

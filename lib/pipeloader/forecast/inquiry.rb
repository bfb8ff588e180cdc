# frozen_string_literal: true

module Pipeloader
  # Questions that are asked ahead for records, each when its parameters are known.
  class Inquiry
    # One question for one record.
    Item = Struct.new(:question, :record, :params, :read) do
      # @param connection [ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, nil] nil where it can't be asked
      def ask(connection) = self.read = (question.read(params, connection) if connection)

      # Nobody waits for it any more.
      def withdraw = (read.withdraw unless read.nil? || read.answered?)

      # @return [Array<Array>, nil] what others' parameters may be in; nil if there is no answer
      def rows = (read.statement.result.values if read&.answered? && read.statement && !read.statement.failed?)
    end
    private_constant :Item

    alias inspect to_s

    # @param begun [Hash{ActiveRecord::Base => Hash{Question => Array<Array>}}] all questions of the response, with the rows of
    #   their answers
    def initialize(begun)
      @begun = begun
      @left = []
    end

    # Takes up what is expected of +records+.
    #
    # @param questions [Array<Question>]
    def add(questions, records)
      return if questions.empty?

      records.each do |record|
        answers = @begun[record] ||= {}.compare_by_identity
        fresh = questions.reject { |question| answers.key?(question) }
        fresh.each { |question| answers[question] = nil }
        @left.concat(fresh.map { |question| Item.new(question, record) })
      end
    end

    # @return [Array<Item>] that can be asked now
    def ready
      @left.each { |item| item.params = item.question.params(item.record, @begun[item.record]) }
      ready, @left = @left.partition(&:params)
      ready
    end

    # They have been asked: others may be asked by what they have brought.
    def answered(items)
      items.each { |item| @begun[item.record][item.question] = item.rows }
    end
  end
end

# frozen_string_literal: true

module Pipeloader
  # Questions that are asked ahead for records, each when its parameters are known.
  class Inquiry
    # One question for one record. By which parameters a ChainedQuestion asks it isn't known until it has come; +given+ are that
    # one's.
    Item = Struct.new(:question, :record, :params, :read, :chained, :given) do
      # @param connection [ActiveRecord::ConnectionAdapters::PostgreSQLAdapter, nil] nil where it can't be asked
      def ask(connection)
        self.read = (params ? question.read(params, connection) : chained.read(given, connection)) if connection
      end

      # It has come. One of a chain becomes what would have been asked by itself.
      def come
        answer = chained.answer(read.statement) if chained && read&.answered?
        return unless answer && (self.params = question.params(record, NONE, answer.cells))

        came, self.read = read, question.read(params, read.adapter)
        answer.deliver(read, came.position)
      end

      # Nobody waits for it any more.
      def withdraw = (read.withdraw unless read.nil? || read.answered?)

      # @return [Array<Array>, nil] what others' parameters may be in; nil if there is no answer
      def rows = (read.statement.result.values if read&.answered? && read.statement && !read.statement.failed?)
    end
    NONE = {}.freeze
    private_constant :Item, :NONE

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

    # @param one [Boolean] whether those are, too, that are asked by what these will bring
    # @return [Array<Item>] that can be asked now
    def ready(one)
      @left.each { |item| item.params = item.question.params(item.record, @begun[item.record]) }
      ready, @left = @left.partition(&:params)
      one && @left.any? ? ready + chained(ready) : ready
    end

    # They have been asked: others may be asked by what they have brought.
    def answered(items)
      items.each { |item| @begun[item.record][item.question] = item.rows }
    end

    private

    # @return [Array<Item>] of those left, all whose parameters are in what others bring that are asked +now+
    def chained(now)
      asked = {}.compare_by_identity
      now.each { |item| (asked[item.record] ||= []) << item.question }
      along, @left = @left.partition { |item| (with = asked[item.record]) && chain(item, with) && with << item.question }
      along
    end

    # @return [Array, nil] its ChainedQuestion's parameters, where all that lead to it are asked
    def chain(item, asked)
      chained = item.question.chained
      item.chained, item.given = chained, chained.params(item.record) if chained && (chained.others - asked).empty?
      item.given
    end
  end
end

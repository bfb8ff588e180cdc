# frozen_string_literal: true

module Pipeloader
  # The Questions of one place.
  class Questions
    # How many are kept, and how long a text is that is.
    MOST = 16
    LONGEST = 5_000
    private_constant :MOST, :LONGEST

    # True if a +read+ may be sent before it is asked for.
    def self.takes?(read) = read.pure? && read.text.size <= LONGEST && read.params.size <= MOST && !Lookup.sends?(read)

    def initialize
      @all = {} # {[SQL, how many of the same come before] => Question}
    end

    def any? = !@all.empty? && @all.values.any?(&:counts?)

    # @return [Array<Question>] that are asked for each record
    def expected = @all.values.select(&:counts?)

    # An execution was observed.
    #
    # @param asks [Hash{ActiveRecord::Base => Array<Question::Ask>}]
    # @param records [Array<ActiveRecord::Base>] that came to the place
    def learn(asks, records)
      asked = {}.compare_by_identity
      asks.each { |record, its| asked[record] = by_question(its) }
      @all.values.each { |question| question.observe(asked, records) }
    end

    private

    # @return [Hash{Question => Question::Ask}]
    def by_question(asks)
      numbers = Hash.new(-1)
      asks.each_with_object({}.compare_by_identity) do |ask, found|
        question = question(ask.text, numbers[ask.text] += 1)
        found[question] = ask if question
      end
    end

    def question(text, number)
      @all[[text, number]] || (@all[[text, number]] = Question.new if @all.size < MOST)
    end
  end
end

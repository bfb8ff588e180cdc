# frozen_string_literal: true

module Pipeloader
  # Which keys of a source would be fetched together by Execution::Next without Pipeloader, where a field's objects ask one after
  # the other: the first of each field with the first of the others, then the second of each. What is only requested goes first.
  class FetchTurns
    def initialize
      @asked = Hash.new(0).compare_by_identity # {Job of a field => how often it has asked}
      @turns = {} # {key => number}
    end

    def request(keys) = keys.each { |key| @turns[key] = 1 }

    # @param job [Job] the whole field's
    def ask(job, keys)
      turn = @asked[job] += 1
      keys.each { |key| @turns[key] = [turn, *@turns[key]].min }
    end

    # @return [Array<Array>] the keys by turns
    def split(keys) = keys.group_by { |key| @turns.fetch(key, 1) }.sort.map(&:last)
  end
end

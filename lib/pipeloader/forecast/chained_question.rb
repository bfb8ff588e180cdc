# frozen_string_literal: true

module Pipeloader
  # A Question whose parameters are in the answers to others, and theirs in those to others again, as one statement that asks
  # all of them: it needn't wait for these.
  #
  #   SELECT pipeloader_rows.*, pipeloader_cells.*
  #     FROM (SELECT (SELECT c1 FROM (
  #       SELECT "comments".* FROM "comments" WHERE "comments"."post_id" = $1 ORDER BY "comments"."id" DESC LIMIT $2
  #     ) AS pipeloader_answer(c0, c1) LIMIT 1 OFFSET 0) AS pipeloader_1 OFFSET 0) AS pipeloader_cells
  #     LEFT JOIN LATERAL (SELECT *, true AS pipeloader_there FROM (
  #       SELECT "users".* FROM "users" WHERE "users"."id" = pipeloader_cells.pipeloader_1
  #     ) AS pipeloader_read OFFSET 0) AS pipeloader_rows ON true
  #
  # Each row tells by which values it was found, so that nobody gets it who asks by others. OFFSET 0 keeps the planner from
  # merging the parts, as in a Shape.
  class ChainedQuestion
    # Questions that lead to one.
    MOST = 8
    private_constant :MOST

    # @return [Array<Question>] that lead to it
    attr_reader :others

    alias inspect to_s

    # @return [ChainedQuestion, nil] nil where it can't be asked so
    def self.of(question)
      others = leading_to(question, [])
      return if others.nil? || others.empty?

      fit = [question, *others].all? { |one| one.pool.equal?(question.pool) && one.takes_cells? }
      new(question, others) if fit
    end

    # @param found [Array<Question>] those that are found already
    # @return [Array<Question>, nil] nil where they are too many, or not all expected
    def self.leading_to(question, found)
      fresh = question.cells.each_value.map(&:question).uniq - found
      return if found.size + fresh.size > MOST || !fresh.all?(&:counts?)

      fresh.inject(found + fresh) { |all, other| (all && leading_to(other, all)) }
    end
    private_class_method :leading_to

    def initialize(question, others)
      @question = question
      @others = others
      @cells = question.cells.keys
      @places = [] # [[Question, index of its parameter]], of each of the statement's parameters
      @sql = compose(question, {}.compare_by_identity)
    end

    # @param record [ActiveRecord::Base] that all of them are asked for
    # @return [Array, nil] the statement's parameters; nil where the record lacks any
    def params(record)
      params = @places.map { |question, index| question.param(index, record) }
      params unless params.zip(@places).any? { |param, (question, index)| question.lacks?(param, index) }
    end

    # @param params [Array] of #params
    # @return [Read]
    def read(params, connection) = @question.read(params, connection, @sql)

    # @param statement [Statement, nil] of #read, answered
    # @return [ChainedAnswer, nil] nil where there is none
    def answer(statement)
      return if statement.nil?
      return ChainedAnswer.new(statement.result, @cells) unless statement.failed?

      @question.unchain
      nil
    end

    private

    # @param known [Hash{Question => String}] what was composed before
    def compose(question, known)
      known[question] ||= question.cells.empty? ? renumber(question) : chain(question, known)
    end

    def chain(question, known)
      cells = question.cells.map { |index, cell| "(#{cell(cell, known)}) AS #{name(index)}" }.join(", ")
      <<~SQL
        SELECT pipeloader_rows.*, pipeloader_cells.* FROM (SELECT #{cells} OFFSET 0) AS pipeloader_cells
        LEFT JOIN LATERAL (SELECT *, true AS pipeloader_there FROM (
        #{renumber(question)}
        ) AS pipeloader_read OFFSET 0) AS pipeloader_rows ON true
      SQL
    end

    def cell(cell, known)
      <<~SQL
        SELECT c#{cell.column} FROM (
        #{compose(cell.question, known)}
        ) AS pipeloader_answer(#{(0..cell.column).map { |column| "c#{column}" }.join(", ")}) LIMIT 1 OFFSET #{cell.row}
      SQL
    end

    def renumber(question)
      numbers = {}
      Shape.renumber(question.text) do |index|
        next "pipeloader_cells.#{name(index)}" if question.cells.key?(index)

        "$#{numbers[index] ||= @places.push([question, index]).size}"
      end
    end

    def name(index) = "pipeloader_#{index + 1}"
  end
end

# frozen_string_literal: true

module Pipeloader
  # A Question whose parameters are in the answers to others, and theirs in those to others again, as one statement that asks
  # all of them: it needn't wait for these.
  #
  #   SELECT pipeloader_rows.*, pipeloader_cells.*
  #     FROM (SELECT pipeloader_answer1.c1 AS pipeloader_1 FROM (SELECT) AS pipeloader_one LEFT JOIN (SELECT * FROM (
  #       SELECT "comments".* FROM "comments" WHERE "comments"."post_id" = $1 ORDER BY "comments"."id" DESC LIMIT $2
  #     ) AS pipeloader_read LIMIT 1 OFFSET 0) AS pipeloader_answer1(c0, c1) ON true OFFSET 0) AS pipeloader_cells
  #     LEFT JOIN LATERAL (SELECT *, true AS pipeloader_there FROM (
  #       SELECT "users".* FROM "users" WHERE "users"."id" = pipeloader_cells.pipeloader_1
  #     ) AS pipeloader_read OFFSET 0) AS pipeloader_rows ON true
  #
  # Each row tells by which values it was found, so that nobody gets it who asks by others. OFFSET 0 keeps the planner from
  # merging the parts, as in a Shape.
  #
  # Limits: a parameter by itself has the type that it is compared with, a column of an answer has its own. So only numbers lead
  # to others, and UUIDs, of which that is the same, or an error; see Question#takes_cells?.
  class ChainedQuestion
    # Questions that lead to one; and characters of all together.
    MOST = 8
    LONGEST = 20_000
    private_constant :MOST, :LONGEST

    # @return [Array<Question>] that lead to it
    attr_reader :others

    alias inspect to_s

    # @return [ChainedQuestion, nil] nil where it can't be asked so
    def self.of(question)
      others = leading_to(question, [])
      return if others.nil? || others.empty?

      fit = [question, *others].all? { |one| one.pool.equal?(question.pool) && one.takes_cells? }
      chained = new(question, others) if fit
      chained if chained && chained.size <= LONGEST
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

    # How many characters its SQL has.
    def size = @sql.size

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
      rows = question.cells.values.group_by { |cell| [cell.question, cell.row] }.keys
      cells = question.cells.map do |index, cell|
        "#{row_name(rows.index([cell.question, cell.row]))}.c#{cell.column} AS #{name(index)}"
      end
      <<~SQL
        SELECT pipeloader_rows.*, pipeloader_cells.* FROM (
        SELECT #{cells.join(", ")} FROM (SELECT) AS pipeloader_one
        #{rows.each_with_index.map { |(other, row), at| row(other, row, at, known) }.join}
        OFFSET 0) AS pipeloader_cells
        LEFT JOIN LATERAL (SELECT *, true AS pipeloader_there FROM (
        #{renumber(question)}
        ) AS pipeloader_read OFFSET 0) AS pipeloader_rows ON true
      SQL
    end

    # @param at [Integer] the number of the row among those that a question is asked by
    def row(other, row, at, known)
      columns = (0...other.width).map { |column| "c#{column}" }.join(", ")
      <<~SQL
        LEFT JOIN (SELECT * FROM (
        #{compose(other, known)}
        ) AS pipeloader_read LIMIT 1 OFFSET #{row}) AS #{row_name(at)}(#{columns}) ON true
      SQL
    end

    def row_name(at) = "pipeloader_answer#{at + 1}"

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

# frozen_string_literal: true

module Pipeloader
  # A read that code of the application's sends for each record of a place: its SQL, and where each of its parameters comes from.
  #
  #     Comment.where(commenter_id: object.id).count      # "… WHERE \"comments\".\"commenter_id\" = $1", [the record's id]
  class Question
    include Trust

    KEY = /\Aid\z|_id\z/
    LIMITS = %w[LIMIT OFFSET].freeze

    # What one record's code has asked, of which nothing else is kept.
    #
    # limits: of each parameter, whether it is one of LIMIT or OFFSET. rows: the first ones of the answer. uuids: of each of its
    # columns, whether it holds UUIDs
    Ask = Struct.new(:text, :name, :params, :limits, :preparable, :pool, :rows, :asker, :uuids) do
      # @param result [ActiveRecord::Result]
      def self.of(read, result)
        limits = read.binds.map { |bind| bind.is_a?(ActiveModel::Attribute) && LIMITS.include?(bind.name) }
        uuids = result.columns.map { |name| result.column_types[name]&.type == :uuid }
        new(read.text, read.name, read.params, limits, read.preparable, read.adapter.pool, result.rows.first(ROWS),
            Asker.current, uuids)
      end
    end

    # Where a parameter comes from: it is always the same, an attribute of the record, or in the answer to another question.
    Constant = Struct.new(:value) do
      def of(_record, _answers) = value
    end
    Attribute = Struct.new(:name) do
      def of(record, _answers) = RecordAttributes.value(record, name)
    end
    Cell = Struct.new(:question, :row, :column) do
      def of(_record, answers) = answers[question]&.dig(row, column)
    end

    # Records that are looked at, and rows of an answer.
    SAMPLE = 30
    ROWS = 5
    NONE = {}.freeze
    private_constant :Constant, :Attribute, :Cell, :KEY, :LIMITS, :SAMPLE, :ROWS, :NONE

    alias inspect to_s

    # @return [String] what events call it
    def name = @ask.name || "SQL"

    # The database that is read.
    def pool = @ask.pool

    # Its SQL.
    def text = @ask.text

    # @return [Hash{Integer => Cell}] the parameters that are in others' answers, by index
    def cells = @cells ||= @sources.each_with_index.filter_map { |source, index| [index, source] if Cell === source }.to_h

    # @return [ChainedQuestion, nil] that asks it along with those whose answers it is asked by
    def chained
      @chained = ChainedQuestion.of(self) || false if @chained.nil?
      @chained || nil
    end

    # The server won't have it so.
    def unchain = @chained = false

    # True if the SQL may have others in it, and those of its parameters that they bring are only looked up by, and compare in the
    # same way as parameters.
    def takes_cells?
      !Shape.alone?(text) && (cells.keys - Shape.keys(text)).empty? &&
        cells.all? { |index, cell| @ask.params[index].is_a?(Integer) || cell.question.uuid?(cell.column) }
    end

    # How many columns its answer has.
    def width = @ask.uuids.size

    # True if one of these holds UUIDs.
    def uuid?(column) = @ask.uuids[column]

    def initialize
      @candidates = nil # for each parameter, where it may come from
    end

    # @param asked [Hash{ActiveRecord::Base => Hash{Question => Ask}}] what was asked for each record, in that order
    # @param records [Array<ActiveRecord::Base>] of the place
    def observe(asked, records)
      with, without = records.partition { |record| asked[record]&.key?(self) }
      return learn(false) if with.empty?

      ask = asked[with.first][self]
      sources = narrow(with.first(SAMPLE).map { |record| candidates(record, asked[record]) }, ask.limits)
      return learn(false) unless sources.all? # other threads may be asking by those that were known

      @ask, @asker = ask.dup.tap { |it| it.rows = nil }, ask.asker
      @sources, @cells, @chained = sources, nil, nil
      learn(without.all? { |record| unable?(record, asked[record]) })
    end

    # @param answers [Hash{Question => Array<Array>}] that are there, of this record
    # @param known [Hash{Integer => Object}] some of them, by index
    # @return [Array, nil] the parameters; nil where they aren't known (as yet)
    def params(record, answers, known = NONE)
      params = Array.new(@sources.size) { |index| known.fetch(index) { param(index, record, answers) } }
      params unless params.each_with_index.any? { |param, index| lacks?(param, index) }
    end

    # @return [Object, nil] one of the parameters
    def param(index, record, answers = NONE) = @sources[index].of(record, answers).dup # the record's own may be changed in place

    # True if a +param+ isn't known, or is something else than it was.
    def lacks?(param, index) = !param.instance_of?(@ask.params[index].class)

    # @param connection [ActiveRecord::ConnectionAdapters::PostgreSQLAdapter]
    # @param text [String] SQL that asks for it
    # @return [Read] as ActiveRecord would ask for it
    def read(params, connection, text = @ask.text)
      asker.read { connection.pipeloader_read_ahead(text, @ask.name, params, @ask.preparable) }
    end

    private

    # @return [Array<Array>] for each parameter
    def candidates(record, asks)
      earlier = asks.take_while { |question, _| !question.equal?(self) }
      asks[self].params.map do |value|
        next [Constant.new(value)] unless value.is_a?(Integer) || value.is_a?(String)

        [*attributes(record, value), *in_answers(earlier, value), Constant.new(value)]
      end
    end

    def attributes(record, value)
      names = RecordAttributes.names(record).select { |name| RecordAttributes.value(record, name).eql?(value) }
      names.partition { |name| KEY.match?(name) }.flatten(1).map { |name| Attribute.new(name) }
    end

    def in_answers(earlier, value)
      earlier.flat_map do |question, ask|
        ask.rows.each_with_index.flat_map do |row, at|
          row.each_index.select { |column| row[column].eql?(value) }.map { |column| Cell.new(question, at, column) }
        end
      end
    end

    # What holds for all of them, and has held before.
    #
    # @return [Array<#of, nil>] for each parameter
    def narrow(found, limits)
      now = found.transpose.map { |all| all.inject(:&) }
      known = @candidates&.zip(now)&.map { |before, all| before & all }
      @candidates = known.nil? || known.any?(&:empty?) ? now : known
      @candidates.each_with_index.map { |all, index| limits[index] ? all.last : all.first }
    end

    # True if a +record+ lacks what it would ask by.
    def unable?(record, asks)
      answers = asks ? asks.transform_values(&:rows) : NONE
      @sources.any? { |source| source.of(record, answers).nil? }
    end
  end
end

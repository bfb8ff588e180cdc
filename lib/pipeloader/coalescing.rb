# frozen_string_literal: true

module Pipeloader
  # Which statements of a burst become one: those of one SQL text, between any two that aren't pure.
  class Coalescing
    # @param adapter [ActiveRecord::ConnectionAdapters::PostgreSQLAdapter] keeps the Shapes
    def initialize(adapter)
      @adapter = adapter
    end

    # @param statements [Array<Statement>] in the order in which they are sent
    # @return [Array<Statement>] with a Coalesced where the first of its parts was; those that nothing is known of yet are
    #   told to ask
    def call(statements)
      @instead = {}.compare_by_identity # {Statement => Coalesced}
      @unknown_types = []
      # (What isn't pure stays where it is, and what comes after it, after it.)
      statements.slice_when { |one, other| !one.pure? || !other.pure? }.each do |among|
        among.group_by(&:sql).each_value { |alike| put_together(alike) if alike.size >= Coalesced::WORTH }
      end
      sent = @instead.empty? ? statements : statements.map { |statement| @instead.fetch(statement, statement) }.uniq
      @unknown_types.empty? ? sent : [*sent, TypeLookup.new(@unknown_types.uniq, @adapter.pipeloader_array_types)]
    end

    private

    def put_together(statements)
      shape = shape_of(statements.first) or return
      statements.select { |statement| Coalesced.takes?(statement) }.each_slice(most_of(statements.first)) do |parts|
        whole = whole_of(parts, shape) if parts.size >= Coalesced::WORTH
        parts.each { |part| @instead[part] = whole } if whole
      end
    end

    # @return [Shape, nil] nil if it isn't known, or can't be wrapped
    def shape_of(statement)
      shape = @adapter.pipeloader_shape(statement.sql)
      return statement.describe && nil unless shape && shape.name == statement.name
      return unless shape.wraps?

      @unknown_types.concat(shape.unknown_types)
      shape if shape.unknown_types.empty?
    end

    def most_of(statement)
      known = @adapter.pipeloader_result_sizes.known(statement.sql) or return Coalesced::WORTH
      (Coalesced::HELD / known).clamp(1, Coalesced::MOST)
    end

    # @return [Coalesced, nil]
    def whole_of(parts, shape)
      wrapped = shape.wrap(parts.map(&:params)) or return
      return Coalesced.new(shape, parts, wrapped) unless shape.name

      name = @adapter.pipeloader_statement_name(wrapped.sql)
      Coalesced.new(shape, parts, wrapped, name: name || @adapter.pipeloader_next_statement_name, prepare: name.nil?)
    end
  end
end

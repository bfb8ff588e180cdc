# frozen_string_literal: true

module Pipeloader
  # How a record that leads to what a field gives is passed through: `object.author&.boss`. Nothing is written of it but that.
  class Passage < Plan
    # @param entry [Link, Calculation] of the record's rows
    def initialize(projection, entry)
      super(projection, [entry])
    end

    # It brings no code of its own.
    def compile = @links.each { |link| link.plan.compile }
    def use(context, **) = @links.each { |link| link.use(context) }

    # @return [Hash, Array<Hash>, Object] what the field gives
    def build(row, frame, context) = @entries.first.build(row, frame, context)
    def list(rows, frame, context) = rows.map { |row| build(row, frame, context) }
  end
end

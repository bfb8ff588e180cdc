# frozen_string_literal: true

module Pipeloader
  # Until when a burst's statements may run, where any of their fields has a TimeLimit.
  class Schedule
    # Statements that are sent in a transaction before any is answered.
    FIRST = 4
    private_constant :FIRST

    # @param serial [Boolean] whether a transaction is open: a cancel would end what the caller has begun
    #
    #: (Array[Statement], bool) -> Schedule?
    def self.of(statements, serial) = (new(statements, serial) if statements.any?(&:limited?))

    def initialize(statements, serial)
      @due = statements.filter_map(&:due).min
      @serial = serial
      @late = false
      @began = TimeLimit.now
    end

    # Seconds until a query's time is up; nil when there is none left that has a limit.
    def left = @due && [(@due - TimeLimit.now) / 1000.0, 0].max

    # When a query's time is up, what runs may end, and what isn't sent is left.
    def keep(in_flight, waiting)
      return unless left&.zero?

      @late = true
      in_flight.find { |it| it.reads.any? }&.reads&.each { |read| read.time_limit&.spare if read.late? }
      late, others = waiting.partition(&:late?)
      waiting.replace(others)
      Statement.prepare_instead(late, others) if late.any?
      @due = [*in_flight, *waiting].reject(&:late?).filter_map(&:due).select { |due| due > TimeLimit.now }.min
    end

    # True if what is sent needn't be waited for.
    def over?(in_flight) = @late && !@serial && in_flight.any? && in_flight.all?(&:late?)

    # True if one more may be sent: in a transaction, as many as will end in time, going by those that have.
    def room?(in_flight, answered) = !@serial || in_flight < most(answered)

    private

    def most(answered)
      return FIRST if answered.zero? || @due.nil?

      [(left * 1000 * answered / [TimeLimit.now - @began, 1].max).to_i, 1].max
    end
  end
end

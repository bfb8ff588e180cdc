# frozen_string_literal: true

require_relative "join_unprepared"

module Bench
  class JoinPrepared < JoinUnprepared
    called "join-prepared", "the join by pg alone, prepared, rows as Arrays"

    def connect(address)
      super
      @wire.prepare("join", SQL)
    end

    private

    def rows = @wire.exec_prepared("join", @parameters).values
  end
end

# frozen_string_literal: true

require_relative "join_unprepared"

module Bench
  class JoinFast < JoinUnprepared
    called "join-fast", "the join by pg alone, planned each time, rows as Arrays"

    private

    def rows = @wire.exec_params(SQL, @parameters).values
  end
end

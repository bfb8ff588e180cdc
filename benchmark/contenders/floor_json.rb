# frozen_string_literal: true

require_relative "../floor/tree"
require_relative "../floor/json_query"

module Bench
  # The whole answer made by PostgreSQL in one statement of nested sub-selects with json_agg, as Hasura and PostGraphile do.
  # PostgreSQL writes a line break between a list's items: so it is the answer without such spaces that is compared.
  class FloorJson < Contender
    called "floor-json", "one statement with json_agg, as Hasura and PostGraphile do"

    def self.serves?(workload) = super && workload.tree?

    def load
      require_gems
      @dataset.define
    end

    def connect(address)
      @wire&.close
      # (The models are asked for their columns.)
      ActiveRecord::Base.establish_connection(address)
      root = Floor::Tree.new(@workload).root
      @wire = Floor.connect(address)
      @wire.prepare("floor", Floor::JsonQuery.new(root).sql)
      @before = %({"data":{#{root.response_name.dump}:)
    end

    attr_reader :wire

    def backend = @wire.backend_pid
    def answer = "#{@before}#{@wire.exec_prepared("floor").getvalue(0, 0)}}}"
    def comparable_answer = JSON.generate(JSON.parse(answer))
  end
end

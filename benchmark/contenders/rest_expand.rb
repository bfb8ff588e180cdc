# frozen_string_literal: true

require_relative "rest"

module Bench
  # One endpoint that joins: ?expand=origin,destination,operator.
  class RestExpand < Rest
    called "rest-expand", "REST with ?expand: one ActiveRecord query with three joins, as JSON"

    SELECTED = "connections.*, origins.name AS origin_name, destinations.name AS destination_name, operators.brand_name"
    JOINS = <<~SQL
      LEFT JOIN harbors origins ON origins.id = connections.origin_id
      LEFT JOIN harbors destinations ON destinations.id = connections.destination_id
      LEFT JOIN operators ON operators.id = connections.operator_id
    SQL

    def answer = JSON.generate({ "data" => { "connections" => list.joins(JOINS).select(SELECTED).map { |row| expanded(row) } } })

    private

    def expanded(row)
      { **row(row), "origin" => row.origin_id && { "name" => row["origin_name"] },
                    "destination" => row.destination_id && { "name" => row["destination_name"] },
                    "operator" => row.operator_id && { "brandName" => row["brand_name"] } }
    end
  end
end

# frozen_string_literal: true

require_relative "../floor/statement"
require_relative "rest_expand"

module Bench
  # Neither GraphQL nor ActiveRecord: the join by pg, planned each time, its rows as Hashes.
  class JoinUnprepared < Contender
    called "join-unprepared", "the join by pg alone, planned each time, rows as Hashes"

    def self.serves?(workload) = super && workload.name == "harbors"

    SQL = <<~SQL.freeze
      SELECT connections.id, connections.name, connections.description, connections.is_enabled,
             to_char(connections.created_at, 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"') AS created_at,
             origins.name AS origin, destinations.name AS destination, operators.brand_name AS operator
      FROM connections #{RestExpand::JOINS}
      WHERE is_enabled = $2 ORDER BY connections.name LIMIT $1
    SQL

    def load = require_gems

    def connect(address)
      @wire&.close
      @wire = Floor.connect(address)
      @parameters = [@workload.variables[:limit], "t"]
    end

    attr_reader :wire

    def backend = @wire.backend_pid
    def answer = JSON.generate({ "data" => { "connections" => rows.map { |row| hash(*row) } } })

    private

    def rows = @wire.exec_params(SQL, @parameters).map(&:values)

    def hash(id, name, description, enabled, created_at, origin, destination, operator)
      { "id" => id, "name" => name, "description" => description, "isEnabled" => enabled == "t", "createdAt" => created_at,
        "origin" => origin && { "name" => origin }, "destination" => destination && { "name" => destination },
        "operator" => operator && { "brandName" => operator } }
    end
  end
end

# frozen_string_literal: true

# The query that Qail's documentation compares seven approaches with: 50 rows and three joins. Its approaches are here
# join-prepared, join-fast, join-unprepared, rest-expand, dataloader, rest and naive.
module Bench
  connections = <<~GRAPHQL
    query Connections($limit: Int!) {
      connections(limit: $limit) {
        id name description isEnabled createdAt
        origin { name } destination { name } operator { brandName }
      }
    }
  GRAPHQL

  Workload.define "harbors", "Ferry connections, 50 rows",
                  about: "connections → origin, destination, operator", dataset: :harbors,
                  query: connections, variables: { limit: 50 }, tree: true,
                  includes: { connections: %i[origin destination operator] }
end

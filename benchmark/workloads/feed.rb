# frozen_string_literal: true

# What real schemas are made of besides plain trees.
module Bench
  feed = <<~GRAPHQL
    query Feed($limit: Int!) {
      items(limit: $limit) {
        id verb actorName
        subject { __typename ... on Article { title author { name } } ... on Photo { title credit album { title } } ... on Person { name } }
      }
    }
  GRAPHQL

  Workload.define "feed", "A feed, 50 items",
                  about: "a union of a polymorphic association and single-table inheritance, and names of associated records",
                  dataset: :feed, query: feed, variables: { limit: 50 },
                  includes: { items: [:actor, { subject: %i[author album] }] },
                  only: %w[naive includes goldiloader pipeloader next next-includes next-pipeloader]
end

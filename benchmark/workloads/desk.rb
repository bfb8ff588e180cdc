# frozen_string_literal: true

# A policy on every type.
module Bench
  desk = "query Desk($limit: Int!) { tickets(limit: $limit) { id subject author { name } assignee { name } " \
         "comments { body author { name } } } }"

  Workload.define "guards", "A policy on every type, 50 tickets",
                  about: "each object has an `authorized?` that asks a policy about its columns and the viewer in the context",
                  dataset: :desk, query: desk, variables: { limit: 50 },
                  includes: { tickets: [:author, :assignee, { comments: :author }] }
end

# frozen_string_literal: true

# The shapes that Pathom's author measured: a sequence of 1,000, 10 > 10 > 10 and 100 > 10, with a read for each item.
module Bench
  Workload.define "sequence-1000", "A sequence of 1,000",
                  about: "1,000 items, each with a reading", dataset: :nesting,
                  query: "query Sequence($limit: Int!) { items(limit: $limit) { reading { value } } }",
                  variables: { limit: 1000 }, tree: true, includes: { items: [:reading] }

  three = "items(limit: $limit) { reading { value } items { reading { value } items { reading { value } } } }"
  Workload.define "nested-10-10-10", "Nesting 10 > 10 > 10",
                  about: "items in items in items, each with a reading", dataset: :nesting,
                  query: "query Nested($limit: Int!) { #{three} }",
                  variables: { limit: 10 }, tree: true,
                  includes: { items: [:reading, { items: [:reading, { items: :reading }] }] }

  Workload.define "nested-100-10", "Nesting 100 > 10",
                  about: "items in items, each with a reading", dataset: :nesting,
                  query: "query Nested($limit: Int!) { items(limit: $limit) { reading { value } items { reading { value } } } }",
                  variables: { limit: 100 }, tree: true, includes: { items: [:reading, { items: :reading }] }

  # What Costs takes differences of.
  chain = ->(levels) { levels.zero? ? "id" : "reading { item { #{chain.(levels - 1)} } }" }
  { "rows-250" => [250, "id"], "rows-1000" => [1000, "id"], "fields-1000" => [1000, "id a: id b: id c: id"],
    "reads-250" => [250, "reading { value }"], "reads-1000" => [1000, "reading { value }"],
    "chain-2" => [1, chain.(1)], "chain-10" => [1, chain.(5)] }.each do |name, (limit, fields)|
    Workload.define "cost-#{name}", "Costs: #{name}",
                    about: "for docs/performance.md", dataset: :nesting, hidden: true, variables: { limit: limit },
                    query: "query Cost($limit: Int!) { items(limit: $limit) { #{fields} } }"
  end
end

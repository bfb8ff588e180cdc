# frozen_string_literal: true

# As many reads of one SQL text as there are objects: what Crossover compares.
module Bench
  ALIKE = { "belongs_to" => [:nesting, "items", "reading { value }"], "has_many" => [:nesting, "items", "items { id }"],
            "count" => [:aggregates, "posts", "commentCount"], "exists?" => [:aggregates, "posts", "discussed"],
            "the last three" => [:aggregates, "posts", "latestComments(limit: 3) { body }"] }.freeze

  ALIKE.each do |kind, (dataset, root, field)|
    [2, 3, 5, 10, 25].each do |size|
      Workload.define "alike-#{kind}-#{size}", "#{size} reads alike: #{kind}",
                      about: "for docs/coalescing.md", dataset: dataset, hidden: true, variables: { limit: size },
                      query: "query Alike($limit: Int!) { #{root}(limit: $limit) { #{field} } }"
    end
  end
end

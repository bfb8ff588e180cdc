# frozen_string_literal: true

# Documents that are seen once: what it takes to look for what is plain, besides answering.
module Bench
  all = { posts: [:author, { comments: :commenter }] }

  { "cold-leaf" => ["one post's title", 1, "title", {}],
    "cold-mixed" => ["one post of a mixed tree", 1,
                     "title label author { name label } comments { body label commenter { name label } }", all],
    "cold-narrow" => ["the narrow tree of five posts", 5, "title author { name } comments { body commenter { name } }", all] }
    .each do |name, (what, limit, selections, includes)|
      query = "query Cold($limit: Int!) { posts(limit: $limit) { #{selections} } }"
      Workload.define name, "A new document, #{what}", about: "a comment makes each another", dataset: :mixed, cold: true,
                                                       query: query, variables: { limit: limit }, includes: includes
    end
end

# frozen_string_literal: true

# What nobody can look into.
module Bench
  { "opaque" => ["Opaque resolvers, 25 posts", "the narrow tree, with every field a method of its type that has code of its own"],
    "methods" => ["Resolver methods, 25 posts", "the narrow tree, with every field a method like `def title = object.title`"] }
    .each do |name, (title, about)|
      Workload.define name, title, about: about, dataset: name.to_sym,
                                   query: "query Opaque($limit: Int!) { posts(limit: $limit) " \
                                          "{ title author { name } comments { body commenter { name } } } }",
                                   variables: { limit: 25 }, includes: { posts: [:author, { comments: :commenter }] }
    end

  # From mtsmfm's talk "GraphQL Ruby をちょっとだけ速くした": 66 ms of nothing but graphql-ruby, in 2020.
  Workload.define "fields-20-50-4", "20 × 50 elements × 4 fields",
                  about: "no database: what the engine costs, and what a loader adds to it", dataset: :articles,
                  query: "{ articles { title relatedArticles { id title slug words } } }",
                  only: %w[naive dataloader graphql-batch batch-loader pipeloader next next-dataloader next-pipeloader]

  # From async-postgres' README: ten sleeps of ten milliseconds. bin/bench --web has it served by Puma and Falcon.
  Workload.define "sleeps", "Ten fields of pg_sleep(0.01)",
                  about: "what no batching can help, and a pipeline of one connection neither", dataset: :sleeps,
                  query: "{ #{Array.new(10) { |n| "nap#{n}" }.join(" ")} }",
                  only: %w[naive dataloader pipeloader pipeloader-lanes next next-pipeloader]
end

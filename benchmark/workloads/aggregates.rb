# frozen_string_literal: true

# What isn't an association: goldiloader, ar_lazy_preload and includes have no answer to these fields but to authors.
module Bench
  Workload.define "aggregates", "Counts, sums and exists?, 25 posts",
                  about: "posts → author, with five counts, sums, maxima or exists? each", dataset: :aggregates,
                  query: <<~GRAPHQL, variables: { limit: 25 }, includes: { posts: [:author] }
                    query Aggregates($limit: Int!) {
                      posts(limit: $limit) { title commentCount lastCommenterId letters discussed author { name postCount } }
                    }
                  GRAPHQL

  Workload.define "limits", "The last three of each, 25 posts",
                  about: "posts → the last three comments; author → the last three posts", dataset: :aggregates,
                  query: <<~GRAPHQL, variables: { limit: 25 }, includes: { posts: [:author] }
                    query Limits($limit: Int!) {
                      posts(limit: $limit) { title latestComments(limit: 3) { body } author { name latestPosts(limit: 3) { title } } }
                    }
                  GRAPHQL
end

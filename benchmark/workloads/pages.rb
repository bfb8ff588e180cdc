# frozen_string_literal: true

# Lists as most GraphQL APIs on Rails have them. graphql-ruby asks for each page by itself; what is preloaded, it cuts.
module Bench
  Workload.define "pages", "Relay connections, 50 posts",
                  about: "posts → author, the first three comments → commenter, by connections", dataset: :pages,
                  query: <<~GRAPHQL, variables: { first: 50 }, includes: { posts: [:author, { comments: :commenter }] }
                    query Pages($first: Int!) {
                      posts(first: $first) {
                        edges {
                          cursor
                          node {
                            title author { name }
                            comments(first: 3) { nodes { body commenter { name } } pageInfo { hasNextPage endCursor } }
                          }
                        }
                        pageInfo { hasNextPage endCursor }
                      }
                    }
                  GRAPHQL
end

# frozen_string_literal: true

# The two trees of associations that the original was described with.
module Bench
  narrow = <<~GRAPHQL
    query Narrow($limit: Int!) {
      posts(limit: $limit) { title author { name } comments { body commenter { name } } }
    }
  GRAPHQL

  [25, 50, 200, 100, 400, 1600, 5000, 10_000].each do |limit|
    Workload.define "narrow-#{limit}", "Narrow tree, #{limit} posts",
                    about: "posts → author, comments → commenter", dataset: :example,
                    query: narrow, variables: { limit: limit }, tree: true, hidden: ![25, 50, 200].include?(limit),
                    includes: { posts: [:author, { comments: :commenter }] }
  end

  wide = <<~GRAPHQL
    query Wide($limit: Int!) {
      issues(limit: $limit) {
        title
        assignee { name team { name } }
        creator { name }
        project { name lead { name } team { name } }
        parent { title }
        comments { body author { name } }
      }
    }
  GRAPHQL

  Workload.define "wide", "Wide tree, 12 issues",
                  about: "issues → assignee, creator, project, parent, comments → team, lead, authors", dataset: :example,
                  query: wide, variables: { limit: 12 }, tree: true,
                  includes: { issues: [:creator, :parent, { assignee: :team, project: %i[team lead], comments: :author }] }
end

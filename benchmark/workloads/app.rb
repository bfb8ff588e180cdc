# frozen_string_literal: true

# A schema like a real application's, and five of its operations.
module Bench
  record = <<~GRAPHQL
    query Record($id: ID!) {
      viewer { id name settings { theme locale weeklyDigest } }
      node(id: $id) {
        id
        ... on Post {
          title status published createdAt editable likesCount likedByViewer reviewerName tags { id name }
          author { id name avatarUrl ... on Person { isViewer postsCount team { name } } }
          comments(first: 5) { totalCount nodes { id body createdAt likesCount likedByViewer author { name avatarUrl } } }
        }
        ... on Article { readingMinutes }
        ... on Question { solved }
      }
    }
  GRAPHQL

  list = <<~GRAPHQL
    query List($limit: Int!) {
      posts(limit: $limit) {
        id title excerpt(length: 40) status createdAt commentsCount likesCount likedByViewer editable reviewerName
        author { id name avatarUrl ... on Person { team { name } } }
        tags { id name }
        lastComment { id body author { name } }
        ... on Article { readingMinutes }
        ... on Question { solved }
      }
    }
  GRAPHQL

  feed = <<~GRAPHQL
    query Feed($limit: Int!) {
      activities(limit: $limit) {
        id verb createdAt
        actor { id name avatarUrl active ... on Person { isViewer } ... on Bot { teamName } }
        subject {
          __typename
          ... on Post { id title excerpt commentsCount likedByViewer authorName }
          ... on Photo { id caption url author { name } commentsCount }
          ... on Comment { id body likesCount author { name } }
        }
      }
    }
  GRAPHQL

  search = <<~GRAPHQL
    query Search($text: String!) {
      search(text: $text) {
        collection {
          __typename
          ... on Article { id title excerpt status authorName readingMinutes tags { name } commentsCount }
          ... on Question { id title excerpt solved author { name } tags { name } commentsCount }
        }
        metadata { totalCount currentPage totalPages }
      }
    }
  GRAPHQL

  connection = <<~GRAPHQL
    query Connection($first: Int!) {
      postConnection(first: $first, status: PUBLISHED) {
        totalCount
        edges {
          cursor
          node {
            id title status author { id name }
            comments(first: 3) { totalCount nodes { id body author { name } } pageInfo { hasNextPage endCursor } }
          }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  GRAPHQL

  # Not eager_load, which knows neither polymorphic associations nor the order of what it joins.
  contenders = %w[naive includes dataloader graphql-batch batch-loader goldiloader ar_lazy_preload pipeloader next next-includes
                  next-dataloader next-pipeloader]

  { "record" => ["one record", "an article by its Relay id with all that its page shows, and the viewer with settings from JSON",
                 record, { id: "QXJ0aWNsZS01MDA=" }, {}],
    "list" => ["a list, 50 posts", "an interface, with counts, exists?, tags and the last comment of each post",
               list, { limit: 50 }, { posts: [:reviewer, :tags, { author: :team }] }],
    "feed" => ["a feed, 50 activities", "actors by an interface, subjects by a union of a polymorphic association",
               feed, { limit: 50 }, { activities: [{ actor: :team, subject: :author }] }],
    "search" => ["a search, 25 results", "a page object with a collection of a union, and metadata",
                 search, { text: "amber" }, { matches: %i[author tags] }],
    "connection" => ["a connection, 50 posts", "edges and the first three comments of each, both with totalCount",
                     connection, { first: 50 }, { post_connection: [:author, { comments: :author }] }] }
    .each do |name, (title, about, query, variables, includes)|
      Workload.define "app-#{name}", "An application: #{title}", about: about, dataset: :app, query: query, variables: variables,
                                                                 includes: includes, only: contenders
    end
end

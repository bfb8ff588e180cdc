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

  Workload.define "app-record", "An application: one record",
                  about: "an article by its Relay id with all that its page shows, and the viewer with settings from JSON",
                  dataset: :app, query: record, variables: { id: "QXJ0aWNsZS01MDA=" }
  Workload.define "app-list", "An application: a list, 50 posts",
                  about: "an interface of articles and questions, with counts, exists?, tags and the last comment of each",
                  dataset: :app, query: list, variables: { limit: 50 }, includes: { posts: [:reviewer, :tags, { author: :team }] }
  Workload.define "app-feed", "An application: a feed, 50 activities",
                  about: "actors by an interface, subjects by a union of a polymorphic association",
                  dataset: :app, query: feed, variables: { limit: 50 },
                  includes: { activities: [{ actor: :team, subject: :author }] },
                  only: %w[naive includes dataloader graphql-batch batch-loader goldiloader ar_lazy_preload pipeloader next
                           next-includes next-dataloader next-pipeloader]
  Workload.define "app-search", "An application: a search, 25 results",
                  about: "a page object with a collection of a union, and metadata",
                  dataset: :app, query: search, variables: { text: "amber" }, includes: { matches: %i[author tags] }
  Workload.define "app-connection", "An application: a connection, 50 posts",
                  about: "edges and the first three comments of each, both with totalCount",
                  dataset: :app, query: connection, variables: { first: 50 },
                  includes: { post_connection: [:author, { comments: :author }] }
end

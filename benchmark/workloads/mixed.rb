# frozen_string_literal: true

# Types as they are in applications: most fields plain, some with code of their own.
module Bench
  { "formulas" => ["Methods that compute, 50 posts", "the narrow tree; every type has a method that works with columns",
                   "{ title heading author { name initials } comments { body excerpt commenter { name initials } } }"],
    "mixed-posts" => ["One opaque field on each post, 50 posts", "the narrow tree; a method of a post's asks the context",
                      "{ title label author { name } comments { body commenter { name } } }"],
    "mixed-all" => ["One opaque field on each object, 50 posts", "the narrow tree; each type has a method that asks the context",
                    "{ title label author { name label } comments { body label commenter { name label } } }"] }
    .each do |name, (title, about, selections)|
      Workload.define name, title, about: about, dataset: :mixed,
                                   query: "query Mixed($limit: Int!) { posts(limit: $limit) #{selections} }",
                                   variables: { limit: 50 }, includes: { posts: [:author, { comments: :commenter }] }
    end
end

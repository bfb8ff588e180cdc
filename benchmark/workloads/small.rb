# frozen_string_literal: true

require_relative "../datasets/small"

# Requests for one record, of one to three rows of several kinds: most of what an application answers.
module Bench
  columns = Datasets::Small::COLUMNS.join(" ")
  { "record" => ["One record", "one post by its id: its author, three comments, a count, exists?, and a find after a check",
                 "{ post(id: 11) { title author { name } latest { body commenter { name } } " \
                 "commentCount discussed moderator { name } } }"],
    "viewer" => ["The current user", "two counts and a Hash of settings",
                 "{ viewer { name settings { theme locale } commentCount issueCount } }"],
    "mutation" => ["A mutation", "an UPDATE in a transaction, then two levels of its payload",
                   "mutation { rename(id: 11, title: \"new\") { title author { name } comments { body commenter { name } } } }"],
    "sequential" => ["Seven reads in a row", "a service object that reads by what it has read before",
                     "{ post(id: 11) { title report } }"],
    "columns" => ["Columns of one table", "20 rows, 10 columns", "{ broads(limit: 20) { #{columns} } }"] }
    .each { |name, (title, about, query)| Workload.define name, title, about: about, dataset: :small, query: query }
end

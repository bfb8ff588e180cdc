# frozen_string_literal: true

require_relative "schema"

# The same types, and one line more.
class PipedSchema < GraphQL::Schema
  query Types::Query
  use Pipeloader, rest: false # what it does is to be seen, also where it would be faster without
end

class ExactSchema < GraphQL::Schema
  query Types::Query
  use Pipeloader, field_exact: true, rest: false
end

# What the latter leaves out, it reads. (A subtree that is compiled needs no more columns than it shows, either.)
class WholeSchema < GraphQL::Schema
  query Types::Query
  use Pipeloader, compile: false, rest: false
end

# frozen_string_literal: true

require_relative "schema"

# The same types, and one line more.
class PipedSchema < GraphQL::Schema
  query Types::Query
  use Pipeloader
end

class ExactSchema < GraphQL::Schema
  query Types::Query
  use Pipeloader, field_exact: true
end

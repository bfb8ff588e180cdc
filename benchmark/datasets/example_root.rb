# frozen_string_literal: true

require_relative "../../example/schema"

module Bench
  module Datasets
    # The root of the example's schema, whose posts are of another type.
    module ExampleRoot
      # @param post [Class] object type
      # @return [Class] a Query type
      def self.of(post)
        Class.new(::Example::Types::Query) do
          graphql_name "Query"
          field :posts, [post], null: false do
            argument :limit, Integer, required: true
          end
        end
      end
    end
  end
end

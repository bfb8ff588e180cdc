# frozen_string_literal: true

module Bench
  module Datasets
    # No tables: nothing to seed, and no models.
    class InMemory < Dataset
      def seed(_connection) = nil
      def model(_type) = nil

      def define
        require "active_record"
        require "graphql"
        require "graphql/schema" # before GraphQL::Schema::Object
        require_relative "#{name}/schema"
      end
    end
  end
end

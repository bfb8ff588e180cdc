# frozen_string_literal: true

require_relative "in_memory"

module Bench
  module Datasets
    # No tables: the server is asked to sleep.
    class Sleeps < InMemory
      def types = { "Query" => ::Sleeps::Query }
    end
  end
end

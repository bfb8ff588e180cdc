# frozen_string_literal: true

require_relative "in_memory"

module Bench
  module Datasets
    # 20 articles with 50 related ones each, held in memory.
    class Articles < InMemory
      def types = { "Query" => ::Articles::Query, "Article" => ::Articles::Article }
    end
  end
end

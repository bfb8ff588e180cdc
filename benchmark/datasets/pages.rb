# frozen_string_literal: true

require_relative "example"

module Bench
  module Datasets
    # The example's tables, by Relay connections.
    class Pages < Example
      def namespace = "bench_example"

      def define
        super
        require_relative "pages/schema"
      end

      def types_module = ::Pages::Types

      # As somebody would write it who batches by hand: graphql-ruby cuts a page from what is loaded.
      def batches = { ["Post", :comments] => ->(posts) { comments(posts) } }

      private

      def comments(posts)
        ActiveRecord::Associations::Preloader.new(records: posts, associations: :comments).call
        posts.map(&:comments)
      end
    end
  end
end

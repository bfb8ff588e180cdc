# frozen_string_literal: true

require_relative "example"

module Bench
  module Datasets
    # The example's tables, as requests for one record ask for them, and one table with ten columns.
    class Small < Example
      def define
        super
        require_relative "small/schema"
      end

      def types_module = ::Small::Types
      def model(type) = (::Example.const_get(type.graphql_name) if ::Example.const_defined?(type.graphql_name, false))

      def batches
        { ["Post", :comment_count] => ->(posts) { comments(posts).count.values_at(*posts.map(&:id)).map(&:to_i) },
          ["Post",
           :discussed] => ->(posts) {
                            comments(posts).where("commenter_id > 250").count.values_at(*posts.map(&:id)).map { |it|
                              !it.nil?
                            }
                          },
          ["User", :comment_count] => ->(users) { count(::Example::Comment, :commenter_id, users) },
          ["User", :issue_count] => ->(users) { count(::Example::Issue, :creator_id, users) } }
      end

      def seed(connection)
        super
        connection.create_table("example_broads", force: true) { |t| 10.times { |column| t.string("column#{column}") } }
        values = Array.new(20) { |row| "(#{Array.new(10) { |column| "'row #{row}, column #{column}'" }.join(", ")})" }
        connection.execute("INSERT INTO example_broads (#{Array.new(10) { |it|
          "column#{it}"
        }.join(", ")}) VALUES #{values.join(", ")}")
        connection.execute("ANALYZE example_broads")
      end

      private

      def comments(posts) = ::Example::Comment.where(post_id: posts.map(&:id)).group(:post_id)

      def count(model, key, owners)
        model.where(key => owners.map(&:id)).group(key).count.values_at(*owners.map(&:id)).map(&:to_i)
      end
    end
  end
end
